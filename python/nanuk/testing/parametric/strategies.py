"""The strategies: values of a dtype, columns of values, tables of columns."""

from __future__ import annotations

import datetime as dt
import decimal

from hypothesis import strategies as st

from nanuk import datatypes as t
from nanuk.dataframe import DataFrame
from nanuk.series import Series

_INTEGERS = {
    t.Int8: (-(2**7), 2**7 - 1), t.Int16: (-(2**15), 2**15 - 1), t.Int32: (-(2**31), 2**31 - 1),
    t.Int64: (-(2**63), 2**63 - 1), t.Int128: (-(2**127), 2**127 - 1), t.UInt8: (0, 2**8 - 1),
    t.UInt16: (0, 2**16 - 1), t.UInt32: (0, 2**32 - 1), t.UInt64: (0, 2**64 - 1),
}  # fmt: skip
_PLAIN = (
    t.Boolean, *_INTEGERS, t.Float32, t.Float64, t.String, t.Binary, t.Date, t.Time, t.Null,
)  # fmt: skip
_UNITS = ("ms", "us", "ns")


def _belongs(dtype, group) -> bool:
    return any(dtype == member for member in group)


@st.composite
def dtypes(draw, *, allowed_dtypes=None, excluded_dtypes=None, allow_time_zones: bool = True, nesting_level: int = 3):
    """Dtypes: among those allowed, which may be classes, and none of those excluded."""
    allowed = None if allowed_dtypes is None else _several(allowed_dtypes)
    excluded = _several(excluded_dtypes or ())
    options = [dtype() for dtype in _PLAIN]
    options += [t.Datetime(unit) for unit in _UNITS] + [t.Duration(unit) for unit in _UNITS]
    if allow_time_zones:
        options += [t.Datetime(unit, "Europe/Amsterdam") for unit in _UNITS]
    options += [t.Decimal(38, 2), t.Decimal(10, 0)]
    options = [o for o in options if (allowed is None or _belongs(o, allowed)) and not _belongs(o, excluded)]
    nests = nesting_level > 0
    kinds = ["plain"] * 4 if options else []
    kinds += ["list"] if nests and (allowed is None or t.List in allowed) and t.List not in excluded else []
    kinds += ["struct"] if nests and (allowed is None or t.Struct in allowed) and t.Struct not in excluded else []
    if allowed is not None:
        full = [dtype for dtype in allowed if isinstance(dtype, t.DataType) and dtype.is_nested()]
        if full and (not kinds or draw(st.booleans())):
            return draw(st.sampled_from(full))
    kind = draw(st.sampled_from(kinds))
    if kind == "plain":
        return draw(st.sampled_from(options))
    inner = dtypes(
        allowed_dtypes=allowed_dtypes if options else None, excluded_dtypes=excluded, allow_time_zones=allow_time_zones,
        nesting_level=nesting_level - 1,
    )  # fmt: skip
    if kind == "list":
        return t.List(draw(inner))
    return t.Struct({f"f{i}": draw(inner) for i in range(draw(st.integers(1, 3)))})


def _several(items) -> list:
    return [*items] if isinstance(items, (list, tuple, set, frozenset)) else [items]


def _values(dtype):
    """A strategy for one value of a dtype."""
    base = type(dtype)
    if base in _INTEGERS:
        return st.integers(*_INTEGERS[base])
    if base in (t.Float32, t.Float64):
        return st.floats(width=32 if base is t.Float32 else 64)
    if base is t.Boolean:
        return st.booleans()
    if base is t.String:
        return st.text(st.characters(max_codepoint=1000, exclude_categories=("Cs", "Cc")), max_size=8)
    if base is t.Binary:
        return st.binary(max_size=8)
    if base is t.Date:
        return st.dates()
    if base is t.Time:
        return st.times()
    if base is t.Datetime:
        naive = st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1))
        if dtype.time_unit == "ms":
            naive = naive.map(lambda value: value.replace(microsecond=value.microsecond // 1000 * 1000))
        if dtype.time_zone is None:
            return naive
        from zoneinfo import ZoneInfo

        zone = ZoneInfo(dtype.time_zone)
        return naive.map(lambda value: value.replace(tzinfo=dt.timezone.utc).astimezone(zone))
    if base is t.Duration:
        span = st.timedeltas(dt.timedelta(days=-365), dt.timedelta(days=365))
        if dtype.time_unit == "ms":
            span = span.map(lambda value: value - dt.timedelta(microseconds=value.microseconds % 1000))
        return span
    if base is t.Decimal:
        most = 10 ** min(dtype.precision or 38, 18) - 1
        return st.integers(-most, most).map(lambda value: decimal.Decimal(value).scaleb(-dtype.scale))
    if base is t.List:
        return lists(dtype.inner)
    if base is t.Struct:
        return st.fixed_dictionaries({field.name: _values(field.dtype) for field in dtype.fields})
    return st.none()


def lists(
    inner_dtype, *, select_from=None, min_size: int = 0, max_size: int | None = None, unique: bool = False, **kwargs
):
    """Lists of values of a dtype, or of values to choose from."""
    values = _values(_made(inner_dtype)) if select_from is None else st.sampled_from(list(select_from))
    most = max_size if max_size is not None else max(min_size, 3)
    return st.lists(values, min_size=min_size, max_size=most, unique=unique)


def _made(dtype):
    return dtype() if isinstance(dtype, t.DataTypeClass) else dtype


@st.composite
def series(
    draw, *, name=None, dtype=None, min_size: int = 0, max_size: int = 5, strategy=None, allow_null: bool = True,
    allow_chunks: bool = True, allow_masked_out: bool = True, unique: bool = False, allowed_dtypes=None,
    excluded_dtypes=None, allow_time_zones: bool = True, **kwargs,
):  # fmt: skip
    """Columns of a dtype, or of one at random; values of a strategy, or any; some null, in several chunks."""
    name = "" if name is None else name if isinstance(name, str) else draw(name)
    if dtype is None:
        dtype = draw(
            dtypes(allowed_dtypes=allowed_dtypes, excluded_dtypes=excluded_dtypes, allow_time_zones=allow_time_zones)
        )
    dtype = _made(dtype)
    values = _values(dtype) if strategy is None else strategy
    if allow_null and not unique:
        values = st.one_of(values, st.none())
    made = draw(st.lists(values, min_size=min_size, max_size=max_size, unique_by=repr if unique else None))
    result = Series(name, made, dtype, strict=False)
    if allow_chunks and len(made) > 1 and draw(st.booleans()):
        at = draw(st.integers(1, len(made) - 1))
        result = result.slice(0, at).append(result.slice(at))
    return result


class column:
    """How a column of a table looks, for `dataframes`."""

    def __init__(self, name: str | None = None, dtype=None, strategy=None, allow_null: bool | None = None,
                 unique: bool = False) -> None:  # fmt: skip
        self.name = name
        self.dtype = None if dtype is None else _made(dtype)
        self.strategy = strategy
        self.allow_null = allow_null
        self.unique = unique


@st.composite
def dataframes(
    draw, cols=None, *, lazy: bool = False, min_cols: int = 1, max_cols: int = 5, min_size: int = 0, max_size: int = 5,
    include_cols=None, allow_null=True, allow_chunks: bool = True, allow_masked_out: bool = True, allowed_dtypes=None,
    excluded_dtypes=None, allow_time_zones: bool = True, **kwargs,
):  # fmt: skip
    """Tables, or queries with `lazy`: of so many columns, or of those described by `column` objects."""
    if isinstance(cols, int):
        described = [column() for _ in range(cols)]
    elif cols is None:
        described = [column() for _ in range(draw(st.integers(min_cols, max_cols)))]
    else:
        described = [cols] if isinstance(cols, column) else list(cols)
    described += [] if include_cols is None else _several(include_cols)
    height = draw(st.integers(min_size, max_size))
    made = []
    for i, one in enumerate(described):
        name = one.name or f"col{i}"
        nulls = one.allow_null
        if nulls is None:
            nulls = allow_null.get(name, True) if isinstance(allow_null, dict) else name in allow_null if isinstance(
                allow_null, (list, tuple, set)
            ) else allow_null  # fmt: skip
        made.append(
            draw(
                series(
                    name=name,
                    dtype=one.dtype,
                    strategy=one.strategy,
                    min_size=height,
                    max_size=height,
                    allow_null=nulls,
                    allow_chunks=allow_chunks,
                    unique=one.unique,
                    allowed_dtypes=allowed_dtypes,
                    excluded_dtypes=excluded_dtypes,
                    allow_time_zones=allow_time_zones,
                )  # fmt: skip
            )
        )
    frame = DataFrame(made, height=height)
    return frame.lazy() if lazy else frame

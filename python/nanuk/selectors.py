"""Selectors choose columns by name, dtype or position. They combine as sets among themselves with `|`, `&`, `-`, `^`
and
`~`; beside anything else they are ordinary expressions."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.datatypes import DataType, DataTypeClass, parse_into_dtype
from nanuk.expr import Expr
from nanuk.parse import flatten

_list, _all = list, all


class Selector(Expr):
    """A choice of columns, made by the functions of this module."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(self._serialise())

    @classmethod
    def _of(cls, expr: _nanuk.Expr) -> Selector:
        selector = cls.__new__(cls)
        selector._set(expr)
        return selector

    def _combine(self, how: str, other):
        return Selector._of(_nanuk.combine(how, self, other))

    def __or__(self, other):
        return self._combine("union", other) if isinstance(other, Selector) else self.as_expr().__or__(other)

    def __and__(self, other):
        return self._combine("intersect", other) if isinstance(other, Selector) else self.as_expr().__and__(other)

    def __sub__(self, other):
        return self._combine("except", other) if isinstance(other, Selector) else self.as_expr().__sub__(other)

    def __xor__(self, other):
        return self._combine("xor", other) if isinstance(other, Selector) else self.as_expr().__xor__(other)

    def __add__(self, other):
        if isinstance(other, Selector):
            raise TypeError("unsupported operand type(s) for op: ('Selector' + 'Selector')")
        return self.as_expr().__add__(other)

    def __ror__(self, other):
        return self.as_expr().__ror__(other)

    def __rand__(self, other):
        return self.as_expr().__rand__(other)

    def __rxor__(self, other):
        return self.as_expr().__rxor__(other)

    def __rsub__(self, other):
        if isinstance(other, Selector):
            raise TypeError("unsupported operand type(s) for op: ('Expr' - 'Selector')")
        return self.as_expr().__rsub__(other)

    def __radd__(self, other):
        return self.as_expr().__radd__(other)

    def __invert__(self):
        """All other columns."""
        return all()._combine("except", self)

    def exclude(self, columns, *more_columns) -> Selector:
        """The choice without some columns, given by name, dtype or selector."""
        return self._combine("except", of_columns(flatten(columns, more_columns), strict=False))

    def as_expr(self) -> Expr:
        """The choice as an ordinary expression."""
        expr = Expr.__new__(Expr)
        expr._set(self)
        return expr


def _make(kind: str, names: tuple = (), strict: bool = False) -> Selector:
    return Selector._of(_nanuk.selector(kind, names, strict))


def _texts(values: tuple, what: str) -> tuple:
    texts = tuple(flatten(values[0], values[1:])) if values else ()
    for text in texts:
        if not isinstance(text, str):
            msg = f"expected one or more `str` as {what}; found {text!r} instead."
            raise TypeError(msg)
    return texts


def is_selector(obj) -> bool:
    """Whether an object is a selector."""
    return isinstance(obj, Selector)


_CLASSES = {
    "Datetime": "datetime", "Duration": "duration", "Decimal": "decimal", "List": "list", "Struct": "struct",
    "NumericType": "numeric", "IntegerType": "integer", "SignedIntegerType": "signed_integer",
    "UnsignedIntegerType": "unsigned_integer", "FloatType": "float", "TemporalType": "temporal",
    "NestedType": "nested", "Categorical": "categorical", "Enum": "enum",
}  # fmt: skip
_PYTHON_CLASSES = {int: "integer", float: "float"}


def _of_dtypes(dtypes) -> Selector:
    texts, classes = [], []
    for dtype in dtypes:
        if dtype in _PYTHON_CLASSES:
            classes.append(_PYTHON_CLASSES[dtype])
            continue
        dtype = parse_into_dtype(dtype)
        if isinstance(dtype, DataTypeClass) and dtype.__name__ in _CLASSES:
            classes.append(_CLASSES[dtype.__name__])
        elif dtype._text in ("UInt128", "Float16", "Object", "Unknown", "Array"):
            continue  # no column has one
        else:
            texts.append(dtype._text)
    chosen = _make("dtypes", tuple(texts)) if texts or not classes else None
    if classes:
        by_class = _make("classes", tuple(classes))
        chosen = chosen._combine("union", by_class) if chosen is not None else by_class
    return chosen


def of_columns(columns, *, strict: bool = True) -> Selector:
    """Columns by name, dtype or selector, as one selector.

    Raises TypeError for anything else.
    """
    names, dtypes, chosen = [], [], []
    for column in columns:
        if isinstance(column, str):
            names.append(column)
        elif isinstance(column, (DataType, DataTypeClass, type)):
            dtypes.append(column)
        elif isinstance(column, _nanuk.Expr) and column._is_selector():
            chosen.append(column)
        else:
            msg = f"invalid input for `exclude`\n\nExpected one or more `str` or `DataType`; found {column!r} instead."
            raise TypeError(msg)
    plain = [name for name in names if not (name.startswith("^") and name.endswith("$"))]
    chosen += [_nanuk.selector("matches", (name,), False) for name in names if name not in plain]
    if plain or not (chosen or dtypes):
        chosen.insert(0, _make("names", tuple(plain), strict))
    if dtypes:
        chosen.append(_of_dtypes(dtypes))
    result = chosen[0]
    for more in chosen[1:]:
        result = _nanuk.combine("union", result, more)
    return Selector._of(result)


# ---- By position and name ----


def all() -> Selector:
    """All columns."""
    return _make("all")


def empty() -> Selector:
    """No column."""
    return _make("names")


def first(*, strict: bool = True) -> Selector:
    """The first column."""
    return Selector._of(_nanuk.positions((0,)))


def last(*, strict: bool = True) -> Selector:
    """The last column."""
    return Selector._of(_nanuk.positions((-1,)))


def by_index(*indices, require_all: bool = True) -> Selector:
    """Columns by position; negative ones count from the end. Takes ranges and lists too."""
    positions = []
    for index in indices:
        positions += [index] if isinstance(index, int) else _list(index)
    return Selector._of(_nanuk.positions(tuple(positions)))


def by_name(*names, require_all: bool = True) -> Selector:
    """Columns by name; each must exist unless `require_all` is False."""
    return _make("names", _texts(names, "names"), require_all)


def starts_with(*prefix) -> Selector:
    """Columns whose names start with one of the texts."""
    return _make("starts_with", _texts(prefix, "prefixes"))


def ends_with(*suffix) -> Selector:
    """Columns whose names end with one of the texts."""
    return _make("ends_with", _texts(suffix, "suffixes"))


def contains(*substring) -> Selector:
    """Columns whose names contain one of the texts."""
    return _make("contains", _texts(substring, "substrings"))


def matches(pattern: str) -> Selector:
    """Columns whose names match a regular expression.

    Raises ComputeError for a pattern that is none, when it is used.
    """
    if pattern == ".*":
        return all()
    return _make("matches", (pattern,))


def alpha(*, ascii_only: bool = False, ignore_spaces: bool = True) -> Selector:
    """Columns whose names are of letters only."""
    return _of_characters("a-zA-Z" if ascii_only else r"\p{Alphabetic}", ignore_spaces)


def digit(*, ascii_only: bool = False) -> Selector:
    """Columns whose names are of digits only."""
    return _of_characters("0-9" if ascii_only else r"\d", False)


def alphanumeric(*, ascii_only: bool = False, ignore_spaces: bool = True) -> Selector:
    """Columns whose names are of letters and digits only."""
    return _of_characters("a-zA-Z0-9" if ascii_only else r"\p{Alphabetic}\d", ignore_spaces)


def _of_characters(characters: str, ignore_spaces: bool) -> Selector:
    return _make("matches", (f"^[{characters}{' ' if ignore_spaces else ''}]+$",))


def exclude(columns, *more_columns) -> Selector:
    """All columns without some, given by name, dtype or selector."""
    return ~of_columns(flatten(columns, more_columns), strict=False)


def expand_selector(target, selector, *, strict: bool = True) -> tuple[str, ...]:
    """The names of the columns that a selector chooses from a table or schema.

    Raises TypeError for an expression that is no selector, with `strict`.
    """
    if strict and not (
        isinstance(selector, Selector) or (isinstance(selector, _nanuk.Expr) and selector._is_selector())
    ):
        msg = f"expected a selector; found {selector!r} instead."
        raise TypeError(msg)
    if isinstance(target, dict):
        from nanuk.dataframe import DataFrame

        target = DataFrame(schema=target)
    return tuple(target.select(selector).collect_schema())


# ---- By dtype ----


def by_dtype(*dtypes) -> Selector:
    """Columns by dtype; a class without parameters stands for all of its dtypes, `int` for all integers."""
    return _of_dtypes(flatten(dtypes[0], dtypes[1:]) if dtypes else ())


def _class(kind: str, doc: str):
    def function() -> Selector:
        return _make("classes", (kind,))

    function.__name__ = function.__qualname__ = kind
    function.__doc__ = doc
    return function


binary = _class("binary", "Binary columns.")
boolean = _class("boolean", "Boolean columns.")
date = _class("date", "Date columns.")
decimal = _class("decimal", "Decimal columns.")
float = _class("float", "Float columns.")
integer = _class("integer", "Integer columns.")
signed_integer = _class("signed_integer", "Columns of signed integers.")
unsigned_integer = _class("unsigned_integer", "Columns of unsigned integers.")
numeric = _class("numeric", "Columns of numbers, Decimals included.")
temporal = _class("temporal", "Columns of dates, times and durations.")
time = _class("time", "Time columns.")
nested = _class("nested", "List and Struct columns.")
struct = _class("struct", "Struct columns.")


def categorical() -> Selector:
    """Categorical columns."""
    return _make("classes", ("categorical",))


def enum() -> Selector:
    """Enum columns."""
    return _make("classes", ("enum",))


def object() -> Selector:
    """Columns of Python objects: there are none."""
    return empty()


def array(inner=None, *, width: int | None = None) -> Selector:
    """Array columns: there are none yet."""
    return empty()


def map() -> Selector:
    """Map columns: there are none yet."""
    return empty()


def string(*, include_categorical: bool = False) -> Selector:
    """String columns, with Categoricals if wanted."""
    return _make("classes", ("string", "categorical") if include_categorical else ("string",))


def list(inner=None) -> Selector:
    """List columns, all or those of an inner dtype."""
    if inner is None:
        return _make("classes", ("list",))
    from nanuk.datatypes import List

    return _of_dtypes((List(inner),))


def duration(time_unit=None) -> Selector:
    """Duration columns, all or those of certain units."""
    if time_unit is None:
        return _make("classes", ("duration",))
    return _make("dtypes", tuple(f"Duration({unit})" for unit in flatten(time_unit)))


def datetime(time_unit=None, time_zone=("*", None)) -> Selector:
    """Datetime columns of certain units and time zones; "*" is any zone, None is none.

    Raises ValueError for a choice of units with any zone but not without one.
    """
    units = ("ms", "us", "ns") if time_unit is None else tuple(flatten(time_unit))
    zones = flatten(time_zone)
    naive = _make("dtypes", tuple(f"Datetime({unit})" for unit in ("ms", "us", "ns")))
    if "*" in zones:
        if time_unit is not None:
            raise ValueError("a choice of units with any time zone is not supported")
        everything = _make("classes", ("datetime",))
        return everything if None in zones else everything._combine("except", naive)
    texts = [f"Datetime({unit})" if zone is None else f"Datetime({unit}, {zone})" for unit in units for zone in zones]
    return _make("dtypes", tuple(texts))

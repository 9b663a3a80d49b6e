"""Series: a named column. What must be quick is in the extension module; the rest goes through expressions."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.exceptions import Removed
from nanuk.not_yet import add_methods
from nanuk.parse import dtype_text, is_several


class Series(_nanuk.Series):
    """A named column of values of one dtype.

    values: a list or other iterable, a Series, an array, or an object with Arrow capsules. The dtype is that of the
    first value unless given. With `strict` a value of another type raises TypeError; otherwise the widest type is
    taken, or, with a dtype, what does not fit becomes null. `nan_to_null` turns NaN of arrays into null.
    """

    __slots__ = ()
    __hash__ = None

    def __init__(self, name=None, values=None, dtype=None, *, strict: bool = True, nan_to_null: bool = False) -> None:
        from nanuk.convert import series_of

        if name is not None and values is None and not isinstance(name, str):
            name, values = "" if not isinstance(name, _nanuk.Series) else name.name, name
        if name is not None and not isinstance(name, str):
            raise TypeError("Series name must be a string")
        self._set(series_of(name, values, dtype, strict=strict, nan_to_null=nan_to_null))

    # ---- Python's protocols ----

    def __repr__(self) -> str:
        from nanuk.config import format_options

        return self._to_text(format_options())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()

    def __iter__(self):
        if self._dtype_text.startswith(("List", "Array")):
            return (None if value is None else self._list_at(row) for row, value in enumerate(self.to_list()))
        return iter(self.to_list())

    def _list_at(self, row: int) -> Series:
        """The items of one list."""
        return _evaluate(_nanuk.lit(self).slice(row, 1)._call("explode"))._rename("")

    def __contains__(self, item) -> bool:
        if item is None:
            return self.null_count() > 0
        return bool((self == item).any())

    def __reversed__(self):
        return reversed(self.to_list())

    def __copy__(self) -> Series:
        return self.clone()

    def __deepcopy__(self, memo=None) -> Series:
        return self.clone()

    def __reduce__(self):
        return (_restore, (self.to_frame().serialize(),))

    def __getstate__(self) -> bytes:
        return self.to_frame().serialize()

    def __setstate__(self, state: bytes) -> None:
        self._set(_restore(state))

    def clone(self) -> Series:
        """A copy, which shares the values."""
        copy = Series.__new__(Series)
        copy._set(self)
        return copy

    def __array__(self, dtype=None, copy=None):
        array = self.to_numpy()
        return array if dtype is None else array.astype(dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or kwargs.get("out") is not None:
            msg = f"only `__call__` is implemented for numpy ufuncs on a Series, got {method!r}"
            raise NotImplementedError(msg)
        arrays = [value.to_numpy() if isinstance(value, Series) else value for value in inputs]
        result = ufunc(*arrays, **kwargs)
        if not hasattr(result, "shape") or result.shape == ():
            return result
        return Series(self.name, result)

    def __matmul__(self, other):
        return self.dot(other)

    def __setitem__(self, key, value) -> None:
        if isinstance(key, int) and not isinstance(key, bool):
            keys = [key]
        elif isinstance(key, Series) and key._dtype_text == "Boolean":
            keys = [i for i, chosen in enumerate(key.to_list()) if chosen]
        elif isinstance(key, (Series, list, tuple, range)):
            keys = list(key)
        elif isinstance(key, slice):
            keys = list(range(*key.indices(len(self))))
        else:
            msg = f'cannot use "{key!r}" for indexing'
            raise TypeError(msg)
        values = list(value) if is_several(value) or isinstance(value, Series) else [value] * len(keys)
        items = self.to_list()
        for position, item in zip(keys, values):
            if position is None:
                from nanuk.exceptions import ComputeError

                raise ComputeError("index values should not be null")
            items[position] = item
        self._set(_nanuk.series_from_list(self.name, items, self._dtype_text, True))

    # ---- Beside other values; called by operators of the extension module ----

    def _beside(self, other, function: str):
        """Another operand as a Series, or NotImplemented."""
        if isinstance(other, _nanuk.Series):
            return other
        if other is None:
            if function in ("eq", "ne", "lt", "le", "gt", "ge"):
                import warnings

                warnings.warn(
                    f"Comparisons with None always result in null. Consider using `.is_null()` or `.is_not_null()`, or "
                    f"`.{'eq' if function == 'eq' else 'ne'}_missing()`.",
                    UserWarning,
                    stacklevel=2,
                )
                msg = f"cannot compare a Series of type {self.dtype!r} with None"
                raise TypeError(msg)
            return _nanuk.series_from_list("", [None], "Null", True)
        if isinstance(other, (int, float)) and not isinstance(other, bool):
            dtype = self.dtype
            is_comparison = function in ("eq", "ne", "lt", "le", "gt", "ge")
            if not is_comparison and not dtype.is_numeric() and dtype._text[:8] not in ("Duration", "Boolean", "Null"):
                msg = f"cannot do arithmetic with Series of dtype: {dtype!r} and argument of type: {type(other).__name__!r}"
                raise TypeError(msg)
            return _nanuk.series_from_list(self.name, [other], None, True)
        if isinstance(other, str) and function not in ("eq", "ne", "lt", "le", "gt", "ge", "add"):
            return NotImplemented
        if is_several(other) or hasattr(other, "__array_interface__"):
            return Series(self.name, other)
        try:
            return _nanuk.series_constant(self.name, other, 1)
        except TypeError:
            return NotImplemented

    def eq(self, other):
        """`self == other`."""
        return self == other

    def ne(self, other):
        """`self != other`."""
        return self != other

    def lt(self, other):
        """`self < other`."""
        return self < other

    def le(self, other):
        """`self <= other`."""
        return self <= other

    def gt(self, other):
        """`self > other`."""
        return self > other

    def ge(self, other):
        """`self >= other`."""
        return self >= other

    def pow(self, exponent):
        """`self ** exponent`."""
        return self**exponent

    def eq_missing(self, other):
        """Equality where null equals null."""
        if isinstance(other, _nanuk.Series):
            return self._call("eq_missing", other)
        if isinstance(other, _nanuk.Expr):
            return _nanuk.lit(self)._call("eq_missing", other)
        return _evaluate(_nanuk.lit(self)._call("eq_missing", _nanuk.lit(other)))

    def ne_missing(self, other):
        """Inequality where null equals null."""
        if isinstance(other, _nanuk.Series):
            return self._call("ne_missing", other)
        if isinstance(other, _nanuk.Expr):
            return _nanuk.lit(self)._call("ne_missing", other)
        return _evaluate(_nanuk.lit(self)._call("ne_missing", _nanuk.lit(other)))

    # ---- Names and properties ----

    @property
    def flags(self) -> dict[str, bool]:
        """What is known of the order of values."""
        direction = self._sorted()
        return {"SORTED_ASC": direction > 0 or len(self) <= 1, "SORTED_DESC": direction < 0 and len(self) > 1}

    def alias(self, name: str) -> Series:
        """The column under another name."""
        return self._rename(name)

    def rename(self, name: str) -> Series:
        """The column under another name."""
        return self._rename(name)

    def is_empty(self, *, ignore_nulls: bool = False) -> bool:
        """Whether there are no values; nulls do not count with `ignore_nulls`."""
        return (self.count() if ignore_nulls else len(self)) == 0

    def has_nulls(self) -> bool:
        """Whether any value is null."""
        return self.null_count() > 0

    def chunk_lengths(self) -> list[int]:
        """How many values each chunk has."""
        return [length for _, _, _, length in self._buffers()] if self.n_chunks() > 1 else [len(self)]

    def estimated_size(self, unit: str = "b") -> float:
        """About how many bytes the values take: in "b", "kb", "mb", "gb" or "tb"."""
        return self.to_frame().estimated_size(unit)

    # ---- Aggregations that take options ----

    def std(self, ddof: int = 1):
        """Standard deviation with divisor n - ddof; None when that is not positive."""
        return self._value("std", ddof=ddof)

    def var(self, ddof: int = 1):
        """Variance with divisor n - ddof; None when that is not positive."""
        return self._value("var", ddof=ddof)

    def any(self, *, ignore_nulls: bool = True):
        """Whether any value is true; Kleene logic when nulls are not ignored."""
        return self._value("any", ignore_nulls=ignore_nulls)

    def all(self, *, ignore_nulls: bool = True):
        """Whether all values are true; Kleene logic when nulls are not ignored."""
        return self._value("all", ignore_nulls=ignore_nulls)

    def nan_min(self):
        """Smallest value; NaN when there is one."""
        return self._value("nan_min")

    def nan_max(self):
        """Largest value; NaN when there is one."""
        return self._value("nan_max")

    def first(self, *, ignore_nulls: bool = False):
        """The first value, None when there is none."""
        values = self.drop_nulls() if ignore_nulls else self
        return values.slice(0, 1).to_list()[0] if len(values) else None

    def last(self, *, ignore_nulls: bool = False):
        """The last value, None when there is none."""
        values = self.drop_nulls() if ignore_nulls else self
        return values.slice(-1).to_list()[0] if len(values) else None

    def quantile(self, quantile, interpolation: str = "nearest"):
        """A quantile."""
        return _evaluate(_nanuk.lit(self).quantile(quantile, interpolation)).item()

    def dot(self, other):
        """Sum of the products with another column."""
        other = other if isinstance(other, Series) else Series(other)
        if len(self) != len(other):
            from nanuk.exceptions import ShapeError

            msg = f"Series length mismatch: expected {len(self)!r}, found {len(other)!r}"
            raise ShapeError(msg)
        return (self * other).sum()

    # ---- Values ----

    def cast(self, dtype, *, strict: bool = True, wrap_numerical: bool = False) -> Series:
        """Another dtype; see Expr.cast."""
        return self._call("cast", dtype=_Text(dtype), strict=strict, wrap_numerical=wrap_numerical)

    def is_in(self, other, *, nulls_equal: bool = False) -> Series:
        """Whether values are among others; see Expr.is_in."""
        return _evaluate(_nanuk.lit(self).is_in(other, nulls_equal=nulls_equal))

    def is_between(self, lower_bound, upper_bound, closed: str = "both") -> Series:
        """Whether values lie between two bounds; see Expr.is_between."""
        bounds = [_nanuk.lit(bound) for bound in (lower_bound, upper_bound)]
        return _evaluate(_nanuk.lit(self).is_between(*bounds, closed))

    def fill_null(self, value=None, strategy: str | None = None, limit: int | None = None) -> Series:
        """A value, or by a strategy another of the column, in place of nulls; see Expr.fill_null."""
        return _evaluate(_nanuk.lit(self).fill_null(value, strategy, limit))

    def fill_nan(self, value) -> Series:
        """A value in place of NaN; None makes it null."""
        return _evaluate(_nanuk.lit(self).fill_nan(value))

    def zip_with(self, mask: Series, other: Series) -> Series:
        """Values where a mask is true, those of another column elsewhere."""
        return _evaluate(_nanuk.call("when", mask, self, other))._rename(self.name)

    def equals(self, other: Series, *, check_dtypes: bool = False, check_names: bool = False,
               null_equal: bool = True) -> bool:  # fmt: skip
        """Whether both columns have the same values."""
        if not isinstance(other, _nanuk.Series):
            msg = f"expected `other` to be a Series, not {type(other).__name__!r}"
            raise TypeError(msg)
        if len(self) != len(other) or (check_names and self.name != other.name):
            return False
        if check_dtypes and self._dtype_text != other._dtype_text:
            return False
        if not null_equal and (self.null_count() or other.null_count()):
            return False
        if len(self) == 0:
            return True
        try:
            return bool(self._call("eq_missing", other)._value("all"))
        except Exception:
            return self.to_list() == other.to_list() if self._dtype_text == other._dtype_text else False

    # ---- Rows ----

    def slice(self, offset: int, length: int | None = None) -> Series:
        """Values from an offset, which counts from the end when negative; all of them without a length."""
        return self._slice(offset, len(self) if length is None else length)

    def head(self, n: int = 10) -> Series:
        """The first n values; all but the last -n when n is negative."""
        return self._slice(0, max(0, len(self) + n) if n < 0 else n)

    def tail(self, n: int = 10) -> Series:
        """The last n values; all but the first -n when n is negative."""
        n = max(0, len(self) + n) if n < 0 else min(n, len(self))
        return self._slice(len(self) - n, n)

    def limit(self, n: int = 10) -> Series:
        """The first n values."""
        return self.head(n)

    def _subscript(self, key):
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._slice(start, max(0, stop - start))
            return self._take(list(range(start, stop, step)))
        from nanuk.subscript import rows_of

        if hasattr(key, "__index__") and not isinstance(key, bool) and getattr(key, "shape", None) is None:
            return self[key.__index__()]
        return self._take(rows_of(key, "elements"))

    def _take(self, rows: list) -> Series:
        return self.to_frame()._take(rows)._column(0)

    def filter(self, predicate) -> Series:
        """Values where a mask is true."""
        if not isinstance(predicate, _nanuk.Series):
            predicate = Series("", list(predicate))
        return self.to_frame()._plan()._filter([predicate])._collect()._column(0)

    def sort(self, *, descending: bool = False, nulls_last: bool = False, multithreaded: bool = True,
             in_place: bool = False) -> Series:  # fmt: skip
        """Values in order; nulls come first unless `nulls_last`."""
        plan = self.to_frame()._plan()._sort([_nanuk.positions((0,))], descending, nulls_last, False)
        result = plan._collect()._column(0)._set_sorted(-1 if descending else 1)
        if in_place:
            self._set(result)
            return self
        return result

    def unique(self, *, maintain_order: bool = False) -> Series:
        """Each different value once."""
        return self.to_frame()._plan()._unique([], "any", maintain_order)._collect()._column(0)

    def drop_nulls(self) -> Series:
        """The values that are not null."""
        return self.filter(self._call("is_not_null")) if self.null_count() else self

    def drop_nans(self) -> Series:
        """The values that are not NaN."""
        return self.filter(self._call("is_not_nan").fill_null(True))

    def rechunk(self, *, in_place: bool = False) -> Series:
        """The values in one chunk."""
        result = self._rechunk()
        if in_place:
            self._set(result)
            return self
        return result

    def append(self, other: Series) -> Series:
        """Add the values of another column to this one.

        Raises SchemaError when the dtypes differ.
        """
        if not isinstance(other, _nanuk.Series):
            msg = f"expected `other` to be a Series, not {type(other).__name__!r}"
            raise TypeError(msg)
        if other._dtype_text == "Null" and self._dtype_text != "Null":
            other = other.cast(self.dtype)
        self._set(self._append(other))
        return self

    def extend(self, other: Series) -> Series:
        """As append, into one chunk."""
        self.append(other)
        self._set(self._rechunk())
        return self

    def clear(self, n: int = 0) -> Series:
        """No values, or n nulls, of the same dtype."""
        return _nanuk.series_from_list(self.name, [None] * n, self._dtype_text, True)

    def set_sorted(self, *, descending: bool = False) -> Series:
        """A promise that values are in order."""
        return self._set_sorted(-1 if descending else 1)

    def new_from_index(self, index: int, length: int) -> Series:
        """One value, repeated."""
        return self._take([index] * length)

    def to_frame(self, name: str | None = None):
        """A DataFrame of this column, under another name if given."""
        from nanuk.dataframe import DataFrame

        frame = DataFrame.__new__(DataFrame)
        frame._set([self if name is None else self._rename(name)], len(self))
        return frame

    # ---- To other libraries ----

    def to_numpy(self, *, writable: bool = False, allow_copy: bool = True, masked: bool = False):
        """A NumPy array.

        Numbers and times without nulls share memory unless `writable`; integers with nulls become float64, other values
        Python objects. Raises RuntimeError when a copy is needed and not allowed.
        """
        from nanuk.convert import series_to_numpy

        return series_to_numpy(self, writable=writable, allow_copy=allow_copy)

    def to_arrow(self, *, compat_level=None):
        """A pyarrow Array."""
        from nanuk.convert import series_to_arrow

        return series_to_arrow(self)

    def to_pandas(self, *, use_pyarrow_extension_array: bool = False, **kwargs):
        """A pandas Series."""
        frame = self.to_frame().to_pandas(use_pyarrow_extension_array=use_pyarrow_extension_array, **kwargs)
        return frame.iloc[:, 0].rename(self.name)

    # ---- Namespaces ----

    @property
    def str(self):
        """Functions of text."""
        from nanuk.series_dt import SeriesStr

        return SeriesStr(self)

    @property
    def dt(self):
        """Functions of dates, times and durations."""
        from nanuk.series_dt import SeriesDt

        return SeriesDt(self)

    @property
    def list(self):
        """Functions of lists."""
        return _Namespace(self, "list")

    @property
    def arr(self):
        """Functions of Arrays."""
        return _Namespace(self, "arr")

    @property
    def struct(self):
        """Functions of Structs."""
        from nanuk.series_struct import SeriesStruct

        return SeriesStruct(self)

    @property
    def bin(self):
        """Functions of Binary."""
        return _Namespace(self, "bin")

    @property
    def cat(self):
        """Functions of Categoricals and Enums."""
        return _Namespace(self, "cat")

    @property
    def map(self):
        """Functions of Maps."""
        return _Namespace(self, "map")

    @property
    def ext(self):
        """Functions of extension dtypes."""
        return _Namespace(self, "ext")

    # ---- Distribution ----

    def value_counts(self, *, sort: bool = False, parallel: bool = False, name: str | None = None,
                     normalize: bool = False):  # fmt: skip
        """A table of each different value and how often it occurs, as UInt32, or its share of all with `normalize`.

        Raises DuplicateError when the column is called as the counts are.
        """
        name = name or ("proportion" if normalize else "count")
        if name == self.name:
            from nanuk.exceptions import DuplicateError

            msg = f"column with name '{name}' has more than one occurrence"
            raise DuplicateError(msg)
        count = _nanuk.call("len")
        plan = self.to_frame()._plan()._group_by([_nanuk.positions((0,))], [count.alias(name)], True)
        if sort:
            plan = plan._sort([_nanuk.positions((1,))], True, False, True)
        frame = plan._collect()
        if not normalize:
            return frame
        shares = frame._column(1) / max(len(self), 1)
        frame._set([frame._column(0), shares._rename(name)], len(shares))
        return frame

    def describe(self, percentiles=(0.25, 0.50, 0.75), interpolation: str = "nearest"):
        """Count, nulls, mean, deviation, extremes and percentiles, as a table."""
        from nanuk.describe import describe_series

        return describe_series(self, percentiles, interpolation)

    def to_dummies(self, *, separator: str = "_", drop_first: bool = False, drop_nulls: bool = False):
        """A table of 0 and 1, as UInt8, for each different value."""
        return self.to_frame().to_dummies(separator=separator, drop_first=drop_first, drop_nulls=drop_nulls)

    def to_init_repr(self, n: int = 1000) -> str:
        """Python that makes the first n values anew."""
        from nanuk.describe import code_of_series

        return code_of_series(self, n)

    def search_sorted(self, element, side: str = "any", *, descending: bool = False):
        """Where an element belongs among sorted values: an int, or for a Series of elements a Series."""
        found = _evaluate(_nanuk.lit(self).search_sorted(_nanuk.lit(element) if isinstance(element, str) else element, side,
                                                         descending=descending))  # fmt: skip
        return found if isinstance(element, (_nanuk.Series, _nanuk.Expr)) else found.item()

    def map_elements(self, function, return_dtype=None, *, skip_nulls: bool = True,
                     _disable_inefficient_map_warning: bool = False) -> Series:  # fmt: skip
        """A Python function of each value; slow, so an expression is better where there is one."""
        values = [None if skip_nulls and value is None else function(value) for value in self.to_list()]
        return Series(self.name, values, return_dtype, strict=False)

    # ---- Single values changed ----

    def set(self, filter, value) -> Series:
        """One value where a mask is true."""
        value = _nanuk.lit(value)._call("cast", dtype=_Text(self.dtype))
        return _evaluate(_nanuk.call("when", filter, value, self))._rename(self.name)

    def scatter(self, indices, values) -> Series:
        """Values put at positions of this column.

        Raises OutOfBoundsError beyond the end.
        """
        if isinstance(indices, int):
            indices = [indices]
        indices = list(indices)
        n = len(self)
        for index in indices:
            if index is None or not -n <= index < n:
                from nanuk.exceptions import ComputeError, OutOfBoundsError

                if index is None:
                    raise ComputeError("index values should not be null")
                msg = f"index {index} is out of bounds for sequence of length {n}"
                raise OutOfBoundsError(msg)
        values = [values] if not is_several(values) and not isinstance(values, _nanuk.Series) else list(values)
        if len(values) == 1:
            values *= len(indices)
        items = self.to_list()
        for index, value in zip(indices, values):
            items[index] = value
        self._set(_nanuk.series_from_list(self.name, items, self._dtype_text, True))
        return self

    def extend_constant(self, value, n: int) -> Series:
        """The values and n times another one."""
        return _evaluate(_nanuk.lit(self).extend_constant(value, n))._rename(self.name)

    def shrink_to_fit(self, *, in_place: bool = False) -> Series:
        """The values; memory beyond them is not kept anyway."""
        return self if in_place else self.clone()

    def shrink_dtype(self) -> Series:
        """The smallest integer dtype that holds all values; floats become Float32."""
        dtype = self.dtype
        if dtype.is_float():
            from nanuk.datatypes import Float32

            return self.cast(Float32)
        if not dtype.is_integer():
            return self
        from nanuk import datatypes

        low, high = self.min() or 0, self.max() or 0
        names = (
            ("UInt8", "UInt16", "UInt32", "UInt64")
            if dtype.is_unsigned_integer()
            else ("Int8", "Int16", "Int32", "Int64")
        )
        for name, bits in zip(names, (8, 16, 32, 64)):
            floor, ceiling = (0, 2**bits) if name[0] == "U" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
            if floor <= low and high < ceiling:
                return self.cast(getattr(datatypes, name))
        return self

    def get_chunks(self) -> list[Series]:
        """The chunks, each a Series."""
        chunks, at = [], 0
        for length in self.chunk_lengths():
            chunks.append(self._slice(at, length))
            at += length
        return chunks

    def explode(self, *, empty_as_null: bool | None = None, keep_nulls: bool = True) -> Series:
        """The items of lists one below the other; see Expr.explode. Of other dtypes, the values as they are."""
        if not self._dtype_text.startswith(("List", "Array")):
            return self
        empty_as_null = bool(empty_as_null)
        return _evaluate(_nanuk.lit(self).explode(empty_as_null=empty_as_null, keep_nulls=keep_nulls))

    def cumulative_eval(self, expr, *, min_samples: int = 1, parallel: bool = False) -> Series:
        """An expression over the values so far, for each row."""
        return _evaluate(_nanuk.lit(self).cumulative_eval(expr, min_samples=min_samples))

    def hist(self, bins=None, *, bin_count: int | None = None, include_category: bool = True,
             include_breakpoint: bool = True):  # fmt: skip
        """How many values fall into each bin, as a table."""
        raise NotImplementedError("`hist` is not implemented yet")

    def sql(self, query: str, *, table_name: str = "self"):
        """The answer to a query in SQL about this column, as a table."""
        return self.to_frame().sql(query, table_name=table_name)

    has_validity = Removed("`has_nulls`")


class _Namespace:
    """The functions of a namespace of Expr, applied to a Series at once."""

    __slots__ = ("_name", "_series")

    def __init__(self, series: Series, name: str) -> None:
        self._series = series
        self._name = name

    def __getattr__(self, name: str):
        function = getattr(getattr(_nanuk.lit(self._series), self._name), name)

        def method(*args, **kwargs):
            return _evaluate(function(*args, **kwargs))

        method.__name__ = name
        method.__doc__ = function.__doc__
        return method

    def __dir__(self):
        return dir(getattr(_nanuk.lit(self._series), self._name))


class _Text:
    """A dtype as an option of a function."""

    __slots__ = ("_text",)

    def __init__(self, dtype) -> None:
        self._text = dtype_text(dtype)


def _evaluate(expr) -> Series:
    """An expression without columns as a Series."""
    return _nanuk.Frame._plan(_EMPTY)._select([expr], True)._collect()._column(0)


_EMPTY = _nanuk.Frame()


def _restore(data: bytes) -> Series:
    return _nanuk.plan_deserialise(data)._collect()._column(0)


def _direct(name: str, function: str, doc: str):
    def method(self) -> Series:
        return self._call(function)

    method.__name__ = name
    method.__qualname__ = f"Series.{name}"
    method.__doc__ = doc
    return method


def _through_expr(name: str, is_value: bool = False):
    """A method that Expr has, evaluated at once: a Series, or the one value of an aggregation."""
    from functools import update_wrapper

    from nanuk.expr import Expr

    function = getattr(Expr, name)
    if is_value:

        def method(self, *args, **kwargs):
            return _evaluate(function(_nanuk.lit(self), *args, **kwargs)).item(0)

    else:

        def method(self, *args, **kwargs):
            return _evaluate(function(_nanuk.lit(self), *args, **kwargs))

    update_wrapper(method, function)
    method.__qualname__ = f"Series.{name}"
    return method


for _name, _doc in (
    ("is_null", "Whether values are null."),
    ("is_not_null", "Whether values are not null."),
    ("is_nan", "Whether values are NaN."),
    ("is_not_nan", "Whether values are not NaN."),
    ("is_finite", "Whether values are finite."),
    ("is_infinite", "Whether values are infinite."),
    ("abs", "Absolute values."),
    ("sign", "-1, 0 or 1."),
    ("implode", "All values as one list."),
    ("reverse", "The values from last to first."),
    ("arg_true", "Positions where a Boolean is true, as UInt32."),
    ("to_physical", "The values as they lie in memory."),
):
    setattr(Series, _name, _direct(_name, _name, _doc))
Series.not_ = _direct("not_", "not", "Negation of Booleans; of integers, of all bits.")

for _name in (
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "arg_sort", "arg_unique", "backward_fill",
    "bitwise_count_ones", "bitwise_count_zeros", "bitwise_leading_ones", "bitwise_leading_zeros",
    "bitwise_trailing_ones", "bitwise_trailing_zeros", "bottom_k", "bottom_k_by", "cbrt", "ceil", "clip", "cos", "cosh",
    "cot", "cum_count", "cum_max", "cum_min", "cum_prod", "cum_sum", "cut", "degrees", "diff", "erf", "erfc", "ewm_mean",
    "ewm_mean_by", "ewm_std", "ewm_sum", "ewm_sum_by", "ewm_var", "exp", "floor", "forward_fill", "gather",
    "gather_every", "hash", "interpolate", "interpolate_by", "is_close", "is_duplicated", "is_first_distinct",
    "is_last_distinct", "is_unique", "log", "log10", "log1p", "lower_bound", "mode", "pct_change", "peak_max", "peak_min",
    "qcut", "radians", "rank", "reinterpret", "repeat_by", "replace", "replace_strict", "reshape", "rle", "rle_id",
    "rolling_kurtosis", "rolling_map", "rolling_max", "rolling_max_by", "rolling_mean", "rolling_mean_by",
    "rolling_median", "rolling_median_by", "rolling_min", "rolling_min_by", "rolling_quantile", "rolling_quantile_by",
    "rolling_rank", "rolling_rank_by", "rolling_skew", "rolling_std", "rolling_std_by", "rolling_sum", "rolling_sum_by",
    "rolling_var", "rolling_var_by", "round", "round_sig_figs", "sample", "shift", "shuffle", "sin", "sinh", "sqrt",
    "tan", "tanh", "top_k", "top_k_by", "truncate", "unique_counts", "upper_bound",
):  # fmt: skip
    setattr(Series, _name, _through_expr(_name))

for _name in (
    "approx_n_unique", "approx_quantile", "bitwise_and", "bitwise_or", "bitwise_xor", "entropy", "index_of", "is_sorted",
    "kurtosis", "max_by", "min_by", "skew",
):  # fmt: skip
    setattr(Series, _name, _through_expr(_name, is_value=True))

__all__ = ["Series"]

add_methods(Series)

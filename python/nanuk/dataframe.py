"""DataFrame: a table in memory. Methods that compute go through a plan, run at once; the rest asks the handle."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.dataframe_shapes import DataFrameShapes
from nanuk.exceptions import (
    ColumnNotFoundError,
    NoRowsReturnedError,
    OutOfBoundsError,
    Removed,
    ShapeError,
    TooManyRowsReturnedError,
)
from nanuk.lazyframe import _check_choice
from nanuk.not_yet import add_methods
from nanuk.parse import flatten, is_several, parse_exprs, parse_predicates, removes_arguments
from nanuk.schema import Schema

_NO_DEFAULT = object()
_UNITS = {"b": 0, "bytes": 0, "kb": 1, "kilobytes": 1, "mb": 2, "megabytes": 2, "gb": 3, "gigabytes": 3, "tb": 4}


class DataFrame(_nanuk.Frame, DataFrameShapes):
    """A table of named columns of equal height.

    data: a dict from names to values (single values are repeated), a list of dicts (rows), of sequences (columns, or
    rows with `orient="row"`) or of Series, an array, or an object with Arrow capsules. schema: names, or names with
    dtypes, as a list or dict; schema_overrides changes the dtypes of some columns. With `strict` a value that does not
    fit its column raises TypeError, otherwise it becomes null. infer_schema_length: rows that are looked at to find the
    dtypes of rows, all with None. height: of a table without columns.
    """

    __slots__ = ()
    __hash__ = None

    def __init__(
        self, data=None, schema=None, *, schema_overrides=None, strict: bool = True, orient=None,
        infer_schema_length: int | None = 100, nan_to_null: bool = False, height: int | None = None,
    ) -> None:  # fmt: skip
        if data is None and schema is None:
            if height:
                self._set([], height)
            return
        from nanuk.convert import frame_columns

        columns, rows = frame_columns(
            data, schema, schema_overrides=schema_overrides, strict=strict, orient=orient,
            infer_schema_length=infer_schema_length, nan_to_null=nan_to_null,
        )  # fmt: skip
        if height is not None and columns and height != rows:
            msg = f"height of data ({rows}) does not match specified height ({height})"
            raise ShapeError(msg)
        self._set(columns, rows if height is None else height)

    # ---- Schema ----

    @property
    def columns(self) -> list[str]:
        """Names of the columns; assign a list to rename them all."""
        return self._names

    @columns.setter
    def columns(self, names) -> None:
        names = list(names)
        if len(names) != self.width:
            msg = f"{len(names)} column names provided for a DataFrame of width {self.width}"
            raise ShapeError(msg)
        self._set([column._rename(name) for column, name in zip(self.get_columns(), names)], self.height)

    @property
    def schema(self) -> Schema:
        """Names and dtypes."""
        return Schema._of(self._names, self.dtypes)

    def collect_schema(self) -> Schema:
        """Names and dtypes."""
        return self.schema

    @property
    def flags(self) -> dict[str, dict[str, bool]]:
        """What is known of the order of each column."""
        return {column.name: column.flags for column in self.get_columns()}

    # ---- Python's protocols ----

    def __repr__(self) -> str:
        from nanuk.config import format_options

        return self._to_text(format_options())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from nanuk.html import table

        return table(self)

    def __bool__(self) -> bool:
        raise TypeError(
            "the truth value of a DataFrame is ambiguous\n\nHint: to check if a DataFrame contains any values, use "
            "`is_empty()`."
        )

    def __contains__(self, key) -> bool:
        return isinstance(key, str) and self._find(key) >= 0

    def __iter__(self):
        return iter(self.get_columns())

    def __reversed__(self):
        return reversed(self.get_columns())

    def __copy__(self) -> DataFrame:
        return self.clone()

    def __deepcopy__(self, memo=None) -> DataFrame:
        return self.clone()

    def __reduce__(self):
        return (_restore, (self.serialize(),))

    def __getstate__(self) -> bytes:
        return self.serialize()

    def __setstate__(self, state: bytes) -> None:
        self._set(_restore(state))

    def serialize(self, file=None, *, format: str = "binary") -> bytes | None:
        """Write the table to a path or open file, or return it as bytes, for DataFrame.deserialize."""
        return self._plan().serialize(file)

    @classmethod
    def deserialize(cls, source, *, format: str = "binary") -> DataFrame:
        """A table from what `serialize` wrote: a path, an open file or bytes.

        Raises ComputeError when it is no such thing.
        """
        from nanuk.files import read_bytes

        return _restore(read_bytes(source))

    def clone(self) -> DataFrame:
        """A copy, which shares the columns."""
        copy = DataFrame.__new__(DataFrame)
        copy._set(self)
        return copy

    def lazy(self):
        """A query on this table."""
        return self._plan()

    def pipe(self, function, *args, **kwargs):
        """`function(self, *args, **kwargs)`."""
        return function(self, *args, **kwargs)

    def show(self, limit: int | None = 5, **options) -> None:
        """Print the first rows; options are those of Config, without their "set_"."""
        from nanuk.config import Config

        frame = self if limit is None else self.head(limit)
        with Config(**{name: value for name, value in options.items() if value is not None}):
            print(frame)

    # ---- Single columns and rows ----

    def _subscript(self, key):
        """What `frame[key]` means besides an existing name."""
        if isinstance(key, str):
            return self.get_column(key)
        if isinstance(key, tuple):
            if len(key) != 2:
                msg = f"expected up to 2 keys for `__getitem__`, got {len(key)}"
                raise ValueError(msg)
            rows, columns = key
            if isinstance(rows, str):
                return self._choose(key)
            if isinstance(columns, (str, int)) and not isinstance(columns, bool):
                column = self._column_of(columns)
                if isinstance(rows, int):
                    return column[rows]
                return column if rows == slice(None) else column._subscript(rows)
            chosen = self._choose(columns)
            if isinstance(rows, slice) and rows == slice(None):
                return chosen
            return chosen._rows_of(rows) if chosen.width else chosen
        if isinstance(key, slice) and (isinstance(key.start, str) or isinstance(key.stop, str)):
            return self._choose(key)
        if isinstance(key, _nanuk.Series) and key._dtype_text == "String":
            return self._choose(key)
        if getattr(getattr(key, "dtype", None), "kind", "") == "U":
            return self._choose(key)
        if isinstance(key, (list, tuple)) and key and isinstance(key[0], str):
            return self._choose(key)
        return self._rows_of(key)

    def _column_of(self, key):
        return self.get_column(key) if isinstance(key, str) else self._column(key)

    def _choose(self, columns) -> DataFrame:
        """Columns by names, positions, a slice or flags."""
        names = self._names
        if isinstance(columns, slice):
            start, stop = (
                self.get_column_index(end) if isinstance(end, str) else end for end in (columns.start, columns.stop)
            )
            if isinstance(columns.stop, str):
                stop += 1  # names include the end
            chosen = list(range(*slice(start, stop, columns.step).indices(len(names))))
        else:
            from nanuk.subscript import columns_of

            chosen = columns_of(columns, names)
        frame = DataFrame.__new__(DataFrame)
        frame._set([self._column_of(item) for item in chosen], self.height if chosen else 0)
        return frame

    def _rows_of(self, rows) -> DataFrame:
        height = self.height
        if isinstance(rows, slice):
            start, stop, step = rows.indices(height)
            if step == 1:
                return self._plan()._slice(start, max(0, stop - start))._collect()
            return self._take(list(range(start, stop, step)))
        if isinstance(rows, int) and not isinstance(rows, bool):
            if not -height <= rows < height:
                msg = f"index {rows} is out of bounds for DataFrame of height {height}"
                raise IndexError(msg)
            return self._plan()._slice(rows % height, 1)._collect()
        from nanuk.subscript import rows_of

        return self._take(rows_of(rows, "rows"))

    def _take(self, rows: list) -> DataFrame:
        """Rows by position, in the order given."""
        height = self.height
        for row in rows:
            if not isinstance(row, int) and not hasattr(row, "__index__"):
                msg = f"cannot select rows using key of type {type(row).__name__!r}: {row!r}"
                raise TypeError(msg)
            if not -height <= row < height:
                raise OutOfBoundsError("gather indices are out of bounds")
        name = "__row"
        index = _nanuk.series_from_list(name, [int(row) % height for row in rows], "UInt32", True)
        order = DataFrame.__new__(DataFrame)
        order._set([index], len(rows))
        keys = [_nanuk.col(name)]
        joined = order._plan()._join(
            self._plan()._row_index(name, 0), keys, keys, "left", "_right", "m:m", "left", 1, False
        )
        return joined._drop([name], True)._collect()

    def __setitem__(self, key, value) -> None:
        if isinstance(key, str):
            raise TypeError(
                "DataFrame object does not support `Series` assignment by index\n\nUse `DataFrame.with_columns`."
            )
        if not isinstance(key, tuple) or len(key) != 2:
            msg = f"cannot use {key!r} to assign"
            raise ValueError(msg)
        rows, column = key
        series = self._column_of(column).clone()
        series[rows] = value
        self._set(self.with_columns(series))

    def get_column(self, name: str, *, default=_NO_DEFAULT):
        """A column by name.

        Raises ColumnNotFoundError when there is none, unless a default is given.
        """
        position = self._find(name)
        if position >= 0:
            return self._column(position)
        if default is not _NO_DEFAULT:
            return default
        msg = f'"{name}" not found'
        raise ColumnNotFoundError(msg)

    def get_column_index(self, name: str) -> int:
        """The position of a column.

        Raises ColumnNotFoundError when there is none.
        """
        position = self._find(name)
        if position < 0:
            msg = f'"{name}" not found'
            raise ColumnNotFoundError(msg)
        return position

    def to_series(self, index: int = 0):
        """A column by position.

        Raises TypeError unless the position is an int, IndexError beyond the last.
        """
        if not isinstance(index, int):
            msg = f"index value should be of type `int`, but is {type(index).__name__!r}"
            raise TypeError(msg)
        return self._column(index)

    def iter_columns(self):
        """The columns one by one."""
        return iter(self.get_columns())

    def item(self, row: int | None = None, column: int | str | None = None):
        """One value: the only one of a table of one row and column, or that at a row and column.

        Raises ValueError when the table has more and no position is given, IndexError beyond the end.
        """
        if row is None and column is None:
            if self.shape != (1, 1):
                msg = (
                    "can only call `.item()` if the dataframe is of shape (1, 1), or if explicit row/col values are "
                    f"provided; frame has shape={self.shape!r}"
                )
                raise ValueError(msg)
            return self._column(0).item(0)
        if row is None or column is None:
            raise ValueError("cannot call `.item()` with only one of `row` or `column`")
        return self._column_of(column).item(row)

    def row(self, index: int | None = None, *, by_predicate=None, named: bool = False):
        """One row as a tuple, or dict with `named`, by position or as the only one that a predicate is true for.

        Raises OutOfBoundsError, NoRowsReturnedError, TooManyRowsReturnedError, ValueError for neither or both.
        """
        if index is not None and by_predicate is not None:
            raise ValueError("cannot set both 'index' and 'by_predicate'; mutually exclusive")
        if isinstance(index, _nanuk.Expr):
            raise TypeError("expressions should be passed to the `by_predicate` parameter")
        if index is None and by_predicate is None:
            if self.height != 1:
                msg = (
                    'can only call `.row()` without "index" or "by_predicate" values if the DataFrame has a single '
                    f"row; shape={self.shape!r}"
                )
                raise ValueError(msg)
            index = 0
        if by_predicate is None:
            if not -self.height <= index < self.height:
                msg = f"index {index} is out of bounds for frame of height {self.height}"
                raise OutOfBoundsError(msg)
            values = self._row(index % self.height)
        else:
            if not isinstance(by_predicate, _nanuk.Expr):
                msg = f"expected `by_predicate` to be an expression, got {type(by_predicate).__name__!r}"
                raise TypeError(msg)
            found = self.filter(by_predicate)
            if found.height == 0:
                msg = f"predicate <{by_predicate!s}> returned no rows"
                raise NoRowsReturnedError(msg)
            if found.height > 1:
                msg = f"predicate <{by_predicate!s}> returned {found.height} rows"
                raise TooManyRowsReturnedError(msg)
            values = found._row(0)
        return dict(zip(self._names, values)) if named else values

    def rows(self, *, named: bool = False) -> list:
        """All rows as tuples, or dicts with `named`."""
        return self._rows(named)

    def iter_rows(self, *, named: bool = False, buffer_size: int = 512):
        """The rows one by one, as tuples, or dicts with `named`; so many at a time are turned into Python values."""
        size = max(buffer_size, 1)
        for offset in range(0, self.height, size):
            yield from self.slice(offset, size)._rows(named)

    def rows_by_key(self, key, *, named: bool = False, include_key: bool = False, unique: bool = False) -> dict:
        """Rows by the value of some columns: lists of rows, or with `unique` the last one."""
        from nanuk.selectors import expand_selector, of_columns

        keys = list(expand_selector(self, of_columns(flatten(key))))
        names = self._names
        places = [names.index(name) for name in keys]
        kept = [i for i, name in enumerate(names) if include_key or name not in keys]
        result: dict = {}
        for row in self._rows(False):
            found = row[places[0]] if len(places) == 1 else tuple(row[place] for place in places)
            value = {names[i]: row[i] for i in kept} if named else tuple(row[i] for i in kept)
            if unique:
                result[found] = value
            else:
                result.setdefault(found, []).append(value)
        return result

    def iter_slices(self, n_rows: int = 10_000):
        """The table in pieces."""
        for offset in range(0, self.height, n_rows):
            yield self.slice(offset, n_rows)

    def to_dict(self, *, as_series: bool = True) -> dict:
        """A dict from names to columns, as Series or lists."""
        return {column.name: column if as_series else column.to_list() for column in self.get_columns()}

    def to_dicts(self) -> list[dict]:
        """The rows as dicts."""
        return self._rows(True)

    def sql(self, query: str, *, table_name: str = "self") -> DataFrame:
        """The answer to a query in SQL about this frame, which is called `table_name` in it."""
        from nanuk.sql_context import SQLContext

        return SQLContext({table_name: self}).execute(query, eager=True)

    # ---- Changes in place ----

    def _position(self, index: int) -> int:
        if index < 0:
            index += self.width
        if not 0 <= index <= self.width:
            msg = f"column index {index} is out of bounds for a table of {self.width} columns"
            raise IndexError(msg)
        return index

    def insert_column(self, index: int, column) -> DataFrame:
        """Put a Series, or an expression, before a position of this table."""
        columns = self.get_columns()
        if isinstance(column, _nanuk.Expr):
            column = self.select(column)._column(0)
        columns.insert(self._position(index), column)
        self._set(columns, len(column))
        return self

    def replace_column(self, index: int, column) -> DataFrame:
        """Put a Series in the place of a column of this table."""
        columns = self.get_columns()
        columns[self._position(index)] = column
        self._set(columns, len(column))
        return self

    def drop_in_place(self, name: str):
        """Take a column out of this table and return it."""
        columns = self.get_columns()
        taken = columns.pop(self.get_column_index(name))
        self._set(columns, self.height)
        return taken

    def hstack(self, columns, *, in_place: bool = False) -> DataFrame:
        """The columns, and further ones."""
        if isinstance(columns, _nanuk.Frame):
            columns = columns.get_columns()
        frame = self if in_place else DataFrame.__new__(DataFrame)
        frame._set(self.get_columns() + list(columns), self.height if self.width else len(columns[0]) if columns else 0)
        return frame

    def vstack(self, other: DataFrame, *, in_place: bool = False) -> DataFrame:
        """The rows, and those of another table."""
        if not isinstance(other, _nanuk.Frame):
            msg = f"expected `other` to be a DataFrame, not {type(other).__name__!r}"
            raise TypeError(msg)
        plans = [self._plan(), other._plan()] if self.shape != (0, 0) else [other._plan(), other._plan()._slice(0, 0)]
        stacked = _nanuk.concat(plans, "vertical")._collect()
        if in_place:
            self._set(stacked)
            return self
        return stacked

    def extend(self, other: DataFrame) -> DataFrame:
        """Add the rows of another table to this one."""
        return self.vstack(other, in_place=True)

    # ---- Queries ----

    def select(self, *exprs, **named_exprs) -> DataFrame:
        """These columns and expressions alone; text means columns, keyword arguments name expressions.

        Raises ColumnNotFoundError, DuplicateError, and ShapeError for columns of different lengths.
        """
        if len(exprs) == 1 and not named_exprs and isinstance(exprs[0], (_nanuk.Expr, str)):
            return self._plan()._select(exprs, True)._collect()
        return self._plan()._select(parse_exprs(exprs, named_exprs), True)._collect()

    select_seq = select

    def with_columns(self, *exprs, **named_exprs) -> DataFrame:
        """The columns, with these added or replaced; all expressions see the columns as they were."""
        return self._plan()._with_columns(parse_exprs(exprs, named_exprs), True)._collect()

    with_columns_seq = with_columns

    def filter(self, *predicates, **constraints) -> DataFrame:
        """Rows for which all predicates are true; keyword arguments are columns and the values they must equal.

        Raises TypeError without predicates, InvalidOperationError for one that is not Boolean.
        """
        items = parse_predicates(predicates, constraints)
        return self._plan()._filter(items)._collect() if items else self.clone()

    def slice(self, offset: int, length: int | None = None) -> DataFrame:
        """Rows from an offset, which counts from the end when negative; all of them without a length."""
        if length is not None and length < 0:
            length = max(0, self.height - offset + length)
        return self._plan()._slice(offset, -1 if length is None else length)._collect()

    def head(self, n: int = 5) -> DataFrame:
        """The first n rows; all but the last -n when n is negative."""
        return self.slice(0, max(0, self.height + n) if n < 0 else n)

    def limit(self, n: int = 5) -> DataFrame:
        """The first n rows."""
        return self.head(n)

    def tail(self, n: int = 5) -> DataFrame:
        """The last n rows; all but the first -n when n is negative."""
        n = max(0, self.height + n) if n < 0 else min(n, self.height)
        return self.slice(self.height - n, n)

    def sort(self, by, *more_by, descending=False, nulls_last=False, multithreaded: bool = True,
             maintain_order: bool = False) -> DataFrame:  # fmt: skip
        """Rows in order of columns or expressions; see LazyFrame.sort."""
        return self._plan().sort(
            by, *more_by, descending=descending, nulls_last=nulls_last, maintain_order=maintain_order
        )._collect()  # fmt: skip

    def group_by(self, *by, maintain_order: bool = False, **named_by):
        """Groups of rows with equal keys; null is a key. Groups come in any order unless `maintain_order`."""
        from nanuk.group_by import GroupBy

        return GroupBy(self._plan(), parse_exprs(by, named_by), maintain_order, df=self)

    @removes_arguments(join_nulls="`nulls_equal`")
    def join(self, other, on=None, how: str = "inner", *, left_on=None, right_on=None, suffix: str = "_right",
             validate: str = "m:m", nulls_equal: bool = False, coalesce: bool | None = None,
             maintain_order: str | None = None, build_side: str = "auto") -> DataFrame:  # fmt: skip
        """Rows of two tables with equal keys; see LazyFrame.join."""
        if not isinstance(other, _nanuk.Frame):
            msg = f"expected `other` to be a DataFrame, not {type(other).__name__!r}"
            raise TypeError(msg)
        return self._plan().join(
            other._plan(), on, how, left_on=left_on, right_on=right_on, suffix=suffix, validate=validate,
            nulls_equal=nulls_equal, coalesce=coalesce, maintain_order=maintain_order,
        )._collect()  # fmt: skip

    def rolling(self, index_column, *, period, offset=None, closed: str = "right", group_by=None):
        """A window for each row, see LazyFrame.rolling."""
        from nanuk.windows import WindowGroupBy, rolling

        groups = rolling(WindowGroupBy, self._plan(), index_column, period, offset, closed, group_by)
        groups.df = self
        return groups

    def group_by_dynamic(
        self, index_column, *, every, period=None, offset=None, include_boundaries: bool = False,
        closed: str = "left", label: str = "left", group_by=None, start_by: str = "window",
    ):  # fmt: skip
        """Windows `every` so often, see LazyFrame.group_by_dynamic."""
        from nanuk.windows import WindowGroupBy, group_by_dynamic

        groups = group_by_dynamic(
            WindowGroupBy, self._plan(), index_column, every, period, offset, include_boundaries, closed, label,
            group_by, start_by,
        )  # fmt: skip
        groups.df = self
        return groups

    def upsample(self, time_column: str, *, every, group_by=None, maintain_order: bool = False) -> DataFrame:
        """Rows `every` so often between the first and the last of a sorted column, null where there was none."""
        from nanuk.windows import upsample

        return upsample(self, time_column, every, group_by, maintain_order)

    def join_asof(self, other, **options) -> DataFrame:
        """Each row with the nearest row of another DataFrame, see LazyFrame.join_asof.

        Raises TypeError when `other` is no DataFrame.
        """
        if not isinstance(other, DataFrame):
            msg = f"expected `other` to be a DataFrame, not {type(other).__name__!r}"
            raise TypeError(msg)
        return self._plan().join_asof(other._plan(), **options)._collect()

    def partition_by(self, by, *more_by, maintain_order: bool = True, include_key: bool = True, as_dict: bool = False):
        """A table for each different value of some columns: a list, or a dict by the values as tuples."""
        from nanuk.selectors import expand_selector, of_columns

        names = list(expand_selector(self, of_columns(flatten(by, more_by))))
        parts = {
            key: part if include_key else part.drop(names)
            for key, part in self.group_by(names, maintain_order=maintain_order)
        }
        return parts if as_dict else list(parts.values())

    # ---- The whole table ----

    def is_empty(self) -> bool:
        """Whether there are no rows."""
        return self.height == 0

    def clear(self, n: int = 0) -> DataFrame:
        """No rows, or n rows of nulls, of the same schema."""
        if n < 0:
            msg = f"`n` should be greater than or equal to 0, got {n}"
            raise ValueError(msg)
        frame = DataFrame.__new__(DataFrame)
        frame._set([column.clear(n) for column in self.get_columns()], n)
        return frame

    def equals(self, other: DataFrame, *, null_equal: bool = True) -> bool:
        """Whether both tables have the same columns with the same values, whatever their dtypes."""
        if not isinstance(other, _nanuk.Frame):
            msg = f"expected `other` to be a DataFrame, not {type(other).__name__!r}"
            raise TypeError(msg)
        if self._names != other._names or self.shape != other.shape:
            return False
        return all(
            mine.equals(theirs, null_equal=null_equal) for mine, theirs in zip(self.get_columns(), other.get_columns())
        )

    def n_chunks(self, strategy: str = "first"):
        """Chunks of the first column, or with "all" of each.

        Raises ValueError for another strategy.
        """
        _check_choice("strategy", strategy, ("first", "all"))
        if strategy == "all":
            return [column.n_chunks() for column in self.get_columns()]
        return self._column(0).n_chunks() if self.width else 0

    def rechunk(self) -> DataFrame:
        """Every column in one chunk."""
        frame = DataFrame.__new__(DataFrame)
        frame._set([column._rechunk() for column in self.get_columns()], self.height)
        return frame

    def estimated_size(self, unit: str = "b") -> float:
        """About how many bytes the values take: in "b", "kb", "mb", "gb" or "tb".

        Raises ValueError for another unit.
        """
        _check_choice("unit", unit, tuple(_UNITS))
        size = sum(_size_of(column) for column in self.get_columns())
        return size if unit in ("b", "bytes") else size / 1024 ** _UNITS[unit]

    def n_unique(self, subset=None) -> int:
        """How many different rows there are, by some columns or all."""
        plan = self._plan()
        if subset is not None:
            plan = plan._select(flatten(subset), True)
        return plan._unique([], "any", False)._collect().height

    def fold(self, operation):
        """Columns combined one after the other by a function of two Series."""
        columns = self.get_columns()
        result = columns[0]
        for column in columns[1:]:
            result = operation(result, column)
        return result

    def max_horizontal(self):
        """Largest values of rows, as a Series."""
        return self._horizontal("max_horizontal")

    def min_horizontal(self):
        """Smallest values of rows, as a Series."""
        return self._horizontal("min_horizontal")

    def sum_horizontal(self, *, ignore_nulls: bool = True):
        """Sums of rows, as a Series."""
        return self._horizontal("sum_horizontal", ignore_nulls=ignore_nulls)

    def mean_horizontal(self, *, ignore_nulls: bool = True):
        """Means of rows, as a Series."""
        return self._horizontal("mean_horizontal", ignore_nulls=ignore_nulls)

    def _horizontal(self, function: str, **options):
        expr = _nanuk.call(function, _nanuk.col("*"), **options).alias(function.partition("_")[0])
        return self._plan()._select([expr], True)._collect()._column(0)

    def product(self) -> DataFrame:
        """Products of all columns."""
        return self._plan()._aggregate("product")._collect()

    # ---- Operators ----

    def _with(self, other, function: str, reverse: bool = False) -> DataFrame:
        """An operator applied to each column: with those of a table, a Series, or one value."""
        columns = self.get_columns()
        if isinstance(other, _nanuk.Frame):
            if self.width != other.width:
                raise ShapeError("DataFrames of different widths")
            others = other.get_columns()
        else:
            if is_several(other) and not isinstance(other, _nanuk.Series):
                from nanuk.series import Series

                other = Series("", other)
            others = [other] * len(columns)
        operate = _OPERATORS[function]
        results = [operate(b, a) if reverse else operate(a, b) for a, b in zip(columns, others)]
        frame = DataFrame.__new__(DataFrame)
        frame._set([result._rename(column.name) for result, column in zip(results, columns)], self.height)
        return frame

    def _compare(self, other, function: str) -> DataFrame:
        if isinstance(other, _nanuk.Frame):
            if self.shape != other.shape:
                raise ValueError("DataFrame dimensions do not match")
            if self._names != other._names:
                raise ValueError("DataFrame columns do not match")
        return self._with(other, function)

    def __add__(self, other):
        return self._with(other, "add")

    def __radd__(self, other):
        return self._with(other, "add", True)

    def __sub__(self, other):
        return self._with(other, "sub")

    def __mul__(self, other):
        return self._with(other, "mul")

    def __rmul__(self, other):
        return self._with(other, "mul", True)

    def __truediv__(self, other):
        return self._with(other, "truediv")

    def __floordiv__(self, other):
        return self._with(other, "floordiv")

    def __mod__(self, other):
        return self._with(other, "mod")

    def __eq__(self, other):
        return self._compare(other, "eq")

    def __ne__(self, other):
        return self._compare(other, "ne")

    def __lt__(self, other):
        return self._compare(other, "lt")

    def __le__(self, other):
        return self._compare(other, "le")

    def __gt__(self, other):
        return self._compare(other, "gt")

    def __ge__(self, other):
        return self._compare(other, "ge")

    # ---- Files and other libraries ----

    def write_parquet(
        self, file, *, compression: str = "zstd", compression_level: int | None = None, statistics=True,
        row_group_size: int | None = None, data_page_size: int | None = None, use_pyarrow: bool = False,
        pyarrow_options=None, partition_by=None, storage_options=None, credential_provider="auto", metadata=None,
        mkdir: bool = False,
    ) -> None:  # fmt: skip
        """Write a Parquet file: a path or an open file; see LazyFrame.sink_parquet."""
        from nanuk.io import sink_parquet

        sink_parquet(
            self._plan(), file, compression=compression, compression_level=compression_level, statistics=statistics,
            row_group_size=row_group_size, mkdir=mkdir,
        )  # fmt: skip

    def write_csv(
        self, file=None, *, include_bom: bool = False, compression: str = "uncompressed",
        compression_level: int | None = None, check_extension: bool = True, include_header: bool = True,
        separator: str = ",", line_terminator: str = "\n", quote_char: str = '"', batch_size: int = 1024,
        datetime_format: str | None = None, date_format: str | None = None, time_format: str | None = None,
        float_scientific: bool | None = None, float_precision: int | None = None, decimal_comma: bool = False,
        null_value: str | None = None, quote_style: str | None = None, storage_options=None,
        credential_provider="auto",
    ) -> str | None:  # fmt: skip
        """Write CSV to a path or an open file, or return it as text; see LazyFrame.sink_csv."""
        from nanuk.csv import sink_csv

        return sink_csv(
            self._plan(), file, include_bom=include_bom, compression=compression, compression_level=compression_level,
            check_extension=check_extension, include_header=include_header, separator=separator,
            line_terminator=line_terminator, quote_char=quote_char, batch_size=batch_size,
            datetime_format=datetime_format, date_format=date_format, time_format=time_format,
            float_scientific=float_scientific, float_precision=float_precision, decimal_comma=decimal_comma,
            null_value=null_value, quote_style=quote_style,
        )  # fmt: skip

    def write_json(self, file=None) -> str | None:
        """Write an array of JSON objects to a path or an open file, or return it as text; see LazyFrame.sink_ndjson."""
        from nanuk.json import sink_json

        return sink_json(self._plan(), file, is_document=True, check_extension=False)

    def write_ndjson(
        self, file=None, *, compression: str = "uncompressed", compression_level: int | None = None,
        check_extension: bool = True,
    ) -> str | None:  # fmt: skip
        """Write a JSON object a line to a path or an open file, or return it as text; see LazyFrame.sink_ndjson."""
        from nanuk.json import sink_json

        return sink_json(
            self._plan(), file, compression=compression, compression_level=compression_level,
            check_extension=check_extension,
        )  # fmt: skip

    def write_ipc(
        self, file, *, compression: str = "uncompressed", compat_level=None, record_batch_size: int | None = None,
        storage_options=None, credential_provider="auto",
    ):  # fmt: skip
        """Write an Arrow IPC file to a path or an open file, or with None return a BytesIO; see LazyFrame.sink_ipc."""
        from nanuk.ipc import sink_ipc

        return sink_ipc(
            self._plan(), file, compression=compression, compat_level=compat_level, record_batch_size=record_batch_size
        )

    def write_ipc_stream(self, file, *, compression: str = "uncompressed", compat_level=None):
        """Write an Arrow IPC stream to a path or an open file, or with None return a BytesIO; see LazyFrame.sink_ipc."""
        from nanuk.ipc import sink_ipc

        return sink_ipc(self._plan(), file, compression=compression, compat_level=compat_level, is_stream=True)

    def to_arrow(self, *, compat_level=None):
        """A pyarrow Table."""
        from nanuk.convert import frame_to_arrow

        return frame_to_arrow(self)

    def to_pandas(self, *, use_pyarrow_extension_array: bool = False, **kwargs):
        """A pandas DataFrame; keyword arguments go to pyarrow's `to_pandas`."""
        from nanuk.convert import frame_to_pandas

        return frame_to_pandas(self, use_pyarrow_extension_array=use_pyarrow_extension_array, **kwargs)

    def to_numpy(self, *, order: str = "fortran", writable: bool = False, allow_copy: bool = True,
                 structured: bool = False, masked: bool = False):  # fmt: skip
        """A NumPy array of two dimensions, or with `structured` of one with named fields.

        Raises RuntimeError when a copy is needed and not allowed.
        """
        import numpy

        arrays = [column.to_numpy() for column in self.get_columns()]
        if not allow_copy and (structured or len(arrays) > 1):
            raise RuntimeError("copy not allowed: cannot convert to a NumPy array without copying data")
        if structured:
            result = numpy.empty(self.height, dtype=[(name, a.dtype) for name, a in zip(self._names, arrays)])
            for name, array in zip(self._names, arrays):
                result[name] = array
            return result
        if not arrays:
            return numpy.empty((self.height, 0))
        if not writable and len(arrays) == 1:
            return arrays[0].reshape(-1, 1)
        if len({a.dtype.kind for a in arrays} - set("iufb")) and len({a.dtype for a in arrays}) > 1:
            arrays = [a.astype(object) for a in arrays]
        dtype = numpy.result_type(*arrays)
        result = numpy.empty((self.height, self.width), dtype=dtype, order="F" if order == "fortran" else "C")
        for i, array in enumerate(arrays):
            result[:, i] = array
        return result

    def __array__(self, dtype=None, copy=None):
        array = self.to_numpy(writable=bool(copy))
        return array if dtype is None else array.astype(dtype)

    __dataframe__ = Removed("`to_arrow`")
    with_row_count = Removed("`with_row_index`")
    approx_n_unique = Removed("`select(pl.all().approx_n_unique())`")
    melt = Removed("`unpivot`")


def _through_plan(name: str):
    """A method that LazyFrame has, run at once."""
    from nanuk.lazyframe import LazyFrame

    function = getattr(LazyFrame, name)

    def method(self, *args, **kwargs) -> DataFrame:
        return function(self._plan(), *args, **kwargs)._collect()

    import functools

    functools.update_wrapper(method, function)
    method.__qualname__ = f"DataFrame.{name}"
    return method


for _name in (
    "drop", "rename", "with_row_index", "cast", "fill_null", "fill_nan", "remove", "drop_nulls", "drop_nans", "top_k",
    "bottom_k", "unique", "set_sorted", "sum", "mean", "min", "max", "median", "std", "var", "quantile", "null_count",
    "count", "reverse", "shift", "gather_every", "interpolate", "unpivot", "unnest", "match_to_schema",
):  # fmt: skip
    setattr(DataFrame, _name, _through_plan(_name))


def _operators() -> dict:
    import operator

    names = ("add", "sub", "mul", "truediv", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge")
    return {name: getattr(operator, name) for name in names}


_OPERATORS = _operators()


def _restore(data: bytes) -> DataFrame:
    return _nanuk.plan_deserialise(data)._collect()


def _size_of(column) -> int:
    text, length = column._dtype_text, len(column)
    validity = (length + 7) // 8 if column.null_count() else 0
    if text in ("String", "Binary"):
        values = column.drop_nulls()
        lengths = values.str.len_bytes() if text == "String" else None
        return 16 * length + validity + (lengths.filter(lengths > 12).sum() if lengths is not None else 0)
    if column.dtype.is_nested():
        return 8 * length + validity
    bits = {"Boolean": 1, "Null": 0, "Date": 32}.get(text)
    if bits is None:
        digits = "".join(c for c in text if c.isdigit()) if text[:3] in ("Int", "UIn", "Flo") else "64"
        bits = int(digits) if text[:7] != "Decimal" else 128
    return (length * bits + 7) // 8 + validity


__all__ = ["DataFrame"]

add_methods(DataFrame)

"""LazyFrame: a query that has not run. Methods add to it and return a new one; `collect` optimises and runs it."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.exceptions import PerformanceWarning, Removed, argument_removed
from nanuk.opt_flags import DEFAULT_QUERY_OPT_FLAGS, QueryOptFlags
from nanuk.not_yet import add_methods
from nanuk.parse import dtype_text, flatten, parse_exprs, parse_predicates, removes_arguments
from nanuk.schema import Schema

_ENGINES = ("auto", "in-memory", "streaming", "gpu")
_JOINS = ("inner", "left", "right", "full", "semi", "anti", "cross")
_ORDERS = ("none", "left", "right", "left_right", "right_left")
_VALIDATIONS = ("m:m", "m:1", "1:m", "1:1")


def _check_engine(engine) -> None:
    if engine not in _ENGINES and not hasattr(engine, "collect"):
        msg = f"invalid engine: {engine!r}, expected one of {', '.join(map(repr, _ENGINES))}"
        raise ValueError(msg)


def _warn_schema(name: str, instead: str) -> None:
    import warnings

    warnings.warn(
        f"determining the {name} of a LazyFrame requires resolving its schema, which is a potentially expensive "
        f"operation. Use `{instead}` to get the {name} without this warning.",
        PerformanceWarning,
        stacklevel=3,
    )


class LazyFrame(_nanuk.Plan):
    """A query. Made of data as a DataFrame is, by `DataFrame.lazy` or by a scan function; takes what DataFrame takes."""

    __slots__ = ()

    def __init__(
        self, data=None, schema=None, *, schema_overrides=None, strict: bool = True, orient=None,
        infer_schema_length: int | None = 100, nan_to_null: bool = False, height: int | None = None,
    ) -> None:  # fmt: skip
        from nanuk.dataframe import DataFrame

        frame = DataFrame(
            data, schema, schema_overrides=schema_overrides, strict=strict, orient=orient,
            infer_schema_length=infer_schema_length, nan_to_null=nan_to_null, height=height,
        )  # fmt: skip
        self._set(frame._plan())

    def sql(self, query: str, *, table_name: str = "self") -> LazyFrame:
        """A query in SQL over this one, which is called `table_name` in it."""
        from nanuk.sql_context import SQLContext

        return SQLContext({table_name: self}).execute(query, eager=False)

    # ---- Schema ----

    def collect_schema(self) -> Schema:
        """Names and dtypes of the result; reads no more than the heads of files.

        Raises the errors that running the query would raise for unknown columns and unfit dtypes.
        """
        empty = self._empty()
        return Schema._of(empty._names, empty.dtypes)

    @property
    def columns(self) -> list[str]:
        """Names of the columns; warns, since the schema has to be found out: see collect_schema."""
        _warn_schema("column names", "LazyFrame.collect_schema().names()")
        return self.collect_schema().names()

    @property
    def dtypes(self) -> list:
        """Dtypes of the columns; warns, since the schema has to be found out: see collect_schema."""
        _warn_schema("data types", "LazyFrame.collect_schema().dtypes()")
        return self.collect_schema().dtypes()

    @property
    def schema(self) -> Schema:
        """The schema; warns, since it has to be found out: see collect_schema."""
        _warn_schema("schema", "LazyFrame.collect_schema()")
        return self.collect_schema()

    @property
    def width(self) -> int:
        """Number of columns; warns, since the schema has to be found out: see collect_schema."""
        _warn_schema("width", "LazyFrame.collect_schema().len()")
        return len(self.collect_schema())

    # ---- Python's protocols ----

    def __bool__(self) -> bool:
        raise TypeError(
            "the truth value of a LazyFrame is ambiguous\n\nLazyFrames cannot be used in boolean context with and/or/not "
            "operators."
        )

    def _no_comparison(self, operator: str):
        msg = f'"{operator!r}" comparison not supported for LazyFrame objects'
        raise TypeError(msg)

    def __eq__(self, other):
        self._no_comparison("==")

    def __ne__(self, other):
        self._no_comparison("!=")

    def __lt__(self, other):
        self._no_comparison("<")

    def __le__(self, other):
        self._no_comparison("<=")

    def __gt__(self, other):
        self._no_comparison(">")

    def __ge__(self, other):
        self._no_comparison(">=")

    __hash__ = None

    def __contains__(self, key: str) -> bool:
        return key in self.collect_schema()

    def __getitem__(self, item):
        if not isinstance(item, slice):
            raise TypeError(
                "LazyFrame is not subscriptable (aside from slicing)\n\nUse `select()` or `filter()` instead."
            )
        start, stop, step = item.start, item.stop, item.step
        if step not in (None, 1) or (start or 0) < 0 or (stop is not None and stop < 0):
            raise ValueError("slices of a LazyFrame that step or count from the end are not supported")
        return self.slice(start or 0, None if stop is None else max(0, stop - (start or 0)))

    def __str__(self) -> str:
        return "naive plan: (run LazyFrame.explain(optimized=True) to see the optimized plan)\n\n" + self._explain(
            "text", False, False
        )

    def __repr__(self) -> str:
        return f"<LazyFrame at 0x{id(self):X}>"

    def __copy__(self) -> LazyFrame:
        return self.clone()

    def __deepcopy__(self, memo=None) -> LazyFrame:
        return self.clone()

    def __reduce__(self):
        return (_nanuk.plan_deserialise, (self._serialise(),))

    def __getstate__(self) -> bytes:
        return self._serialise()

    def __setstate__(self, state: bytes) -> None:
        self._set(_nanuk.plan_deserialise(state))

    def serialize(self, file=None, *, format: str = "binary") -> bytes | None:
        """Write the query to a path or open file, or return it as bytes, for LazyFrame.deserialize."""
        from nanuk.files import write_bytes

        return write_bytes(self._serialise(), file)

    @classmethod
    def deserialize(cls, source, *, format: str = "binary") -> LazyFrame:
        """A query from what `serialize` wrote: a path, an open file or bytes.

        Raises ComputeError when it is no such thing.
        """
        from nanuk.files import read_bytes

        return _nanuk.plan_deserialise(read_bytes(source))

    def clone(self) -> LazyFrame:
        """A copy, which shares everything."""
        copy = LazyFrame.__new__(LazyFrame)
        copy._set(self)
        return copy

    def lazy(self) -> LazyFrame:
        """The query itself."""
        return self

    def cache(self) -> LazyFrame:
        """The query itself: parts that occur twice are computed once anyway, where that pays."""
        return self

    def pipe(self, function, *args, **kwargs):
        """`function(self, *args, **kwargs)`."""
        return function(self, *args, **kwargs)

    # ---- Running ----

    def collect(self, *, engine="auto", background: bool = False, optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS,
                memory_limit: int | None = None, time_limit: float | None = None, **_kwargs):  # fmt: skip
        """Run the query and return the result as a DataFrame.

        memory_limit: bytes, in place of `Config.set_memory_limit`; raises MemoryError when they do not suffice.
        time_limit: seconds, in place of `Config.set_time_limit`; raises TimeoutError when they have passed.

        Ctrl-C ends it with KeyboardInterrupt. Raises ValueError for an unknown engine; "auto", "in-memory" and
        "streaming" are the same here.
        """
        if engine != "auto":
            _check_engine(engine)
        if _kwargs:
            name = next(iter(_kwargs))
            raise argument_removed(name, "`optimizations` or `engine`")
        if optimizations is DEFAULT_QUERY_OPT_FLAGS and memory_limit is None and time_limit is None:
            return self._collect()
        return self._collect(optimizations._skip, memory_limit, time_limit)

    def explain(self, *, format: str = "plain", optimized: bool = True, engine="auto",
                optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS, analyze: bool = False) -> str:  # fmt: skip
        """The query's plan as text, or with `format="dot"` as a graph in DOT.

        `optimized=False` shows it as written. `analyze=True` runs the query and shows for every node rows, time, bytes
        and what was skipped.
        """
        if format not in ("plain", "tree", "text", "dot"):
            msg = f"`format` must be one of 'plain', 'tree' and 'dot', got {format!r}"
            raise ValueError(msg)
        return self._explain("dot" if format == "dot" else "text", optimized, analyze, optimizations._skip)

    def analyze(self, *, optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS, memory_limit: int | None = None,
                time_limit: float | None = None):  # fmt: skip
        """Run the query and tell what it was bound by, what was read and left out, and what would make it faster.

        Printed it is text; `to_dict()` has the numbers. Raises what `collect` raises.
        """
        from nanuk.analysis import Analysis

        return Analysis(*self._analyze(optimizations._skip, memory_limit, time_limit))

    def sink_parquet(
        self, path, *, compression: str | None = "zstd", compression_level: int | None = None, statistics=True,
        row_group_size: int | None = None, data_page_size: int | None = None, maintain_order: bool = True,
        storage_options=None, credential_provider="auto", sync_on_close=None, metadata=None, arrow_schema=None,
        encryption=None, mkdir: bool = False, lazy: bool = False, engine="auto",
        optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS,
    ) -> None:  # fmt: skip
        """Run the query and write the result to a Parquet file, a path or an open file.

        compression: "zstd", "snappy", "gzip", "brotli", "lz4" or "uncompressed", with `compression_level` for those that
        have levels. Raises ValueError for another and for a level out of range, OSError when the file cannot be written.
        """
        from nanuk.io import sink_parquet

        sink_parquet(
            self, path, compression=compression, compression_level=compression_level, statistics=statistics,
            row_group_size=row_group_size, mkdir=mkdir,
        )  # fmt: skip

    def sink_csv(
        self, path, *, include_bom: bool = False, compression: str = "uncompressed",
        compression_level: int | None = None, check_extension: bool = True, include_header: bool = True,
        separator: str = ",", line_terminator: str = "\n", quote_char: str = '"', batch_size: int = 1024,
        datetime_format: str | None = None, date_format: str | None = None, time_format: str | None = None,
        float_scientific: bool | None = None, float_precision: int | None = None, decimal_comma: bool = False,
        null_value: str | None = None, quote_style: str | None = None, maintain_order: bool = True,
        storage_options=None, credential_provider="auto", sync_on_close=None, mkdir: bool = False,
        lazy: bool = False, engine="auto", optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS,
    ) -> None:  # fmt: skip
        """Run the query and write the result as CSV to a path or an open file.

        quote_style: "necessary" (the default), "always", "non_numeric" or "never". Formats are those of strftime.
        compression: "uncompressed", "gzip" or "zstd". Raises ComputeError for Duration, Binary and nested columns and
        for formats that do not suit their columns, ValueError for unknown options, OSError when the file cannot be
        written.
        """
        from nanuk.csv import sink_csv

        sink_csv(
            self, path, include_bom=include_bom, compression=compression, compression_level=compression_level,
            check_extension=check_extension, include_header=include_header, separator=separator,
            line_terminator=line_terminator, quote_char=quote_char, batch_size=batch_size,
            datetime_format=datetime_format, date_format=date_format, time_format=time_format,
            float_scientific=float_scientific, float_precision=float_precision, decimal_comma=decimal_comma,
            null_value=null_value, quote_style=quote_style, mkdir=mkdir,
        )  # fmt: skip

    def sink_ipc(
        self, path, *, compression: str | None = "uncompressed", compat_level=None,
        record_batch_size: int | None = None, maintain_order: bool = True, storage_options=None,
        credential_provider="auto", sync_on_close=None, mkdir: bool = False, lazy: bool = False, engine="auto",
        optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS,
    ) -> None:  # fmt: skip
        """Run the query and write the result to an Arrow IPC file, a path or an open file.

        compression: "uncompressed", "lz4" or "zstd". With `CompatLevel.oldest()` text has offsets instead of views.
        Raises ValueError for unknown compressions, OSError when the file cannot be written.
        """
        from nanuk.ipc import sink_ipc

        sink_ipc(
            self, path, compression=compression, compat_level=compat_level, record_batch_size=record_batch_size,
            mkdir=mkdir,
        )  # fmt: skip

    def sink_ndjson(
        self, path, *, compression: str = "uncompressed", compression_level: int | None = None,
        check_extension: bool = True, maintain_order: bool = True, storage_options=None, credential_provider="auto",
        sync_on_close=None, mkdir: bool = False, lazy: bool = False, engine="auto",
        optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS,
    ) -> None:  # fmt: skip
        """Run the query and write a JSON object a line to a path or an open file.

        compression: "uncompressed", "gzip" or "zstd". Temporal values and Decimals become strings, floats that are no
        numbers null. Raises ComputeError for Binary columns, InvalidOperationError for unknown compressions, OSError
        when the file cannot be written.
        """
        from nanuk.json import sink_json

        sink_json(
            self, path, compression=compression, compression_level=compression_level, check_extension=check_extension,
            mkdir=mkdir,
        )  # fmt: skip

    def show(self, limit: int | None = 5, **options) -> None:
        """Print the first rows."""
        self.head(limit).collect().show(None, **options) if limit is not None else self.collect().show(None, **options)

    # ---- Columns ----

    def select(self, *exprs, **named_exprs) -> LazyFrame:
        """These columns and expressions alone; text means columns, keyword arguments name expressions.

        Raises ColumnNotFoundError and DuplicateError when it runs.
        """
        return self._select(parse_exprs(exprs, named_exprs), False)

    select_seq = select

    def with_columns(self, *exprs, **named_exprs) -> LazyFrame:
        """The columns, with these added or replaced; all expressions see the columns as they were."""
        return self._with_columns(parse_exprs(exprs, named_exprs), False)

    with_columns_seq = with_columns

    def drop(self, *columns, strict: bool = True) -> LazyFrame:
        """Without some columns, given by name or selector; each must exist unless `strict` is False."""
        items = flatten(columns[0], columns[1:]) if columns else []
        return self._drop(items, strict)

    def rename(self, mapping, *, strict: bool = True) -> LazyFrame:
        """Other names, by a dict or a function of the name; each must exist unless `strict` is False."""
        if callable(mapping):
            mapping = {name: mapping(name) for name in self.collect_schema()}
        return self._rename(list(mapping), list(mapping.values()), strict)

    def with_row_index(self, name: str = "index", offset: int = 0) -> LazyFrame:
        """A first column that counts rows from an offset, as UInt32.

        Raises ValueError when the offset is negative.
        """
        if offset < 0:
            msg = f"`offset` input for `with_row_index` cannot be negative, got {offset}"
            raise ValueError(msg)
        return self._row_index(name, offset)

    def cast(self, dtypes, *, strict: bool = True) -> LazyFrame:
        """Other dtypes: one for all columns, or a dict from names, dtypes or selectors to dtypes."""
        if not isinstance(dtypes, dict):
            return self._with_columns([_nanuk.col("*")._call("cast", dtype=_Text(dtypes), strict=strict)], False)
        from nanuk.selectors import of_columns

        exprs = []
        for columns, dtype in dtypes.items():
            chosen = _nanuk.col(columns) if isinstance(columns, str) else of_columns([columns])
            exprs.append(chosen._call("cast", dtype=_Text(dtype), strict=strict))
        return self._with_columns(exprs, False)

    def fill_null(self, value=None, strategy: str | None = None, limit: int | None = None, *,
                  matches_supertype: bool = True) -> LazyFrame:  # fmt: skip
        """A value, or by a strategy another of the column, in place of nulls.

        A Python value reaches only columns that it suits: numbers numeric ones, text String ones.
        """
        if strategy is None and value is not None and not isinstance(value, _nanuk.Expr):
            from nanuk.selectors import of_columns

            columns = [name for name, dtype in self.collect_schema().items() if _suits(value, dtype)]
            if not columns:
                return self
            return self._with_columns([of_columns(columns).as_expr().fill_null(value)], False)
        return self._with_columns([_nanuk.col("*").fill_null(value, strategy, limit)], False)

    def fill_nan(self, value) -> LazyFrame:
        """A value in place of NaN in float columns."""
        from nanuk import selectors

        return self._with_columns([selectors.float().as_expr().fill_nan(value)], False)

    # ---- Rows ----

    def filter(self, *predicates, **constraints) -> LazyFrame:
        """Rows for which all predicates are true; keyword arguments are columns and the values they must equal.

        Raises TypeError without predicates, InvalidOperationError for one that is not Boolean.
        """
        items = parse_predicates(predicates, constraints)
        return self._filter(items) if items else self

    def remove(self, *predicates, **constraints) -> LazyFrame:
        """Rows for which not all predicates are true."""
        from nanuk.when import condition

        return self._filter([condition(predicates, constraints).fill_null(False)._call("not")])

    def drop_nulls(self, subset=None) -> LazyFrame:
        """Rows without null in some columns, all by default."""
        return self._keep("is_not_null", subset)

    def drop_nans(self, subset=None) -> LazyFrame:
        """Rows without NaN in some columns, all float ones by default."""
        from nanuk import selectors

        chosen = selectors.of_columns([selectors.float()] if subset is None else flatten(subset)).as_expr()
        return self._filter([_nanuk.call("all_horizontal", chosen._call("is_not_nan")._call("fill_null", True))])

    def _keep(self, function: str, subset) -> LazyFrame:
        from nanuk.selectors import of_columns

        chosen = _nanuk.col("*") if subset is None else of_columns(flatten(subset)).as_expr()
        return self._filter([_nanuk.call("all_horizontal", chosen._call(function))])

    def sort(self, by, *more_by, descending=False, nulls_last=False, maintain_order: bool = False,
             multithreaded: bool = True) -> LazyFrame:  # fmt: skip
        """Rows in order of columns or expressions.

        `descending` and `nulls_last` are one flag for all or a list of as many; nulls come first otherwise, in both
        directions. Rows that are equal keep their order only with `maintain_order`. Raises ValueError for a list of
        another length.
        """
        items = flatten(by, more_by)
        return self._sort(items, descending, nulls_last, maintain_order) if items else self

    def top_k(self, k: int, *, by, reverse=False) -> LazyFrame:
        """The k rows with the largest values, in no promised order; the smallest with `reverse`."""
        return self._first_of(k, by, reverse, largest=True)

    def bottom_k(self, k: int, *, by, reverse=False) -> LazyFrame:
        """The k rows with the smallest values, in no promised order; the largest with `reverse`."""
        return self._first_of(k, by, reverse, largest=False)

    def _first_of(self, k: int, by, reverse, *, largest: bool) -> LazyFrame:
        if isinstance(reverse, (list, tuple)):
            descending = [bool(flag) != largest for flag in reverse]
        else:
            descending = bool(reverse) != largest
        return self._sort(flatten(by), descending, True, False)._slice(0, k)

    def slice(self, offset: int, length: int | None = None) -> LazyFrame:
        """Rows from an offset, which counts from the end when negative; all of them without a length.

        Raises ValueError when the length is negative.
        """
        if length is not None and length < 0:
            msg = f"negative slice lengths ({length!r}) are invalid for LazyFrame"
            raise ValueError(msg)
        return self._slice(offset, -1 if length is None else length)

    def head(self, n: int = 5) -> LazyFrame:
        """The first n rows."""
        return self.slice(0, n)

    def limit(self, n: int = 5) -> LazyFrame:
        """The first n rows."""
        return self.slice(0, n)

    def tail(self, n: int = 5) -> LazyFrame:
        """The last n rows."""
        return self.slice(-n, n) if n else self.slice(0, 0)

    def first(self) -> LazyFrame:
        """The first row."""
        return self._slice(0, 1)

    def last(self) -> LazyFrame:
        """The last row."""
        return self._slice(-1, 1)

    def unique(self, subset=None, *, keep: str = "any", maintain_order: bool = False) -> LazyFrame:
        """One row for each different value of some columns, all by default.

        keep: "any", "first", "last", or "none" for values that occur once. Raises ValueError for another.
        """
        if keep not in ("any", "first", "last", "none"):
            msg = f"`keep` must be one of {{'first', 'last', 'any', 'none'}}, got {keep}"
            raise ValueError(msg)
        return self._unique([] if subset is None else flatten(subset), keep, maintain_order)

    def clear(self, n: int = 0) -> LazyFrame:
        """No rows, or n rows of nulls, of the same schema."""
        return self._empty().clear(n).lazy()

    def set_sorted(self, column, *more_columns, descending=False, nulls_last=False) -> LazyFrame:
        """A promise that rows are in order of columns; kept for what it says, nothing relies on it."""
        return self

    # ---- Groups and joins ----

    def group_by(self, *by, maintain_order: bool = False, **named_by):
        """Groups of rows with equal keys; null is a key. Groups come in any order unless `maintain_order`."""
        from nanuk.group_by import LazyGroupBy

        return LazyGroupBy(self, parse_exprs(by, named_by), maintain_order)

    @removes_arguments(join_nulls="`nulls_equal`")
    def join(self, other, on=None, how: str = "inner", *, left_on=None, right_on=None, suffix: str = "_right",
             validate: str = "m:m", nulls_equal: bool = False, coalesce: bool | None = None,
             maintain_order: str | None = None, build_side: str = "auto", allow_parallel: bool = True,
             force_parallel: bool = False) -> LazyFrame:  # fmt: skip
        """Rows of two queries with equal keys.

        how: "inner", "left", "right", "full", "semi", "anti" or "cross". Keys are `on`, or `left_on` and `right_on`:
        names or expressions. Null keys match only with `nulls_equal`. Columns of the right that exist on the left get
        the suffix. `validate` ("1:m", "m:1", "1:1") raises ComputeError for keys that repeat. Rows come in any order
        unless `maintain_order` is "left", "right", "left_right" or "right_left". Raises ValueError for arguments that
        do
        not go together, TypeError when `other` is no LazyFrame.
        """
        if not isinstance(other, LazyFrame):
            msg = f"expected `other` to be a LazyFrame, not {type(other).__name__!r}"
            raise TypeError(msg)
        left, right = _join_keys(on, how, left_on, right_on)
        _check_choice("validate", validate, _VALIDATIONS)
        _check_choice("maintain_order", maintain_order or "none", _ORDERS)
        return self._join(
            other, left, right, how, suffix, validate, maintain_order or "none",
            0 if coalesce is None else 1 if coalesce else -1, nulls_equal,
        )  # fmt: skip

    def join_asof(
        self, other, *, left_on=None, right_on=None, on=None, by_left=None, by_right=None, by=None,
        strategy: str = "backward", suffix: str = "_right", tolerance=None, allow_parallel: bool = True,
        force_parallel: bool = False, coalesce: bool = True, allow_exact_matches: bool = True,
        check_sortedness: bool = True,
    ) -> LazyFrame:  # fmt: skip
        """Each row with the row of another query that is nearest by `on`, which both have in order.

        strategy: "backward" (the last that is not greater), "forward" or "nearest". With `by` only among rows of equal
        keys. `tolerance` is how far a match may be: a number, a timedelta or text such as "2h". Raises TypeError when
        `other` is no LazyFrame, ValueError for unknown strategies and missing keys, InvalidOperationError when `on` is
        not in order, SchemaError for keys of different dtypes.
        """
        from nanuk.windows import join_asof

        if not isinstance(other, LazyFrame):
            msg = f"expected `other` to be a LazyFrame, not {type(other).__name__!r}"
            raise TypeError(msg)
        return join_asof(
            self, other, left_on, right_on, on, by_left, by_right, by, strategy, suffix, tolerance, coalesce,
            allow_exact_matches, check_sortedness,
        )  # fmt: skip

    # ---- Windows and functions ----

    def rolling(self, index_column, *, period, offset=None, closed: str = "right", group_by=None):
        """A window for each row: the rows whose index lies in (index + offset, index + offset + period].

        `offset` is the period backwards unless it is given. See group_by_dynamic for steps.
        """
        from nanuk.windows import LazyWindowGroupBy, rolling

        return rolling(LazyWindowGroupBy, self, index_column, period, offset, closed, group_by)

    def group_by_dynamic(
        self, index_column, *, every, period=None, offset=None, include_boundaries: bool = False,
        closed: str = "left", label: str = "left", group_by=None, start_by: str = "window",
    ):  # fmt: skip
        """Windows `every` so often, `period` long, over a sorted index: integers ("2i") or times ("1h30m", "1mo").

        closed: which bounds belong to a window: "left", "right", "both" or "none". label: "left", "right" or
        "datapoint". start_by: "window", "datapoint" or a day of the week. Windows without rows are left out.
        """
        from nanuk.windows import LazyWindowGroupBy, group_by_dynamic

        return group_by_dynamic(
            LazyWindowGroupBy, self, index_column, every, period, offset, include_boundaries, closed, label, group_by,
            start_by,
        )  # fmt: skip

    def map_batches(
        self, function, *, predicate_pushdown: bool = False, projection_pushdown: bool = False,
        slice_pushdown: bool = False, schema=None, validate_output_schema: bool = True, streamable: bool = False,
    ) -> LazyFrame:  # fmt: skip
        """A Python function of the whole result, a DataFrame, which gives another of the same schema or of `schema`.

        What it raises comes out of the query; ComputeError when its result has another schema.
        """
        from nanuk.host import map_table

        return map_table(self, function, schema, validate_output_schema)

    def match_to_schema(
        self, schema, *, missing_columns="raise", missing_struct_fields="raise", extra_columns: str = "raise",
        extra_struct_fields="raise", integer_cast="forbid", float_cast="forbid",
    ) -> LazyFrame:  # fmt: skip
        """The columns of a schema in its order.

        missing_columns: "raise", "insert" (nulls) or an expression; extra_columns: "raise" or "ignore"; integer_cast and
        float_cast: "forbid" or "upcast". Those and the options of struct fields also take a dict by column. Raises
        SchemaError for what may not differ.
        """
        from nanuk.match_schema import match_to_schema

        return match_to_schema(
            self, schema, missing_columns, missing_struct_fields, extra_columns, extra_struct_fields, integer_cast,
            float_cast,
        )  # fmt: skip

    def inspect(self, fmt: str = "{}") -> LazyFrame:
        """Print what has been computed up to here, put into `fmt`, when the query runs."""

        def show(frame):
            print(fmt.format(frame))
            return frame

        return self.map_batches(show)

    # ---- Aggregations of all columns ----

    def _aggregate(self, function: str, **options) -> LazyFrame:
        """One aggregation of all columns; null for those whose dtype does not have it."""
        schema = self.collect_schema()
        fits = _AGGREGATED.get(function)
        if fits is None or all(fits(dtype) for dtype in schema.values()):
            return self._select([_nanuk.col("*")._call(function, **options)], False)
        exprs = []
        for name, dtype in schema.items():
            column = _nanuk.col(name)
            exprs.append(column._call(function, **options) if fits(dtype) else _none_of(name, dtype))
        return self._select(exprs, False)

    def sum(self) -> LazyFrame:
        """Sums of all columns."""
        return self._aggregate("sum")

    def mean(self) -> LazyFrame:
        """Means of all columns."""
        return self._aggregate("mean")

    def min(self) -> LazyFrame:
        """Smallest values of all columns."""
        return self._aggregate("min")

    def max(self) -> LazyFrame:
        """Largest values of all columns."""
        return self._aggregate("max")

    def median(self) -> LazyFrame:
        """Medians of all columns."""
        return self._aggregate("median")

    def std(self, ddof: int = 1) -> LazyFrame:
        """Standard deviations of all columns."""
        return self._aggregate("std", ddof=ddof)

    def var(self, ddof: int = 1) -> LazyFrame:
        """Variances of all columns."""
        return self._aggregate("var", ddof=ddof)

    def quantile(self, quantile, interpolation: str = "nearest") -> LazyFrame:
        """A quantile of all columns."""
        if isinstance(quantile, _nanuk.Expr):
            raise NotImplementedError("an expression as `quantile` is not implemented yet")
        return self._aggregate("quantile", quantile=float(quantile), interpolation=interpolation)

    def null_count(self) -> LazyFrame:
        """How many nulls all columns have."""
        return self._aggregate("null_count")

    def count(self) -> LazyFrame:
        """How many values of all columns are not null."""
        return self._aggregate("count")

    # ---- Shapes ----

    def reverse(self) -> LazyFrame:
        """The rows from last to first."""
        return self._select([_nanuk.col("*")._call("reverse")], False)

    def shift(self, n=1, *, fill_value=None) -> LazyFrame:
        """The rows moved n down, up when negative; what is left open is null or a fill value."""
        return self._select([_nanuk.col("*").shift(n, fill_value=fill_value)], False)

    def gather(self, indices, *, null_on_oob: bool = False) -> LazyFrame:
        """Rows by position; see Expr.gather."""
        return self._select([_nanuk.col("*").gather(indices, null_on_oob=null_on_oob)], False)

    def gather_every(self, n: int, offset: int = 0) -> LazyFrame:
        """Every nth row, from an offset on."""
        return self._select([_nanuk.col("*").gather_every(n, offset)], False)

    def interpolate(self) -> LazyFrame:
        """Values on straight lines in place of nulls; see Expr.interpolate."""
        return self._select([_nanuk.col("*").interpolate()], False)

    def explode(self, columns, *more_columns, empty_as_null: bool = False, keep_nulls: bool = True) -> LazyFrame:
        """A row for each item of lists, beside the values of the other columns."""
        return self._explode(flatten(columns, more_columns), empty_as_null, keep_nulls)

    def unnest(self, columns=None, *more_columns, separator: str | None = None) -> LazyFrame:
        """The fields of Struct columns as columns of their own."""
        from nanuk.datatypes import Struct
        from nanuk.reshape import names_of

        schema = self.collect_schema()
        if columns is None:
            chosen = [name for name, dtype in schema.items() if dtype == Struct]
        else:
            chosen = names_of(self, flatten(columns, more_columns))
        exprs = []
        for name, dtype in schema.items():
            if name not in chosen:
                exprs.append(_nanuk.col(name))
                continue
            if dtype != Struct:
                from nanuk.exceptions import InvalidOperationError

                msg = f"invalid dtype: expected 'Struct', got {str(dtype)!r} for {name!r}"
                raise InvalidOperationError(msg)
            for field in dtype.fields:
                expr = _nanuk.col(name).struct.field(field.name)
                exprs.append(expr if separator is None else expr.alias(f"{name}{separator}{field.name}"))
        return self._select(exprs, False)

    def unpivot(self, on=None, *, index=None, variable_name: str | None = None,
                value_name: str | None = None) -> LazyFrame:  # fmt: skip
        """One row for each value of some columns, beside its column's name and the index columns."""
        from nanuk.reshape import unpivot

        return unpivot(self, on, index, variable_name, value_name)

    def pivot(self, on, on_columns, *, index=None, values=None, aggregate_function=None, maintain_order: bool = False,
              separator: str = "_", column_naming: str = "auto") -> LazyFrame:  # fmt: skip
        """A column for each of `on_columns`, which are values of `on`; a row for each value of the index columns."""
        from nanuk.dataframe import DataFrame
        from nanuk.reshape import pivot

        if isinstance(on_columns, _nanuk.Series):
            on_columns = on_columns.to_frame()
        elif not isinstance(on_columns, _nanuk.Frame):
            on_columns = DataFrame({"": list(on_columns)})
        return pivot(self, on, on_columns, index, values, aggregate_function, maintain_order, separator, column_naming)

    def merge_sorted(self, other, key, *, maintain_order: bool = False) -> LazyFrame:
        """The rows of two queries that are both in order of one or more columns, in that order."""
        from nanuk.combine import merge_two_sorted

        return merge_two_sorted(self, other, flatten(key))

    def update(self, other, on=None, how: str = "left", *, left_on=None, right_on=None, include_nulls: bool = False,
               maintain_order: str | None = "left") -> LazyFrame:  # fmt: skip
        """Values of another query in place of this one's, in rows with equal keys, or row by row without keys."""
        from nanuk.combine import update

        return update(self, other, on, how, left_on, right_on, include_nulls, maintain_order)

    def join_where(self, other, *predicates, how: str = "inner", suffix: str = "_right") -> LazyFrame:
        """Pairs of rows of two queries for which all predicates are true."""
        from nanuk.combine import join_where

        return join_where(self, other, predicates, how, suffix)

    def describe(self, percentiles=(0.25, 0.50, 0.75), *, interpolation: str = "nearest"):
        """Count, nulls, mean, deviation, extremes and percentiles of each column, as a DataFrame."""
        from nanuk.describe import describe

        return describe(self, percentiles, interpolation)

    def pipe_with_schema(self, function) -> LazyFrame:
        """`function(self, schema)`."""
        return function(self, self.collect_schema())

    def collect_batches(self, *, chunk_size: int | None = None, maintain_order: bool = True, lazy: bool = False,
                        engine="auto", optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS):  # fmt: skip
        """The result in pieces, one after the other."""
        result = self.collect(engine=engine, optimizations=optimizations)
        return result.iter_slices(chunk_size or 100_000)

    def sink_batches(self, function, *, chunk_size: int | None = None, maintain_order: bool = True, lazy: bool = False,
                     engine="auto", optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS) -> None:  # fmt: skip
        """Call a function with the result, piece by piece, until it returns True."""
        for part in self.collect_batches(chunk_size=chunk_size, engine=engine, optimizations=optimizations):
            if function(part):
                break

    def collect_async(self, *, gevent: bool = False, engine="auto",
                      optimizations: QueryOptFlags = DEFAULT_QUERY_OPT_FLAGS):  # fmt: skip
        """An awaitable that runs the query in a thread."""
        if gevent:
            raise NotImplementedError("`collect_async` with gevent is not implemented yet")
        import asyncio

        return asyncio.to_thread(self.collect, engine=engine, optimizations=optimizations)

    profile = Removed()
    fetch = Removed("`head` and `collect`")
    with_context = Removed("`concat(how='horizontal')`")
    approx_n_unique = Removed("`select(pl.all().approx_n_unique())`")
    with_row_count = Removed("`with_row_index`")
    melt = Removed("`unpivot`")


class _Text:
    """A dtype as an option of a function."""

    __slots__ = ("_text",)

    def __init__(self, dtype) -> None:
        self._text = dtype_text(dtype)


def _is_number(dtype) -> bool:
    return dtype.is_numeric() or dtype == _dtypes().Boolean


def _has_mean(dtype) -> bool:
    return _is_number(dtype) or dtype.is_temporal()


# Which dtypes have an aggregation; all of them have those that are not here.
_AGGREGATED = {
    "sum": lambda dtype: _is_number(dtype) or dtype == _dtypes().Duration,
    "mean": _has_mean,
    "median": _has_mean,
    "quantile": lambda dtype: dtype.is_numeric() or dtype.is_temporal(),
    "std": lambda dtype: _is_number(dtype) or dtype == _dtypes().Duration,
    "var": _is_number,
    "min": lambda dtype: not dtype.is_nested(),
    "max": lambda dtype: not dtype.is_nested(),
    "product": _is_number,
}


def _none_of(name: str, dtype):
    return _nanuk.lit(None)._call("cast", dtype=_Text(dtype)).alias(name)


def _suits(value, dtype) -> bool:
    """Whether a Python value fills nulls of a column."""
    if isinstance(value, bool):
        return dtype == _dtypes().Boolean
    if isinstance(value, (int, float)):
        return dtype.is_numeric() or dtype == _dtypes().Null
    if isinstance(value, str):
        return dtype == _dtypes().String or dtype == _dtypes().Null
    return True


def _dtypes():
    from nanuk import datatypes

    return datatypes


def _check_choice(name: str, value, choices: tuple) -> None:
    if value not in choices:
        msg = f"`{name}` must be one of {', '.join(map(repr, choices))}, got {value!r}"
        raise ValueError(msg)


def _join_keys(on, how: str, left_on, right_on) -> tuple[list, list]:
    """The keys of both sides.

    Raises ValueError for arguments that do not go together.
    """
    _check_choice("how", how, _JOINS)
    if how == "cross":
        if on is not None or left_on is not None or right_on is not None:
            raise ValueError("cross join should not pass join keys")
        return [], []
    if on is not None:
        if left_on is not None or right_on is not None:
            raise ValueError("cannot use 'on' in conjunction with 'left_on' or 'right_on'")
        keys = flatten(on)
        return keys, keys
    if left_on is None and right_on is None:
        raise ValueError("must specify `on` OR `left_on` and `right_on`")
    if left_on is None or right_on is None:
        missing = "left_on" if left_on is None else "right_on"
        msg = f"'{missing}' is required when the other side's keys are given"
        raise ValueError(msg)
    return flatten(left_on), flatten(right_on)


add_methods(LazyFrame)

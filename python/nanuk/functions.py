"""Functions that make expressions."""

from __future__ import annotations

import builtins

from nanuk import _nanuk
from nanuk.datatypes import UInt32 as _UInt32, DataType, DataTypeClass, is_polars_dtype, parse_into_dtype
from nanuk.expr import Expr, _Dtype
from nanuk.parse import flatten, is_several, parse_exprs, set_random_seed
from nanuk.when import when


class Column:
    """Columns: `col("a")`, `col("a", "b")`, `col.a`, `col(Int64)`, `col("^a.*$")`, `col("*")`."""

    __slots__ = ()

    def __call__(self, name, *more_names) -> Expr:
        """Columns by name, pattern or dtype.

        Raises TypeError for anything else.
        """
        if not more_names and type(name) is str:
            return _nanuk.col(name)
        names = [*name, *more_names] if is_several(name) else [name, *more_names]
        if isinstance(name, str) and not more_names:
            return _nanuk.col(name)
        if builtins.all(isinstance(item, str) for item in names):
            if builtins.any(item.startswith("^") and item.endswith("$") for item in names):
                from nanuk.selectors import of_columns

                return of_columns(names).as_expr()
            return _nanuk.selector("names", tuple(names), True)
        if builtins.all(isinstance(item, (DataType, DataTypeClass, type)) for item in names):
            from nanuk.selectors import _of_dtypes

            return _of_dtypes([parse_into_dtype(item) for item in names]).as_expr()
        msg = (
            "invalid input for `col`\n\nExpected iterable of type `str` or `DataType`, got "
            f"{'iterable of ' if builtins.len(names) > 1 else ''}type {type(names[0]).__name__!r}."
        )
        raise TypeError(msg)

    def __getattr__(self, name: str) -> Expr:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nanuk.col(name)

    def __repr__(self) -> str:
        return "<function col>"

    def __reduce__(self):
        return "col"


col = Column()


def lit(value, dtype=None, *, allow_object: bool = False) -> Expr:
    """A value as an expression; a list as one row that holds a list, a Series or array as a column.

    A bare number bends to the dtypes beside it, unless a dtype is given. Raises TypeError for values without a dtype.
    """
    if isinstance(value, (set, frozenset)):
        value = list(value)
    elif hasattr(value, "__array_interface__") and getattr(value, "shape", ()) != ():
        from nanuk.series import Series

        value = Series("literal", value)
    elif (
        not isinstance(value, (_nanuk.Expr, _nanuk.Series))
        and hasattr(value, "value")
        and hasattr(value, "_sort_order_")
    ):
        value = value.value
    if isinstance(value, dict):
        from nanuk.series import Series

        return _nanuk.lit(Series("literal", [value], dtype))._call("first")
    if hasattr(value, "__array_interface__"):  # a scalar of NumPy has a dtype
        from nanuk.series import Series

        dtype = Series([value]).dtype if dtype is None else dtype
    expr = _nanuk.lit(value)
    if dtype is None:
        return expr
    zone = getattr(dtype, "time_zone", None)
    if isinstance(zone, str) and hasattr(value, "toordinal"):
        return _in_zone(expr, value, dtype)
    return expr._call("cast", dtype=_Dtype(dtype))


def _in_zone(expr, value, dtype) -> Expr:
    """A date or a datetime as Datetime of a zone: local time of the zone when it has none.

    Raises TypeError for a value of another zone.
    """
    own = getattr(value, "tzinfo", None)
    if own is None:
        local = expr._call("cast", dtype=_Dtype(type(dtype)(dtype.time_unit)))
        return local.dt.replace_time_zone(
            dtype.time_zone, ambiguous="latest" if getattr(value, "fold", 0) else "earliest"
        )
    if str(own) != dtype.time_zone:
        msg = f"time zone of dtype ({dtype.time_zone!r}) differs from time zone of value ({own!r})"
        raise TypeError(msg)
    return expr._call("cast", dtype=_Dtype(dtype))


def len() -> Expr:
    """How many rows there are."""
    return _nanuk.call("len")


# ---- Aggregations of columns by name ----


def all(*names, ignore_nulls: bool = True) -> Expr:
    """All columns; or, of columns by name, whether all values are true."""
    if not names:
        return _nanuk.selector("all", (), False)
    return col(*names).all(ignore_nulls=ignore_nulls)


def any(*names, ignore_nulls: bool = True) -> Expr:
    """Whether any value of a column is true."""
    return col(*names).any(ignore_nulls=ignore_nulls)


def sum(*names) -> Expr:
    """Sums of columns."""
    return col(*names).sum()


def mean(*columns) -> Expr:
    """Means of columns."""
    return col(*columns).mean()


def median(*columns) -> Expr:
    """Medians of columns."""
    return col(*columns).median()


def min(*names) -> Expr:
    """Smallest values of columns."""
    return col(*names).min()


def max(*names) -> Expr:
    """Largest values of columns."""
    return col(*names).max()


def count(*columns) -> Expr:
    """How many values of columns are not null; without columns, how many rows there are."""
    return col(*columns).count() if columns else _nanuk.call("len")


def n_unique(*columns) -> Expr:
    """How many different values columns have."""
    return col(*columns).n_unique()


def std(column, ddof: int = 1) -> Expr:
    """Standard deviation of a column."""
    return col(column).std(ddof)


def var(column, ddof: int = 1) -> Expr:
    """Variance of a column."""
    return col(column).var(ddof)


def quantile(column, quantile, interpolation: str = "nearest") -> Expr:
    """A quantile of a column."""
    return col(column).quantile(quantile, interpolation)


def first(*columns) -> Expr:
    """First values of columns; without columns, the first column."""
    return col(*columns).first() if columns else _nanuk.positions((0,))


def last(*columns) -> Expr:
    """Last values of columns; without columns, the last column."""
    return col(*columns).last() if columns else _nanuk.positions((-1,))


def nth(*indices, strict: bool = True) -> Expr:
    """Columns by position; negative ones count from the end."""
    return _nanuk.positions(tuple(flatten(indices[0], indices[1:])))


def exclude(columns, *more_columns) -> Expr:
    """All columns without some, given by name or dtype."""
    return all().exclude(columns, *more_columns)


def implode(*columns, maintain_order: bool = True) -> Expr:
    """Columns as one list each."""
    return col(*columns).implode()


def approx_n_unique(*columns) -> Expr:
    """About how many different values columns have."""
    return col(*columns).approx_n_unique()


def cum_sum(*names) -> Expr:
    """Sums of columns so far."""
    return col(*names).cum_sum()


def cum_count(*columns, reverse: bool = False) -> Expr:
    """How many values columns have so far."""
    return col(*columns).cum_count(reverse=reverse)


def head(column, n: int = 10) -> Expr:
    """The first n values of a column."""
    return col(column).head(n)


def tail(column, n: int = 10) -> Expr:
    """The last n values of a column."""
    return col(column).tail(n)


def arg_sort_by(exprs, *more_exprs, descending=False, nulls_last=False, multithreaded: bool = True,
                maintain_order: bool = False) -> Expr:  # fmt: skip
    """Positions that bring rows into the order of columns, as UInt32."""
    keys = [_nanuk.parse(item) for item in flatten(exprs, more_exprs)]
    positions = _nanuk.call("int_range", 0, keys[0]._call("len"))._call("cast", dtype=_Dtype(_UInt32))
    ordered = positions.sort_by(keys, descending=descending, nulls_last=nulls_last)
    name = keys[0]._output_name()
    return ordered if name is None else ordered.alias(name)


def arctan2(y, x) -> Expr:
    """The angle of a point, in radians; text means columns."""
    return _nanuk.call("arctan2", y, x)


# ---- Across columns ----


def coalesce(exprs, *more_exprs, eager: bool = False):
    """The first value of the expressions that is not null; text means columns."""
    expr = _nanuk.call("coalesce", *flatten(exprs, more_exprs))
    return _evaluate(expr) if eager else expr


def concat_str(exprs, *more_exprs, separator: str = "", ignore_nulls: bool = False) -> Expr:
    """Values as text, joined; text arguments mean columns. A null makes the result null, unless they are ignored."""
    return _nanuk.call("concat_str", *flatten(exprs, more_exprs), separator=separator, ignore_nulls=ignore_nulls)


def format(f_string: str, *args) -> Expr:
    """Text with values in place of "{}"; text arguments mean columns.

    Raises ValueError when there are not as many of them.
    """
    parts = f_string.split("{}")
    if builtins.len(parts) - 1 != builtins.len(args):
        raise ValueError("number of placeholders should equal the number of arguments")
    pieces = []
    for i, part in enumerate(parts):
        if part:
            pieces.append(_nanuk.lit(part))
        if i < builtins.len(args):
            pieces.append(_nanuk.parse(args[i]))
    return _nanuk.call("concat_str", *pieces, separator="")


def all_horizontal(*exprs) -> Expr:
    """Whether all values in a row are true, by Kleene logic."""
    return _nanuk.call("all_horizontal", *parse_exprs(exprs))


def any_horizontal(*exprs) -> Expr:
    """Whether any value in a row is true, by Kleene logic."""
    return _nanuk.call("any_horizontal", *parse_exprs(exprs))


def sum_horizontal(*exprs, ignore_nulls: bool = True) -> Expr:
    """Sums of rows."""
    return _nanuk.call("sum_horizontal", *parse_exprs(exprs), ignore_nulls=ignore_nulls)


def mean_horizontal(*exprs, ignore_nulls: bool = True) -> Expr:
    """Means of rows."""
    return _nanuk.call("mean_horizontal", *parse_exprs(exprs), ignore_nulls=ignore_nulls)


def min_horizontal(*exprs) -> Expr:
    """Smallest values of rows."""
    return _nanuk.call("min_horizontal", *parse_exprs(exprs))


def max_horizontal(*exprs) -> Expr:
    """Largest values of rows."""
    return _nanuk.call("max_horizontal", *parse_exprs(exprs))


# ---- Columns one after the other ----


def fold(acc, function, exprs, *, returns_scalar: bool = False, return_dtype=None) -> Expr:
    """Columns combined with a start value one after the other by a Python function of two Series."""
    from nanuk.host import fold_columns

    return fold_columns(function, [_nanuk.parse(acc), *_parsed(exprs)], return_dtype, returns_scalar, keeps_first=True)


def reduce(function, exprs, *, returns_scalar: bool = False, return_dtype=None) -> Expr:
    """Columns combined one after the other by a Python function of two Series; see fold."""
    from nanuk.host import fold_columns

    return fold_columns(function, _parsed(exprs), return_dtype, returns_scalar)


def cum_fold(acc, function, exprs, *, returns_scalar: bool = False, return_dtype=None,
             include_init: bool = False) -> Expr:  # fmt: skip
    """As fold, with all intermediate results as the fields of a Struct; the start value too with `include_init`."""
    from nanuk.host import cum_fold_columns

    items = [_nanuk.parse(acc).alias("init"), *_parsed(exprs)]
    names = [item._output_name() for item in items]
    return cum_fold_columns(function, items, return_dtype, names, 0 if include_init else 1).alias("cum_fold")


def cum_reduce(function, exprs, *, returns_scalar: bool = False, return_dtype=None) -> Expr:
    """As reduce, with all intermediate results as the fields of a Struct."""
    from nanuk.host import cum_fold_columns

    items = _parsed(exprs)
    names = [item._output_name() for item in items]
    return cum_fold_columns(function, items, return_dtype, names, 0).alias("cum_reduce")


def map_batches(
    exprs, function, return_dtype=None, *, is_elementwise: bool = False, returns_scalar: bool = False
) -> Expr:
    """A Python function of a list of Series, one for each expression; see Expr.map_batches."""
    from nanuk.host import map_columns

    items = _parsed(exprs)
    return map_columns(
        function, items, return_dtype, is_elementwise=is_elementwise, returns_scalar=returns_scalar,
        names=[item._output_name() for item in items], takes_all=True,
    )  # fmt: skip


def map_groups(
    exprs, function, return_dtype=None, *, is_elementwise: bool = False, returns_scalar: bool = False
) -> Expr:
    """A Python function of a list of Series, one for each expression, called for each group; see Expr.map_batches."""
    from nanuk.host import map_columns

    return map_columns(
        function, _parsed(exprs), return_dtype, is_elementwise=is_elementwise, returns_scalar=returns_scalar,
        takes_all=True,
    )  # fmt: skip


def _parsed(exprs) -> builtins.list:
    return [_nanuk.parse(item) for item in flatten(exprs)]


# ---- Frames of expressions ----


def select(*exprs, eager: bool = True, **named_exprs):
    """Expressions that need no table, as a DataFrame, or a LazyFrame when `eager` is False."""
    from nanuk.dataframe import DataFrame

    plan = DataFrame()._plan()._select(parse_exprs(exprs, named_exprs), eager)
    return plan._collect() if eager else plan


def _evaluate(expr: _nanuk.Expr):
    """An expression without columns as a Series."""
    from nanuk.dataframe import DataFrame

    return DataFrame()._plan()._select([expr], True)._collect()._column(0)


def concat(items, *, how: str = "vertical", rechunk: bool = False, parallel: bool = True, strict: bool | None = None):
    """Tables or Series as one.

    how: "vertical" (same names, order and dtypes), "vertical_relaxed" (common dtypes), "diagonal" and
    "diagonal_relaxed" (missing columns are null), "horizontal" (side by side, equal heights), "horizontal_extend"
    (shorter tables end in nulls), "align" and its like (joined by the columns that all have). Raises ValueError for
    nothing to join or another `how`, TypeError for a mixture, ShapeError and SchemaError for what does not match.
    """
    from nanuk.dataframe import DataFrame
    from nanuk.lazyframe import LazyFrame
    from nanuk.series import Series

    items = list(items)
    if not items:
        raise ValueError("cannot concat empty list")
    if strict is not None:
        import warnings

        if how != "horizontal" or not strict:
            raise ValueError("`strict` is only for a horizontal concat and must be True")
        warnings.warn("the argument `strict` of `concat` is deprecated", DeprecationWarning, stacklevel=2)
    kind = type(items[0])
    hows = (
        "vertical", "vertical_relaxed", "diagonal", "diagonal_relaxed", "horizontal", "horizontal_extend", "align",
        "align_full", "align_inner", "align_left", "align_right",
    )  # fmt: skip
    if isinstance(items[0], Expr):
        if how != "vertical":
            raise ValueError("Expr only supports 'vertical' concat strategy")
        result = items[0]
        for item in items[1:]:
            result = result.append(item)
        return result
    for item in items:
        if not isinstance(item, (Series, DataFrame, LazyFrame)):
            msg = f"did not expect type: {type(item).__name__!r} in `concat`"
            raise TypeError(msg)
        if not isinstance(item, kind):
            msg = f"cannot concat a mixture: {kind.__name__!r} and {type(item).__name__!r}"
            raise TypeError(msg)
    if how not in hows:
        what = "LazyFrame" if isinstance(items[0], LazyFrame) else "DataFrame"
        msg = f"{what} `how` must be one of {', '.join(map(repr, hows))}, got {how!r}"
        raise ValueError(msg)
    if isinstance(items[0], Series):
        if how != "vertical":
            raise ValueError("Series only supports 'vertical' concat strategy")
        result = items[0]
        for item in items[1:]:
            result = result._append(item)
        return result._rechunk() if rechunk else result
    if isinstance(items[0], DataFrame) and how[:8] == "vertical":
        while builtins.len(items) > 1 and items[0].shape == (0, 0):
            del items[0]  # nothing, which any table may follow
    if builtins.len(items) == 1:
        return items[0]
    if how[:5] == "align" or how == "horizontal_extend":
        from nanuk.combine import align, side_by_side

        plans = [item.lazy() for item in items]
        result = side_by_side(plans) if how == "horizontal_extend" else align(plans, how)
        return result if isinstance(items[0], LazyFrame) else result._collect()
    if isinstance(items[0], LazyFrame):
        return _nanuk.concat(items, how)
    result = _nanuk.concat([item._plan() for item in items], how)._collect()
    return result.rechunk() if rechunk else result


def collect_all(lazy_frames, *, optimizations=None, engine="auto", lazy: bool = False) -> list:
    """Results of several queries."""
    return [frame.collect(engine=engine) for frame in lazy_frames]


def get_index_type():
    """The dtype of counts and row indices."""
    from nanuk.datatypes import UInt32

    return UInt32()


def thread_pool_size() -> int:
    """Threads that queries use."""
    return _nanuk.thread_count()


def __getattr__(name: str):
    """Functions of the package that lie in other modules."""
    import nanuk

    if name in nanuk.__all__:
        return getattr(nanuk, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


__all__ = ["col", "is_polars_dtype", "set_random_seed", "when"]

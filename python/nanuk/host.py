"""Python functions inside queries: what map_batches, map_elements, fold and their like hand to the engine."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.parse import dtype_text


def _as_series(result, dtype, returns_scalar: bool, name: str = ""):
    """What a function gave, as a Series.

    Raises TypeError for single values where a column is expected.
    """
    from nanuk.series import Series

    if isinstance(result, Series):
        return result
    if hasattr(result, "__array__") or isinstance(result, (list, tuple)):
        return Series(name, result, dtype)
    if returns_scalar:
        return Series(name, [result], dtype)
    msg = f"expected the function to return a Series, got {type(result).__name__!r}"
    raise TypeError(msg)


def map_columns(
    function, exprs: list, return_dtype=None, *, is_elementwise: bool = False, returns_scalar: bool = False,
    names: list | None = None, takes_all: bool = False,
):  # fmt: skip
    """An expression: a function of a list of Series. `names` are given to the Series, where they are known."""

    def call(columns: list):
        if names:
            columns = [column.alias(name) if name else column for column, name in zip(columns, names)]
        return _as_series(function(columns), return_dtype, returns_scalar)

    text = None if return_dtype is None else dtype_text(return_dtype)
    return _nanuk.map_columns(call, exprs, text, is_elementwise, returns_scalar, takes_all)


def map_batches_of(expr, function, return_dtype, is_elementwise: bool, returns_scalar: bool):
    """Expr.map_batches."""
    return map_columns(
        lambda columns: function(columns[0]), [expr], return_dtype, is_elementwise=is_elementwise,
        returns_scalar=returns_scalar, names=[expr._output_name()],
    )  # fmt: skip


def map_elements_of(expr, function, return_dtype, skip_nulls: bool, pass_name: bool):
    """Expr.map_elements: values one after the other."""
    name = expr._output_name()

    def call(columns: list):
        column = columns[0]
        each = (lambda value: function(value, name)) if pass_name else function
        return column.map_elements(each, return_dtype, skip_nulls=skip_nulls)

    return map_columns(call, [expr], return_dtype, is_elementwise=True, names=[name])


def fold_columns(function, exprs: list, return_dtype, returns_scalar: bool, keeps_first: bool = False):
    """Series combined one after the other; `keeps_first`: in the dtype of the first."""
    import functools

    def call(columns: list):
        result = functools.reduce(function, columns)
        dtype = columns[0].dtype if return_dtype is None and keeps_first else return_dtype
        return result if dtype is None else result.cast(dtype)

    return map_columns(
        call, exprs, return_dtype, returns_scalar=returns_scalar, is_elementwise=not returns_scalar, takes_all=True
    )


def cum_fold_columns(function, exprs: list, return_dtype, names: list, skip: int):
    """The same, with a Struct of all intermediate results but the first `skip`."""
    import itertools

    from nanuk.functions_nested import struct
    from nanuk.functions import select

    def call(columns: list):
        steps = list(itertools.accumulate(columns, function))[skip:]
        dtype = columns[0].dtype if return_dtype is None and skip else return_dtype
        steps = [step if dtype is None else step.cast(dtype) for step in steps]
        given = names[skip:] if len(names) == len(columns) else [f"column_{i}" for i in range(len(steps))]
        return select(struct([step.alias(name) for step, name in zip(steps, given)])).to_series()

    return map_columns(call, exprs, None, is_elementwise=True, takes_all=True)


def map_parts(function, parts):
    """A function of the table of each group; the tables that it gives, one after the other.

    Raises ComputeError when it fails, or gives no DataFrame.
    """
    from nanuk.dataframe import DataFrame
    from nanuk.exceptions import ComputeError
    from nanuk.functions import concat

    results = []
    for part in parts:
        try:
            result = function(part)
        except Exception as error:
            msg = f"UDF failed: {error}"
            raise ComputeError(msg) from error
        if not isinstance(result, DataFrame):
            msg = f"UDF failed: expected a DataFrame, got {type(result).__name__!r}"
            raise ComputeError(msg)
        results.append(result)
    return concat(results)


def map_table(plan, function, schema, validate: bool):
    """LazyFrame.map_batches."""
    from nanuk.dataframe import DataFrame
    from nanuk.exceptions import ComputeError

    expected = DataFrame(schema=schema) if schema is not None else None

    def call(frame):
        result = function(frame)
        if not isinstance(result, DataFrame):
            msg = f"expected the function to return a DataFrame, got {type(result).__name__!r}"
            raise TypeError(msg)
        wanted = (expected if expected is not None else frame).schema
        if result.schema == wanted:
            return result
        if validate:
            msg = f"The output schema of 'LazyFrame.map' is incorrect. Expected: {wanted}\nGot: {result.schema}"
            raise ComputeError(msg)
        missing = [name for name in wanted if name not in result.columns]
        if missing:
            msg = f"the function's result lacks {missing!r}; give its `schema`"
            raise ComputeError(msg)
        return result.select(_nanuk.col(name)._call("cast", dtype=dtype) for name, dtype in wanted.items())

    return _nanuk.map_table(plan, call, expected)

"""Functions that make columns out of nothing: ranges, repetitions."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.exceptions import InvalidOperationError, SchemaError
from nanuk.expr import _Dtype
from nanuk.functions import _evaluate


def _with_dtype(expr, dtype, function: str):
    from nanuk.datatypes import Int64, parse_into_dtype

    dtype = parse_into_dtype(dtype)
    if dtype == Int64:
        return expr
    if not dtype.is_integer():
        msg = f"non-integer `dtype` passed to `{function}`: {_nanuk.dtype_short(dtype._text)!r}"
        raise SchemaError(msg)
    return expr._call("cast", dtype=_Dtype(dtype))


def int_range(start=0, end=None, step: int = 1, *, dtype=None, eager: bool = False):
    """Integers from `start` on, before `end`, `step` apart; with one argument from 0 on; text means columns.

    A Series with `eager`. Raises InvalidOperationError for a step of 0, SchemaError for a dtype of no integers,
    ComputeError for bounds that are null.
    """
    if end is None:
        start, end = 0, start
    name = "literal" if not isinstance(start, (str, _nanuk.Expr)) else None
    expr = _nanuk.call("int_range", start, end, step=step)
    if dtype is not None:
        expr = _with_dtype(expr, dtype, "int_range")
    if name is not None:
        expr = expr.alias(name)
    return _evaluate(expr) if eager else expr


def arange(start=0, end=None, step: int = 1, *, dtype=None, eager: bool = False):
    """The same as int_range."""
    return int_range(start, end, step, dtype=dtype, eager=eager)


def linear_space(start, end, num_samples, *, closed: str = "both", eager: bool = False):
    """So many values at equal distances from `start` to `end`, as Float64, or in the dtype of dates and times.

    closed: "both", "left", "right" or "none" of the bounds are among them. Raises ValueError for another.
    """
    _check_closed(closed)
    first, last, n = _nanuk.parse(start), _nanuk.parse(end), _nanuk.parse(num_samples)
    expr = _named_by(_nanuk.call("linear_spaces", first, last, n, closed=closed)._call("explode"), start)
    return _evaluate(expr) if eager else expr


def int_ranges(start=0, end=None, step=1, *, dtype=None, eager: bool = False):
    """For each row the integers from `start` on, before `end`, `step` apart, as lists; text means columns."""
    if end is None:
        start, end = 0, start
    expr = _nanuk.call("int_ranges", start, end, step)
    if dtype is not None:
        from nanuk.datatypes import Int64, List, parse_into_dtype

        dtype = parse_into_dtype(dtype)
        if dtype != Int64:
            expr = expr._call("cast", dtype=_Dtype(List(dtype)))
    expr = _named_by(expr, start, end)
    return _evaluate(expr) if eager else expr


def linear_spaces(start, end, num_samples, *, closed: str = "both", as_array: bool = False, eager: bool = False):
    """For each row so many values at equal distances from `start` to `end`, as lists; see linear_space.

    Arrays with `as_array`, which raises InvalidOperationError unless the number is a constant.
    """
    _check_closed(closed)
    width = _constant_whole(num_samples) if as_array else None
    expr = _nanuk.call("linear_spaces", start, end, num_samples, closed=closed)
    if as_array:
        expr = expr._call("list.to_array", width=width)
    expr = _named_by(expr, start, end)
    return _evaluate(expr) if eager else expr


def _constant_whole(value) -> int:
    """The value of an integer or of an expression of literals."""
    if isinstance(value, _nanuk.Expr) and not value.meta.root_names():
        value = _evaluate(value)
        value = value.item() if len(value) == 1 else None
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidOperationError("'as_array' is only valid when 'num_samples' is a constant integer")
    return value


def _named_by(expr, *arguments):
    """The expression under the name of the first argument that is a column."""
    for argument in arguments:
        if isinstance(argument, (str, _nanuk.Expr)):
            name = _nanuk.parse(argument)._output_name()
            return expr if name is None else expr.alias(name)
        if isinstance(argument, _nanuk.Series):
            return expr.alias(argument.name)
    return expr.alias("literal")


def _check_closed(closed: str) -> None:
    if closed not in ("both", "left", "right", "none"):
        msg = f"`closed` must be one of {{'both', 'left', 'right', 'none'}}, got {closed}"
        raise ValueError(msg)


def repeat(value, n, *, dtype=None, eager: bool = False):
    """A value n times; whole numbers are Int32 unless they need more or a dtype is given.

    A Series with `eager`. Raises ComputeError for a negative n.
    """
    value = _nanuk.lit(value) if isinstance(value, str) else _nanuk.parse(value)
    if dtype is not None:
        value = value._call("cast", dtype=_Dtype(dtype))
    expr = _nanuk.call("repeat", value, n).alias("repeat")
    return _evaluate(expr) if eager else expr


def ones(n, dtype=None, *, eager: bool = False):
    """1, n times; Float64 unless a dtype is given."""
    return _constant(1, n, dtype, eager, "ones")


def zeros(n, dtype=None, *, eager: bool = False):
    """0, n times; Float64 unless a dtype is given."""
    return _constant(0, n, dtype, eager, "zeros")


def _constant(value: int, n, dtype, eager: bool, name: str):
    from nanuk.datatypes import Float64

    expr = repeat(value, n, dtype=Float64 if dtype is None else dtype).alias(name)
    return _evaluate(expr) if eager else expr


def arg_where(condition, *, eager: bool = False):
    """Positions where a condition is true, as UInt32.

    Raises ValueError for an expression with `eager`.
    """
    if eager:
        if not isinstance(condition, _nanuk.Series):
            msg = f"expected Series in 'arg_where' if 'eager=True', got {type(condition).__name__!r}"
            raise ValueError(msg)
        return condition.arg_true()
    return _nanuk.parse(condition)._call("arg_true")

"""Functions that make lists and Structs, and what stands for their parts in expressions over them."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.parse import flatten, parse_exprs


def element():
    """The items of the lists that an expression is evaluated over, in `list.eval`, `list.agg` and `list.filter`."""
    return _nanuk.call("element")


def field(name):
    """Fields of the Structs that an expression is evaluated over, in `struct.with_fields` and `struct.eval`."""
    names = [name] if isinstance(name, str) else list(name)
    return _nanuk.call("field", *(_nanuk.lit(item) for item in names))


def struct(*exprs, schema=None, eager: bool = False, **named_exprs):
    """The values of several columns as one Struct a row; fields are named as the columns. Text means columns.

    `schema`: the fields' dtypes; fields that are missing are null. With `eager` a Series, of Series.

    Raises ValueError without expressions, DuplicateError for a name twice.
    """
    items = parse_exprs(exprs, named_exprs)
    if not items and not schema:
        raise ValueError("expected at least 1 expression in 'as_struct'")
    if not items:
        items = [_nanuk.lit(None).cast(dtype).alias(name) for name, dtype in dict(schema).items()]
    expr = _nanuk.call("as_struct", *items)
    if schema:
        from nanuk.datatypes import Struct

        expr = expr.cast(Struct(schema), strict=False)
    if not eager:
        return expr
    from nanuk.functions import select

    return select(expr).to_series()


def concat_list(exprs, *more_exprs):
    """The values of several columns as one list a row; those that are lists give their items. Text means columns.

    A null list makes the result null; a null value is an item. Raises ComputeError without expressions.
    """
    items = flatten(exprs, more_exprs)
    if not items:
        from nanuk.exceptions import ComputeError

        raise ComputeError("`concat_list` needs one or more expressions")
    return _nanuk.call("concat_list", *items)


def list(exprs, *more_exprs):  # noqa: A001
    """The values of several columns as one list a row; lists are values like others. Text means columns."""
    return _nanuk.call("list", *flatten(exprs, more_exprs))

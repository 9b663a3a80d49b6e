"""What arguments stand for: lists of expressions, column names, selectors, masks."""

from __future__ import annotations

from nanuk import _nanuk

parse = _nanuk.parse


def is_several(argument) -> bool:
    """Whether an argument is an iterable of arguments, rather than one."""
    kind = type(argument)
    if kind is list or kind is tuple:
        return True
    if kind is str or isinstance(argument, (str, bytes, _nanuk.Expr, _nanuk.Series, _nanuk.Frame, dict)):
        return False
    return hasattr(argument, "__iter__") and not hasattr(argument, "dtype")


def parse_exprs(exprs: tuple, named: dict | None = None) -> list:
    """The arguments of select() and its like as one list; expressions are made of them later.

    A single iterable is taken apart. Named arguments become aliases.
    """
    items = list(exprs[0]) if len(exprs) == 1 and is_several(exprs[0]) else list(exprs)
    if named:
        items += [parse(value).alias(name) for name, value in named.items()]
    return items


def flatten(first, more: tuple = ()) -> list:
    """An argument that may be a list, and further ones."""
    items = list(first) if is_several(first) else [first]
    for argument in more:
        if is_several(argument):
            items += argument
        else:
            items.append(argument)
    return items


def parse_predicates(predicates: tuple, constraints: dict) -> list:
    """The arguments of filter(): expressions, masks of booleans, and values that columns must equal.

    Raises TypeError when there are none.
    """
    items = []
    for predicate in predicates:
        if is_several(predicate):
            inner = list(predicate)
            if inner and all(isinstance(value, bool) for value in inner):
                items.append(_nanuk.series_from_list("", inner, "Boolean", True))
            else:
                items += inner
        elif hasattr(predicate, "__array_interface__"):
            from nanuk.series import Series

            items.append(Series("", predicate))
        else:
            items.append(predicate)
    items += [_nanuk.col(name)._call("eq", value) for name, value in constraints.items()]
    if not items and not predicates:
        raise TypeError("at least one predicate or constraint must be provided")
    return [item for item in items if item is not True]


def removes_arguments(**removed: str | None):
    """A decorator for functions whose old arguments raise ArgumentRemovedError: their names, and what to use now."""

    def decorate(function):
        import functools

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            if kwargs:
                for name, instead in removed.items():
                    if name in kwargs:
                        from nanuk.exceptions import argument_removed

                        raise argument_removed(name, instead)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def dtype_text(dtype) -> str:
    """The text of a dtype or Python type for the C library."""
    from nanuk.datatypes import parse_into_dtype

    dtype = parse_into_dtype(dtype)
    text = dtype._text
    if not isinstance(text, str):
        msg = f"{dtype!r} needs parameters"
        raise TypeError(msg)
    return text

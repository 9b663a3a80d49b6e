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
            elif any(isinstance(value, (int, float)) for value in inner):
                msg = f"invalid predicate for `filter`: {predicate!r}"
                raise TypeError(msg)
            else:
                items += inner
        elif hasattr(predicate, "__array_interface__"):
            from nanuk.series import Series

            items.append(Series("", predicate))
        elif (
            predicate is None
            or isinstance(predicate, (dict, float))
            or type(predicate) is int
            or (isinstance(predicate, _nanuk.Series) and predicate._dtype_text not in ("Boolean", "Null"))
        ):
            msg = f"invalid predicate for `filter`: {predicate!r}"
            raise TypeError(msg)
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


def whole(name: str, value, kind: type = int):
    """A number that must be known when the expression is made.

    Raises NotImplementedError for an expression, TypeError for another thing.
    """
    if type(value) is kind:
        return value
    if isinstance(value, _nanuk.Expr):
        msg = f"an expression as `{name}` is not implemented yet"
        raise NotImplementedError(msg)
    if kind is float and isinstance(value, (int, float)):
        return float(value)
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return value.__index__()
    msg = f"`{name}` must be a number, got {type(value).__name__!r}"
    raise TypeError(msg)


def flag_text(name: str, flags, n: int) -> str:
    """One flag for n keys, or as many, as text of "0" and "1".

    Raises ValueError for another number of them.
    """
    if isinstance(flags, bool):
        return "1" if flags else "0"
    flags = list(flags)
    if len(flags) != n:
        msg = f"the length of `{name}` ({len(flags)}) does not match the length of `by` ({n})"
        raise ValueError(msg)
    return "".join("1" if flag else "0" for flag in flags)


def duration_text(value) -> str:
    """A timedelta as text of a duration, such as "3d12h"."""
    if isinstance(value, str):
        return value
    total = value.days * 86_400_000_000 + value.seconds * 1_000_000 + value.microseconds
    sign, total = ("-", -total) if total < 0 else ("", total)
    days, rest = divmod(total, 86_400_000_000)
    seconds, micros = divmod(rest, 1_000_000)
    parts = [f"{number}{unit}" for number, unit in ((days, "d"), (seconds, "s"), (micros, "us")) if number]
    return sign + "".join(parts) if parts else "0us"


def plain_method(owner: str, name: str, doc: str, function: str | None = None):
    """A method without arguments that calls a function of the engine, by default of the same name."""
    function = function or name

    def method(self):
        return self._call(function)

    method.__name__ = name
    method.__qualname__ = f"{owner}.{name}"
    method.__doc__ = doc
    return method


def supertype(dtypes: list):
    """The common dtype of several.

    Raises SchemaError when there is none.
    """
    from nanuk.datatypes import _from_text

    text = dtypes[0]._text
    for dtype in dtypes[1:]:
        common = _nanuk.dtype_supertype(text, dtype._text)
        if common is None:
            from nanuk.exceptions import SchemaError

            msg = f"failed to determine supertype of {text} and {dtype._text}"
            raise SchemaError(msg)
        text = common
    return _from_text(text)


_random = None


def set_random_seed(seed: int) -> None:
    """Make functions that choose at random, and get no seed of their own, repeat what they chose after this call."""
    import random

    global _random
    _random = random.Random(seed)


def seed_of(seed: int | None) -> int | None:
    """A seed, or one drawn by the generator of set_random_seed, or None for the engine to take a fresh one."""
    if seed is not None or _random is None:
        return seed
    return _random.getrandbits(62)

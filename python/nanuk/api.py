"""Namespaces of one's own: methods under a name of Expr, Series, DataFrame or LazyFrame."""

from __future__ import annotations

_RESERVED = frozenset(
    ("arr", "bin", "cat", "dt", "ext", "list", "map", "meta", "name", "plot", "str", "struct", "style")
)


class _Namespace:
    """A descriptor that makes the namespace for the object whose attribute it is."""

    def __init__(self, name: str, made: type) -> None:
        self._name = name
        self._made = made

    def __get__(self, instance, owner):
        return self._made if instance is None else self._made(instance)


def _register(name: str, owner: type):
    if name in _RESERVED:
        msg = f"cannot override reserved namespace {name!r}"
        raise AttributeError(msg)

    def decorate(made: type) -> type:
        if hasattr(owner, name):
            if not isinstance(owner.__dict__.get(name), _Namespace):
                msg = f"cannot override {name!r} of {owner.__name__}"
                raise AttributeError(msg)
            import warnings

            warnings.warn(
                f"Overriding existing custom namespace {name!r} (on {owner.__name__!r})", UserWarning, stacklevel=2
            )
        setattr(owner, name, _Namespace(name, made))
        return made

    return decorate


def register_expr_namespace(name: str):
    """A decorator for a class whose objects get an Expr: its methods are `expr.<name>.<method>`.

    Raises AttributeError for a name that the package uses.
    """
    from nanuk.expr import Expr

    return _register(name, Expr)


def register_series_namespace(name: str):
    """As register_expr_namespace, for Series."""
    from nanuk.series import Series

    return _register(name, Series)


def register_dataframe_namespace(name: str):
    """As register_expr_namespace, for DataFrame."""
    from nanuk.dataframe import DataFrame

    return _register(name, DataFrame)


def register_lazyframe_namespace(name: str):
    """As register_expr_namespace, for LazyFrame."""
    from nanuk.lazyframe import LazyFrame

    return _register(name, LazyFrame)

"""Functions from compiled plugins of Polars, which this engine cannot load."""

from __future__ import annotations


def register_plugin_function(*args, **kwargs):
    """Not possible: such plugins are built against the internals of another engine."""
    raise NotImplementedError("`register_plugin_function` is not implemented yet (compiled plugins)")

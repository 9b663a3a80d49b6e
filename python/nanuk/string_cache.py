"""What is left of the string cache: categories of a name are always shared, so it is always on."""

from __future__ import annotations

import warnings


def _warn() -> None:
    warnings.warn("the string cache has been replaced by pl.Categories", DeprecationWarning, stacklevel=3)


class StringCache:
    """Does nothing. Deprecated: Categories take its place."""

    def __init__(self, *args, **kwargs) -> None:
        _warn()

    def __enter__(self) -> StringCache:
        return self

    def __exit__(self, exc_type, exc_val, exc_tb) -> None:
        pass


def enable_string_cache() -> None:
    """Do nothing. Deprecated: Categories take its place."""
    _warn()


def disable_string_cache() -> None:
    """Do nothing. Deprecated: Categories take its place."""
    _warn()


def using_string_cache() -> bool:
    """True. Deprecated: Categories take its place."""
    _warn()
    return True

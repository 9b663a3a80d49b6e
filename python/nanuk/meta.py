"""What this installation is."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.functions import get_index_type, thread_pool_size


def build_info() -> dict:
    """The version of the engine."""
    return {"version": _nanuk.version}


def show_versions() -> None:
    """Print the versions of the package, of Python and of what it works with."""
    import importlib.metadata
    import platform
    import sys

    print(f"nanuk:    {_nanuk.version}\nplatform: {platform.platform()}\nPython:   {sys.version.split()[0]}")
    for name in ("numpy", "pandas", "pyarrow"):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = "not installed"
        print(f"{name + ':':<9} {version}")


__all__ = ["build_info", "get_index_type", "show_versions", "thread_pool_size"]

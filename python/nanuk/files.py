"""Paths and open files as arguments."""

from __future__ import annotations

import os


def path_text(source) -> str:
    """A path as text, with ~ resolved."""
    path = os.fspath(source)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    return os.path.expanduser(path) if path.startswith("~") else path


def read_bytes(source) -> bytes:
    """The contents of bytes, an open file, or a path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if hasattr(source, "read"):
        data = source.read()
        return data.encode() if isinstance(data, str) else data
    with open(path_text(source), "rb") as file:
        return file.read()


def write_bytes(data: bytes, target) -> bytes | None:
    """Write to an open file or a path; without one return the bytes."""
    if target is None:
        return data
    if hasattr(target, "write"):
        target.write(data)
    else:
        with open(path_text(target), "wb") as file:
            file.write(data)
    return None

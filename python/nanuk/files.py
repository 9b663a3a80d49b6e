"""Paths and open files as arguments."""

from __future__ import annotations

import os


def path_text(source) -> str:
    """A path as text, with ~ resolved."""
    path = os.fspath(source)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    return os.path.expanduser(path) if path.startswith("~") else path


def is_path(source) -> bool:
    return isinstance(source, (str, os.PathLike))


def sources_of(source) -> list:
    """One source or a list of them as a list."""
    return list(source) if isinstance(source, (list, tuple)) else [source]


def refuse_remote(sources: list) -> None:
    """Raise OSError for what is no local path."""
    for source in sources:
        if isinstance(source, str) and "://" in source and not source.startswith("file://"):
            msg = f"only local files can be read, not {source!r}"
            raise OSError(msg)


def contents_of(source) -> bytes:
    """What bytes or an open file hold from where it stands. A BytesIO stays there."""
    import io

    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if not hasattr(source, "read"):
        raise TypeError("Object does not have a .read() method.")
    at = source.tell() if isinstance(source, io.BytesIO) else None
    data = source.read()
    if at is not None:
        source.seek(at)
    return data.encode() if isinstance(data, str) else bytes(data)


class MemoryFiles:
    """Contents in memory as files that only this process sees, for as long as the context lasts; paths stay paths."""

    def __init__(self, sources: list) -> None:
        self.sources, self.descriptors = sources, []

    def contents(self, source) -> bytes:
        return contents_of(source)

    def __enter__(self) -> list[str]:
        try:
            return [
                path_text(source) if is_path(source) else self.put(self.contents(source)) for source in self.sources
            ]
        except BaseException:
            self.__exit__()
            raise

    def put(self, contents: bytes) -> str:
        descriptor = os.memfd_create("nanuk", os.MFD_CLOEXEC)
        self.descriptors.append(descriptor)
        view = memoryview(contents)
        while view:
            view = view[os.write(descriptor, view) :]
        return f"/proc/self/fd/{descriptor}"

    def __exit__(self, *_exception) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


def write_target(target, write, *, mkdir: bool = False) -> None:
    """Call write(path) with the path of a target, or with one whose contents then go to an open file."""
    import io

    if is_path(target):
        path = path_text(target)
        if os.path.isdir(path):
            msg = f"expected a file path; {path!r} is a directory"
            raise IsADirectoryError(msg)
        if mkdir:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write(path)
        return
    if not hasattr(target, "write"):
        msg = f"expected a path or an open file, got {type(target).__name__!r}"
        raise TypeError(msg)
    contents = written_bytes(write)
    target.write(contents.decode() if isinstance(target, io.TextIOBase) else contents)


_SUFFIXES = {"gzip": ".gz", "zstd": ".zst"}


def check_suffix(target, compression: str, *, check_extension: bool) -> None:
    """Raise InvalidOperationError for an unknown compression, or a path whose ending promises another one."""
    from nanuk.exceptions import InvalidOperationError

    if compression not in ("uncompressed", *_SUFFIXES):
        msg = f"Invalid compression format: ({compression})"
        raise InvalidOperationError(msg)
    if not check_extension or not is_path(target):
        return
    path = path_text(target)
    suffix = _SUFFIXES.get(compression)
    if suffix and not path.endswith(suffix):
        msg = (
            f"the path ({path}) does not conform to standard naming, expected suffix: ({suffix}), set "
            "`check_extension` to `False` if you don't want this behavior"
        )
        raise InvalidOperationError(msg)
    if not suffix and path.endswith(tuple(_SUFFIXES.values())):
        raise InvalidOperationError(
            "use the compression parameter to control compression, or set `check_extension` to `False` if you want to "
            "suffix an uncompressed filename with an ending intended for compression"
        )


def written_bytes(write) -> bytes:
    """What write(path) writes."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sink")
        write(path)
        with open(path, "rb") as file:
            return file.read()


def select_columns(plan, columns):
    """The columns that a reader's `columns` chooses, by name or position."""
    from nanuk import _nanuk

    if columns is None:
        return plan
    columns = [columns] if isinstance(columns, (str, int)) else list(columns)
    if len(set(columns)) < len(columns):
        msg = f"`columns` arg should only have unique values, got {columns!r}"
        raise ValueError(msg)
    if columns and isinstance(columns[0], int):
        return plan._select([_nanuk.positions(tuple(columns))], False)
    return plan._select(columns, False)


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

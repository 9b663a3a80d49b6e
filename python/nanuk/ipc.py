"""Reading and writing Arrow IPC: files ("Feather") and streams."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.files import (
    MemoryFiles,
    is_path,
    path_text,
    refuse_remote,
    select_columns,
    sources_of,
    write_target,
    written_bytes,
)
from nanuk.parse import removes_arguments

_COMPRESSIONS = ("uncompressed", "lz4", "zstd")


class CompatLevel:
    """How new the Arrow layouts may be that data is written in: `newest` has string views, `oldest` does not."""

    def __init__(self) -> None:
        raise TypeError("it is not allowed to create a CompatLevel object")

    @classmethod
    def _of(cls, version: int) -> CompatLevel:
        level = object.__new__(cls)
        level._version = version
        return level

    @staticmethod
    def newest() -> CompatLevel:
        """All layouts."""
        return CompatLevel._of(1)

    @staticmethod
    def oldest() -> CompatLevel:
        """Layouts that every reader of Arrow knows."""
        return CompatLevel._of(0)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__}: {self._version}>"


def _options(n_rows, row_index_name, row_index_offset, **options) -> dict:
    if n_rows is not None and n_rows < 0:
        raise OverflowError("`n_rows` must not be negative")
    if row_index_offset < 0:
        raise OverflowError("`row_index_offset` must not be negative")
    return {
        "n_rows": 0 if n_rows is None else n_rows + 1,
        "row_index_name": row_index_name,
        "row_index_offset": row_index_offset,
        **options,
    }


def _refuse_hive(hive_partitioning, hive_schema) -> None:
    if hive_partitioning or hive_schema is not None:
        raise NotImplementedError("hive partitions of IPC scans are not implemented yet (scan and sink options)")


def scan_ipc(
    source, *, n_rows: int | None = None, row_index_name: str | None = None, row_index_offset: int = 0,
    glob: bool = True, storage_options=None, credential_provider="auto", hive_partitioning: bool | None = None,
    hive_schema=None, try_parse_hive_dates: bool = True, include_file_paths: str | None = None,
    _record_batch_statistics: bool = False,
):  # fmt: skip
    """A query over Arrow IPC files: a path, a pattern with *, a folder, or a list of them.

    Only the columns and record batches that the query needs are touched. Uncompressed data is used where it lies in the
    mapped files, which must not be changed while results refer to it. Bytes and open files are read at once.

    When the query runs or its schema is asked for, raises FileNotFoundError for a file that does not exist,
    ComputeError
    for one that is no Arrow file or is damaged, InvalidOperationError for Arrow types without a counterpart,
    SchemaError
    and ColumnNotFoundError for files that differ.
    """
    _refuse_hive(hive_partitioning, hive_schema)
    options = _options(
        n_rows, row_index_name, row_index_offset, no_glob=not glob, include_file_paths=include_file_paths
    )
    sources = sources_of(source)
    if not all(is_path(item) for item in sources):
        with MemoryFiles(sources) as paths:
            return _nanuk.scan_ipc(paths, options)._collect().lazy()
    refuse_remote(sources)
    return _nanuk.scan_ipc([path_text(item) for item in sources], options)


def _read(source, options: dict, columns):
    sources = sources_of(source)
    refuse_remote(sources)
    with MemoryFiles(sources) as paths:
        # the row index comes first, whatever is chosen
        name, offset = options.pop("row_index_name"), options.pop("row_index_offset")
        plan = select_columns(_nanuk.scan_ipc(paths, options), columns)
        if name is not None:
            plan = plan.with_row_index(name, offset)
        return plan._collect()


@removes_arguments(rechunk="`DataFrame.rechunk`")
def read_ipc(
    source, *, columns=None, n_rows: int | None = None, use_pyarrow: bool = False, storage_options=None,
    row_index_name: str | None = None, row_index_offset: int = 0,
):  # fmt: skip
    """A DataFrame of Arrow IPC files: a path, a pattern, a folder, a list of them, bytes or an open file.

    `columns` chooses by name or position. Everything else is as in scan_ipc, and so is what is raised.
    """
    return _read(source, _options(n_rows, row_index_name, row_index_offset), columns)


@removes_arguments(rechunk="`DataFrame.rechunk`")
def read_ipc_stream(
    source, *, columns=None, n_rows: int | None = None, use_pyarrow: bool = False, storage_options=None,
    row_index_name: str | None = None, row_index_offset: int = 0,
):  # fmt: skip
    """A DataFrame of an Arrow IPC stream: a path, bytes or an open file.

    `columns` chooses by name or position. Raises NoDataError for an empty one, ComputeError for one that is cut or
    damaged.
    """
    return _read(source, _options(n_rows, row_index_name, row_index_offset, is_stream=True), columns)


def read_ipc_schema(source) -> dict:
    """Names and dtypes of an Arrow IPC file: a path, bytes or an open file.

    Raises as scan_ipc does.
    """
    with MemoryFiles([source]) as paths:
        return dict(_nanuk.scan_ipc(paths, {}).collect_schema())


def sink_ipc(
    plan, target, *, compression: str | None, compat_level: CompatLevel | None, record_batch_size: int | None = None,
    is_stream: bool = False, mkdir: bool = False,
):  # fmt: skip
    """Run a query into an Arrow file or stream: a path, an open file, or with None a BytesIO, which is returned."""
    compression = compression or "uncompressed"
    if compression not in _COMPRESSIONS:
        names = ", ".join(map(repr, _COMPRESSIONS))
        msg = f"ipc `compression` must be one of {{{names}}}, got {compression}"
        raise ValueError(msg)
    if compat_level is not None and not isinstance(compat_level, CompatLevel):
        msg = f"`compat_level` has invalid type: {type(compat_level).__name__!r}"
        raise TypeError(msg)
    if record_batch_size is not None and record_batch_size < 0:
        raise OverflowError("can't convert negative int to unsigned")
    options = {
        "is_stream": is_stream,
        "compression": compression,
        "no_views": compat_level is not None and compat_level._version == 0,
        "record_batch_rows": record_batch_size or 0,
    }

    def write(path: str) -> None:
        _nanuk.sink_ipc(plan, path, options)

    if target is not None:
        write_target(target, write, mkdir=mkdir)
        return None
    import io

    result = io.BytesIO()
    result.write(written_bytes(write))
    return result

"""Reading and writing files."""

from __future__ import annotations

import os

from nanuk import _nanuk
from nanuk.files import path_text


def _with_temporary(contents: bytes):
    """A path for contents in memory: an unlinked file that only this process sees."""
    import tempfile

    file = tempfile.TemporaryFile()
    file.write(contents)
    file.flush()
    return file, f"/proc/self/fd/{file.fileno()}"


def _paths(source) -> list[str]:
    if isinstance(source, (str, bytes, os.PathLike)):
        return [path_text(source)]
    return [path_text(item) for item in source]


def _refuse(**arguments) -> None:
    """Raise NotImplementedError for an argument that would have to change the answer and does not yet."""
    for name, value in arguments.items():
        if value is not None:
            msg = f"the argument `{name}` of Parquet scans is not implemented yet (scan and sink options)"
            raise NotImplementedError(msg)


def scan_parquet(
    source, *, n_rows: int | None = None, row_index_name: str | None = None, row_index_offset: int = 0,
    parallel: str = "auto", use_statistics: bool = True, hive_partitioning: bool | None = None, glob: bool = True,
    hidden_file_prefix=None, schema=None, hive_schema=None, try_parse_hive_dates: bool = True, rechunk: bool = False,
    low_memory: bool = False, cache: bool = True, storage_options=None, credential_provider="auto",
    include_file_paths: str | None = None, missing_columns: str = "raise", extra_columns: str = "raise",
    cast_options=None,
):  # fmt: skip
    """A query over Parquet files: a path, a pattern with *, a folder, or a list of them.

    Only what the query needs is read: columns, row groups and pages whose statistics do not rule them out. Raises
    FileNotFoundError for a file that does not exist, ComputeError for one that is no Parquet, SchemaError for files
    that differ, when the query runs or its schema is asked for.
    """
    if n_rows is not None and n_rows < 0:
        raise ValueError("`n_rows` must not be negative")
    _refuse(
        hive_partitioning=hive_partitioning or None, hive_schema=hive_schema, schema=schema,
        include_file_paths=include_file_paths, cast_options=cast_options,
        missing_columns=None if missing_columns == "raise" else missing_columns,
        extra_columns=None if extra_columns == "raise" else extra_columns,
        storage_options=storage_options,
    )  # fmt: skip
    if isinstance(source, (bytes, bytearray, memoryview)) or hasattr(source, "read"):
        return read_parquet(
            source, n_rows=n_rows, row_index_name=row_index_name, row_index_offset=row_index_offset
        )._plan()
    return _nanuk.scan_parquet(_paths(source), row_index_name, row_index_offset, 0 if n_rows is None else n_rows + 1)


def read_parquet(
    source, *, columns=None, n_rows: int | None = None, row_index_name: str | None = None, row_index_offset: int = 0,
    parallel: str = "auto", use_statistics: bool = True, hive_partitioning: bool | None = None, glob: bool = True,
    schema=None, hive_schema=None, try_parse_hive_dates: bool = True, low_memory: bool = False, storage_options=None,
    credential_provider="auto", memory_map: bool = True, include_file_paths: str | None = None,
    missing_columns: str = "raise", use_pyarrow: bool = False, pyarrow_options=None,
):  # fmt: skip
    """A DataFrame of Parquet files: a path, a pattern, a folder, a list of them, bytes or an open file.

    `columns` chooses by name or position. Raises as scan_parquet does.
    """
    _refuse(
        hive_partitioning=hive_partitioning or None, hive_schema=hive_schema, schema=schema,
        include_file_paths=include_file_paths, missing_columns=None if missing_columns == "raise" else missing_columns,
        storage_options=storage_options,
    )  # fmt: skip
    file = None
    if hasattr(source, "read") and not isinstance(source, (str, bytes, os.PathLike)):
        file, source = _with_temporary(source.read())
    elif isinstance(source, (bytes, bytearray, memoryview)):
        file, source = _with_temporary(bytes(source))
    try:
        plan = scan_parquet(source, n_rows=n_rows, row_index_name=row_index_name, row_index_offset=row_index_offset)
        if columns is not None:
            if columns and isinstance(columns[0], int):
                plan = plan._select([_nanuk.positions(tuple(columns))], False)
            else:
                plan = plan._select(list(columns), False)
        return plan._collect()
    finally:
        if file is not None:
            file.close()


def read_parquet_schema(source) -> dict:
    """Names and dtypes of a Parquet file."""
    return dict(scan_parquet(source).collect_schema())


_COMPRESSIONS = ("zstd", "snappy", "lz4", "uncompressed")


def sink_parquet(plan, target, *, compression: str | None, row_group_size: int | None, mkdir: bool = False) -> None:
    """Run a query into a Parquet file.

    Raises ValueError for an unknown compression.
    """
    if compression not in (None, *_COMPRESSIONS):
        msg = f"`compression` must be one of {', '.join(map(repr, _COMPRESSIONS))}, got {compression!r}"
        raise ValueError(msg)
    if not hasattr(target, "write"):
        path = path_text(target)
        if mkdir:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        plan._sink_parquet(path, compression, row_group_size or 0)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sink.parquet")
        plan._sink_parquet(path, compression, row_group_size or 0)
        with open(path, "rb") as file:
            target.write(file.read())

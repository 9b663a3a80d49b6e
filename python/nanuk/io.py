"""Reading and writing Parquet."""

from __future__ import annotations

from collections.abc import Mapping

from nanuk import _nanuk
from nanuk.files import (
    MemoryFiles,
    is_path,
    path_text,
    refuse_remote,
    select_columns,
    sources_of,
    write_target,
)
from nanuk.parse import dtype_text

_COMPRESSIONS = ("zstd", "snappy", "gzip", "brotli", "lz4", "uncompressed")


def _fields(schema, kind: str) -> dict:
    if schema is None:
        return {}
    items = list(schema.items() if isinstance(schema, Mapping) else schema)
    return {
        f"{kind}_names": [name for name, _ in items],
        f"{kind}_dtypes": [dtype_text(dtype) for _, dtype in items],
    }


def _choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        msg = f"`{name}` must be one of {{{', '.join(map(repr, choices))}}}, got {value}"
        raise TypeError(msg)
    return value


def _options(
    *, n_rows, row_index_name, row_index_offset, hive_partitioning, glob, schema, hive_schema, try_parse_hive_dates,
    include_file_paths, missing_columns, extra_columns, storage_options, cast_options=None, hidden_file_prefix=None,
) -> dict:  # fmt: skip
    for name, value in (("cast_options", cast_options), ("hidden_file_prefix", hidden_file_prefix),
                        ("storage_options", storage_options)):  # fmt: skip
        if value is not None:
            msg = f"the argument `{name}` of Parquet scans is not implemented yet (scan and sink options)"
            raise NotImplementedError(msg)
    for name, value in (("n_rows", n_rows or 0), ("row_index_offset", row_index_offset)):
        if value < 0:
            msg = f"`{name}` must not be negative"
            raise OverflowError(msg)
    return {
        "no_glob": not glob,
        **_fields(schema, "schema"),
        "insert_missing_columns": _choice("missing_columns", missing_columns, ("insert", "raise")) == "insert",
        "ignore_extra_columns": _choice("extra_columns", extra_columns, ("ignore", "raise")) == "ignore",
        "hive_partitioning": 0 if hive_partitioning is None else 1 if hive_partitioning else -1,
        **_fields(hive_schema, "hive"),
        "no_hive_dates": not try_parse_hive_dates,
        "include_file_paths": include_file_paths,
        "row_index_name": row_index_name,
        "row_index_offset": row_index_offset,
        "n_rows": 0 if n_rows is None else n_rows + 1,
    }


def scan_parquet(
    source, *, n_rows: int | None = None, row_index_name: str | None = None, row_index_offset: int = 0,
    parallel: str = "auto", use_statistics: bool = True, hive_partitioning: bool | None = None, glob: bool = True,
    hidden_file_prefix=None, schema=None, hive_schema=None, try_parse_hive_dates: bool = True, rechunk: bool = False,
    low_memory: bool = False, cache: bool = True, storage_options=None, credential_provider="auto",
    include_file_paths: str | None = None, missing_columns: str = "raise", extra_columns: str = "raise",
    cast_options=None,
):  # fmt: skip
    """A query over Parquet files: a path, a pattern with *, a folder, or a list of them.

    Only what the query needs is read: columns, row groups and pages whose statistics do not rule them out. Folders named
    `key=value` are columns (`hive_partitioning`; by default where the source is one folder), whose dtypes are inferred or
    those of `hive_schema`; files that they rule out are not read. `schema` says what columns there are instead of the
    first file; `missing_columns="insert"` makes those that a file lacks null, `extra_columns="ignore"` leaves out those
    that it has besides. Bytes and open files are read at once.

    When the query runs or its schema is asked for, raises FileNotFoundError for a file that does not exist, ComputeError
    for one that is no Parquet, ColumnNotFoundError and SchemaError for files that differ.
    """
    options = _options(
        n_rows=n_rows, row_index_name=row_index_name, row_index_offset=row_index_offset,
        hive_partitioning=hive_partitioning, glob=glob, schema=schema, hive_schema=hive_schema,
        try_parse_hive_dates=try_parse_hive_dates, include_file_paths=include_file_paths,
        missing_columns=missing_columns, extra_columns=extra_columns, storage_options=storage_options,
        cast_options=cast_options, hidden_file_prefix=hidden_file_prefix,
    )  # fmt: skip
    sources = sources_of(source)
    if not all(is_path(item) for item in sources):
        with MemoryFiles(sources) as paths:
            return _nanuk.scan_parquet(paths, options)._collect().lazy()
    refuse_remote(sources)
    return _nanuk.scan_parquet([path_text(item) for item in sources], options)


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
    options = _options(
        n_rows=n_rows, row_index_name=row_index_name, row_index_offset=row_index_offset,
        hive_partitioning=hive_partitioning, glob=glob, schema=schema, hive_schema=hive_schema,
        try_parse_hive_dates=try_parse_hive_dates, include_file_paths=include_file_paths,
        missing_columns=missing_columns, extra_columns="raise", storage_options=storage_options,
    )  # fmt: skip
    sources = sources_of(source)
    refuse_remote(sources)
    with MemoryFiles(sources) as paths:
        return select_columns(_nanuk.scan_parquet(paths, options), columns)._collect()


def read_parquet_schema(source) -> dict:
    """Names and dtypes of a Parquet file: a path, bytes or an open file.

    Raises as scan_parquet does.
    """
    with MemoryFiles([source]) as paths:
        return dict(_nanuk.scan_parquet(paths, {}).collect_schema())


def sink_parquet(
    plan, target, *, compression: str | None, row_group_size: int | None, compression_level: int | None = None,
    statistics=True, mkdir: bool = False,
) -> None:  # fmt: skip
    """Run a query into a Parquet file: a path or an open file.

    Raises ValueError for an unknown compression and for a level that it does not have.
    """
    if compression not in (None, *_COMPRESSIONS):
        msg = f"`compression` must be one of {', '.join(map(repr, _COMPRESSIONS))}, got {compression!r}"
        raise ValueError(msg)
    options = {
        "compression": compression,
        "has_level": compression_level is not None,
        "compression_level": compression_level or 0,
        "no_statistics": statistics is False,
        "row_group_rows": row_group_size or 0,
    }

    def write(path: str) -> None:
        _nanuk.sink_parquet(plan, path, options)

    if target is None:
        raise TypeError("expected a path or an open file")
    write_target(target, write, mkdir=mkdir)

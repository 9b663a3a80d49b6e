"""Reading and writing JSON: lines of objects (NDJSON) and documents."""

from __future__ import annotations

from collections.abc import Mapping

from nanuk import _nanuk
from nanuk.files import (
    MemoryFiles,
    check_suffix,
    is_path,
    path_text,
    refuse_remote,
    sources_of,
    write_target,
    written_bytes,
)
from nanuk.parse import dtype_text, removes_arguments


def _fields(schema, kind: str) -> dict:
    if schema is None:
        return {}
    items = list(schema.items() if isinstance(schema, Mapping) else schema)
    return {
        f"{kind}_names": [item if isinstance(item, str) else item[0] for item in items],
        f"{kind}_dtypes": [dtype_text("String" if isinstance(item, str) else item[1]) for item in items],
    }


def _options(schema, schema_overrides, infer_schema_length, **options) -> dict:
    if infer_schema_length is not None and infer_schema_length < 1:
        raise ValueError("'infer_schema_length' should be positive")
    return {
        **_fields(schema, "schema"),
        **_fields(schema_overrides, "override"),
        "infer_rows": -1 if infer_schema_length is None else infer_schema_length,
        **options,
    }


@removes_arguments(row_count_name="`row_index_name`", row_count_offset="`row_index_offset`")
def scan_ndjson(
    source, *, schema=None, schema_overrides=None, infer_schema_length: int | None = 100,
    batch_size: int | None = 1024, n_rows: int | None = None, low_memory: bool = False,
    row_index_name: str | None = None, row_index_offset: int = 0, ignore_errors: bool = False, storage_options=None,
    credential_provider="auto", include_file_paths: str | None = None,
):  # fmt: skip
    """A query over NDJSON files: a path, a pattern with *, a folder, or a list of them; plain, gzip, zlib or zstd.

    Dtypes are inferred from the first `infer_schema_length` lines (None: from all) of the first file: Boolean, Int64,
    Int128, Float64, String, List and Struct; `schema_overrides` and `schema` set them. Keys that are no column are left
    out, columns without a key are null. Bytes and open files are read at once. `batch_size` and `low_memory` change
    nothing.

    When the query runs or its schema is asked for, raises FileNotFoundError for a file that does not exist,
    SchemaError for lines that no dtype holds, ColumnNotFoundError for overrides of no column, and ComputeError,
    with the line, for what is no JSON or not of its column's dtype; with `ignore_errors` the latter is null.
    """
    for name, value in (("n_rows", n_rows or 0), ("row_index_offset", row_index_offset)):
        if value < 0:
            msg = f"`{name}` must not be negative"
            raise OverflowError(msg)
    options = _options(
        schema, schema_overrides, infer_schema_length, ignore_errors=ignore_errors,
        include_file_paths=include_file_paths, row_index_name=row_index_name, row_index_offset=row_index_offset,
        n_rows=0 if n_rows is None else n_rows + 1,
    )  # fmt: skip
    sources = sources_of(source)
    if not all(is_path(item) for item in sources):
        with MemoryFiles(sources) as paths:
            return _nanuk.scan_ndjson(paths, options)._collect().lazy()
    refuse_remote(sources)
    return _nanuk.scan_ndjson([path_text(item) for item in sources], options)


def read_ndjson(source, **options):
    """A DataFrame of NDJSON: a path, a pattern, a folder, bytes, an open file, or a list of them.

    Takes the arguments of scan_ndjson, and raises what it does.
    """
    return scan_ndjson(source, **options)._collect()


def read_json(source, *, schema=None, schema_overrides=None, infer_schema_length: int | None = 100):
    """A DataFrame of one JSON document, an array of objects or one object: a path, bytes or an open file.

    Dtypes are inferred from the first `infer_schema_length` objects (None: from all). Numbers that do not fit their
    column are null. Raises FileNotFoundError, SchemaError for objects that no dtype holds, ColumnNotFoundError for
    overrides of no column, and ComputeError for what is no JSON, for values that their column's dtype cannot hold, and
    without `schema` for keys that are no column.
    """
    refuse_remote([source])
    if isinstance(source, str) and source.lstrip()[:1] in ("[", "{"):
        source = source.encode()
    with MemoryFiles([source]) as paths:
        return _nanuk.read_json(paths[0], _options(schema, schema_overrides, infer_schema_length))


def sink_json(
    plan, target, *, is_document: bool = False, compression: str = "uncompressed",
    compression_level: int | None = None, check_extension: bool = True, mkdir: bool = False,
) -> str | None:  # fmt: skip
    """Run a query into JSON: a path, an open file, or with None the text itself."""
    check_suffix(target, compression, check_extension=check_extension)
    options = {
        "is_document": is_document,
        "compression": compression,
        "compression_level": 0 if compression_level is None else compression_level + 1,
    }

    def write(path: str) -> None:
        _nanuk.sink_json(plan, path, options)

    if target is None:
        return written_bytes(write).decode()
    write_target(target, write, mkdir=mkdir)
    return None

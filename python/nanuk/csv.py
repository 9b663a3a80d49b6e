"""Reading and writing CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nanuk import _nanuk
from nanuk.exceptions import ShapeError
from nanuk.files import (
    MemoryFiles,
    check_suffix,
    contents_of,
    is_path,
    path_text,
    read_bytes,
    refuse_remote,
    sources_of,
    write_target,
    written_bytes,
)
from nanuk.parse import dtype_text, removes_arguments

_QUOTE_STYLES = ("always", "necessary", "non_numeric", "never")
_GONE = {
    "dtypes": "`schema_overrides`",
    "row_count_name": "`row_index_name`",
    "row_count_offset": "`row_index_offset`",
    "rechunk": "`DataFrame.rechunk`",
}


def _check_byte(name: str, value: str | None, *, may_be_empty: bool = False) -> None:
    """Raise ValueError unless a mark is one byte."""
    if isinstance(value, str):
        n = len(value.encode())
        if n > 1 or (n == 0 and not may_be_empty):
            msg = f'{name}="{value}" should be a single byte character, but is {n} bytes long'
            raise ValueError(msg)


def _overrides(schema_overrides) -> dict:
    if schema_overrides is None:
        return {}
    if isinstance(schema_overrides, Mapping):
        return {
            "override_names": list(schema_overrides),
            "override_dtypes": [dtype_text(dtype) for dtype in schema_overrides.values()],
        }
    if isinstance(schema_overrides, Sequence) and not isinstance(schema_overrides, str):
        return {"override_dtypes": [dtype_text(dtype) for dtype in schema_overrides]}
    msg = f"`schema_overrides` should be a mapping or a sequence, got {type(schema_overrides).__name__!r}"
    raise TypeError(msg)


def _nulls(null_values) -> dict:
    if null_values is None:
        return {}
    if isinstance(null_values, str):
        return {"null_values": [null_values]}
    if isinstance(null_values, Mapping):
        return {"null_columns": list(null_values), "null_values": list(null_values.values())}
    items = list(null_values)
    if items and all(isinstance(item, tuple) for item in items):
        return {"null_columns": [name for name, _ in items], "null_values": [text for _, text in items]}
    return {"null_values": items}


class _Memory(MemoryFiles):
    """Sources in an encoding as files of UTF-8."""

    def __init__(self, sources: list, encoding: str) -> None:
        super().__init__([_Encoded(source) if encoding not in ("utf8", "utf8-lossy") else source for source in sources])
        self.encoding = encoding

    def contents(self, source) -> bytes:
        if not isinstance(source, _Encoded):
            return contents_of(source)
        contents = read_bytes(source.source) if is_path(source.source) else contents_of(source.source)
        if contents[:2] == b"\x1f\x8b":
            import gzip

            contents = gzip.decompress(contents)
        lossy = self.encoding.endswith("-lossy")
        return contents.decode(self.encoding.removesuffix("-lossy"), "replace" if lossy else "strict").encode()


class _Encoded:
    """A source, maybe a path, that is to be decoded."""

    def __init__(self, source) -> None:
        self.source = source


def _rename(make, options: dict, with_column_names) -> dict:
    """The options, with the names that a function makes of the file's."""
    untyped = {**options, "override_names": None, "override_dtypes": None, "include_file_paths": None}
    names = make(untyped).collect_schema().names()
    renamed = list(with_column_names(names))
    if len(renamed) != len(names):
        msg = (
            f"The length of the new names list ({len(renamed)}) should be equal to the original column length "
            f"({len(names)})"
        )
        raise ShapeError(msg)
    return {**options, "new_names": renamed}


def _options(
    *, has_header, separator, comment_prefix, quote_char, skip_rows, skip_lines, schema, schema_overrides, null_values,
    empty_string_is_null, ignore_errors, infer_schema, infer_schema_length, infer_schema_files, n_rows, encoding,
    skip_rows_after_header, row_index_name, row_index_offset, try_parse_dates, eol_char, new_columns,
    truncate_ragged_lines, raise_if_empty, decimal_comma, glob, include_file_paths, extra_columns, missing_columns,
) -> dict:  # fmt: skip
    """The options of the C library."""
    _check_byte("separator", separator)
    _check_byte("quote_char", quote_char, may_be_empty=True)
    _check_byte("eol_char", eol_char)
    if raise_if_empty is None:
        raise_if_empty = schema is None or has_header
    for name, value in (("skip_rows", skip_rows), ("skip_lines", skip_lines), ("n_rows", n_rows or 0),
                        ("skip_rows_after_header", skip_rows_after_header), ("row_index_offset", row_index_offset),
                        ("infer_schema_length", infer_schema_length or 0)):  # fmt: skip
        if value < 0:
            raise OverflowError(f"`{name}` must not be negative")
    if extra_columns not in (None, "ignore", "raise"):
        raise ValueError(f"`extra_columns` must be one of {{'ignore', 'raise'}}, got {extra_columns}")
    if missing_columns not in (None, "insert", "raise"):
        raise ValueError(f"`missing_columns` must be one of {{'insert', 'raise'}}, got {missing_columns}")
    if extra_columns == "ignore" and truncate_ragged_lines is False:
        raise ValueError("cannot set truncate_ragged_lines=False with extra_columns='ignore'")
    if infer_schema_length is None:
        infer_rows = -1
    else:
        infer_rows = infer_schema_length + 1
    options = {
        "no_header": not has_header,
        "separator": separator,
        "comment_prefix": comment_prefix,
        "quote_char": quote_char if quote_char else "",
        "eol_char": eol_char,
        "skip_rows": skip_rows,
        "skip_lines": skip_lines,
        "skip_rows_after_header": skip_rows_after_header,
        "keep_empty_strings": not empty_string_is_null,
        "ignore_errors": ignore_errors,
        "lossy": encoding == "utf8-lossy",
        "try_parse_dates": try_parse_dates,
        "truncate_ragged_lines": extra_columns == "ignore" if truncate_ragged_lines is None else truncate_ragged_lines,
        "decimal_comma": decimal_comma,
        "allow_empty": not raise_if_empty,
        "no_glob": not glob,
        "ignore_extra_columns": extra_columns == "ignore",
        "insert_missing_columns": missing_columns == "insert",
        "infer_rows": infer_rows if infer_schema else 1,
        "infer_files": infer_schema_files,
        "include_file_paths": include_file_paths,
        "row_index_name": row_index_name,
        "row_index_offset": row_index_offset,
        "n_rows": 0 if n_rows is None else n_rows + 1,
        **_nulls(null_values),
    }
    if schema is not None:
        items = schema.items() if isinstance(schema, Mapping) else schema
        items = list(items)
        options["schema_names"] = [name for name, _ in items]
        options["schema_dtypes"] = [dtype_text(dtype) for _, dtype in items]
    else:
        options.update(_overrides(schema_overrides))
    if new_columns is not None:
        options["new_names"] = list(new_columns)
    return options


@removes_arguments(**_GONE)
def scan_csv(
    source, *, has_header: bool = True, separator: str = ",", comment_prefix: str | None = None,
    quote_char: str | None = '"', skip_rows: int = 0, skip_lines: int = 0, schema=None, schema_overrides=None,
    null_values=None, empty_string_is_null: bool = True, ignore_errors: bool = False, with_column_names=None,
    infer_schema: bool = True, infer_schema_length: int | None = 100, infer_schema_files: int = 10,
    n_rows: int | None = None, encoding: str = "utf8", low_memory: bool = False, skip_rows_after_header: int = 0,
    row_index_name: str | None = None, row_index_offset: int = 0, try_parse_dates: bool = False, eol_char: str = "\n",
    new_columns=None, truncate_ragged_lines: bool | None = None, raise_if_empty: bool | None = None,
    decimal_comma: bool = False, glob: bool = True, storage_options=None, credential_provider="auto",
    include_file_paths: str | None = None, extra_columns: str | None = None, missing_columns: str | None = None,
):  # fmt: skip
    """A query over CSV files: a path, a pattern with *, a folder, or a list of them; plain, gzip, zlib or zstd.

    Dtypes are inferred from the first `infer_schema_length` rows (None: from all) of the first `infer_schema_files`
    files: Int64, Int128, Float64, Boolean, with `try_parse_dates` Date, Datetime and Time, and String otherwise;
    `schema_overrides` and `schema` set them. Only columns that the query needs are converted, and of rows that its
    filters drop no more than the filters' columns. Bytes and open files are read at once.

    When the query runs or its schema is asked for, raises FileNotFoundError for a file that does not exist,
    NoDataError for one without anything (unless `raise_if_empty=False`), SchemaError where columns and `schema` or
    several files differ, and ComputeError for what cannot be read, with line and column.
    """
    if encoding not in ("utf8", "utf8-lossy"):
        msg = f"`encoding` must be one of {{'utf8', 'utf8-lossy'}}, got {encoding}"
        raise ValueError(msg)
    if new_columns is not None and with_column_names is not None:
        raise ValueError("cannot set both `with_column_names` and `new_columns`; mutually exclusive")
    options = _options(
        has_header=has_header, separator=separator, comment_prefix=comment_prefix, quote_char=quote_char,
        skip_rows=skip_rows, skip_lines=skip_lines, schema=schema, schema_overrides=schema_overrides,
        null_values=null_values, empty_string_is_null=empty_string_is_null, ignore_errors=ignore_errors,
        infer_schema=infer_schema, infer_schema_length=infer_schema_length, infer_schema_files=infer_schema_files,
        n_rows=n_rows, encoding=encoding, skip_rows_after_header=skip_rows_after_header,
        row_index_name=row_index_name, row_index_offset=row_index_offset, try_parse_dates=try_parse_dates,
        eol_char=eol_char, new_columns=new_columns, truncate_ragged_lines=truncate_ragged_lines,
        raise_if_empty=raise_if_empty, decimal_comma=decimal_comma, glob=glob, include_file_paths=include_file_paths,
        extra_columns=extra_columns, missing_columns=missing_columns,
    )  # fmt: skip
    sources = sources_of(source)
    if not all(is_path(item) for item in sources):
        with _Memory(sources, "utf8") as paths:
            return _plan(paths, options, with_column_names)._collect().lazy()
    refuse_remote(sources)
    return _plan([path_text(item) for item in sources], options, with_column_names)


def _plan(paths: list[str], options: dict, with_column_names):
    def make(options):
        return _nanuk.scan_csv(paths, options)

    if with_column_names is not None:
        options = _rename(make, options, with_column_names)
    return make(options)


@removes_arguments(
    **_GONE, n_threads="the environment variable NANUK_MAX_THREADS", batch_size=None, sample_size=None,
    missing_utf8_is_empty_string="`empty_string_is_null`",
)  # fmt: skip
def read_csv(
    source, *, columns=None, has_header: bool = True, separator: str = ",", comment_prefix: str | None = None,
    quote_char: str | None = '"', skip_rows: int = 0, skip_lines: int = 0, schema=None, schema_overrides=None,
    null_values=None, empty_string_is_null: bool = True, ignore_errors: bool = False, with_column_names=None,
    infer_schema: bool = True, infer_schema_length: int | None = 100, infer_schema_files: int = 10,
    n_rows: int | None = None, encoding: str = "utf8", low_memory: bool = False, skip_rows_after_header: int = 0,
    row_index_name: str | None = None, row_index_offset: int = 0, try_parse_dates: bool = False, eol_char: str = "\n",
    new_columns=None, truncate_ragged_lines: bool | None = None, raise_if_empty: bool | None = None,
    decimal_comma: bool = False, glob: bool = True, storage_options=None, credential_provider="auto",
    include_file_paths: str | None = None, extra_columns: str | None = None, missing_columns: str | None = None,
    use_pyarrow: bool = False,
):  # fmt: skip
    """A DataFrame of CSV: a path, a pattern, a folder, bytes, an open file, or a list of them.

    `columns` chooses by name or position. `encoding` may be any that Python knows, with "-lossy" behind it to replace
    what does not decode. Everything else is as in scan_csv, and so is what is raised; `use_pyarrow` changes nothing but
    the reader in Polars, and nothing here.
    """
    if columns is not None and not has_header and new_columns is None and schema is None:
        for column in columns:
            if isinstance(column, str) and not column.startswith("column_"):
                raise ValueError(
                    "specified column names do not start with 'column_', but autogenerated header names were requested"
                )
    if new_columns is not None and with_column_names is not None:
        raise ValueError("cannot set both `with_column_names` and `new_columns`; mutually exclusive")
    options = _options(
        has_header=has_header, separator=separator, comment_prefix=comment_prefix, quote_char=quote_char,
        skip_rows=skip_rows, skip_lines=skip_lines, schema=schema, schema_overrides=schema_overrides,
        null_values=null_values, empty_string_is_null=empty_string_is_null, ignore_errors=ignore_errors,
        infer_schema=infer_schema, infer_schema_length=infer_schema_length, infer_schema_files=infer_schema_files,
        n_rows=n_rows, encoding=encoding, skip_rows_after_header=skip_rows_after_header, row_index_name=None,
        row_index_offset=row_index_offset, try_parse_dates=try_parse_dates, eol_char=eol_char,
        new_columns=new_columns, truncate_ragged_lines=truncate_ragged_lines, raise_if_empty=raise_if_empty,
        decimal_comma=decimal_comma, glob=glob, include_file_paths=include_file_paths, extra_columns=extra_columns,
        missing_columns=missing_columns,
    )  # fmt: skip
    sources = sources_of(source)
    if all(is_path(item) for item in sources) and encoding in ("utf8", "utf8-lossy"):
        refuse_remote(sources)
        paths = [path_text(item) for item in sources]
        return _read(paths, options, with_column_names, columns, row_index_name, row_index_offset)
    with _Memory(sources, encoding) as paths:
        return _read(paths, options, with_column_names, columns, row_index_name, row_index_offset)


def _read(paths: list[str], options: dict, with_column_names, columns, row_index_name, row_index_offset: int):
    plan = _plan(paths, options, with_column_names)
    if columns is not None:
        columns = list(columns)
        if columns and isinstance(columns[0], int):
            plan = plan._select([_nanuk.positions(tuple(columns))], False)
        else:
            plan = plan._select(columns, False)
    if row_index_name is not None:
        plan = plan.with_row_index(row_index_name, row_index_offset)
    return plan._collect()


def sink_csv(
    plan, target, *, include_bom: bool, compression: str, compression_level: int | None, check_extension: bool,
    include_header: bool, separator: str, line_terminator: str, quote_char: str, batch_size: int,
    datetime_format: str | None, date_format: str | None, time_format: str | None, float_scientific: bool | None,
    float_precision: int | None, decimal_comma: bool, null_value: str | None, quote_style: str | None,
    mkdir: bool = False,
) -> str | None:  # fmt: skip
    """Run a query into CSV: a path, an open file, or with None the text itself."""
    _check_byte("separator", separator)
    _check_byte("quote_char", quote_char)
    if batch_size < 1:
        raise ValueError("invalid zero value")
    if quote_style is not None and quote_style not in _QUOTE_STYLES:
        msg = f"`quote_style` must be one of {{{', '.join(map(repr, _QUOTE_STYLES))}}}, got {quote_style}"
        raise ValueError(msg)
    check_suffix(target, compression, check_extension=check_extension)
    options = {
        "include_bom": include_bom,
        "no_header": not include_header,
        "decimal_comma": decimal_comma,
        "separator": separator,
        "quote_char": quote_char,
        "line_terminator": line_terminator,
        "null_value": null_value,
        "quote_style": quote_style,
        "date_format": date_format,
        "time_format": time_format,
        "datetime_format": datetime_format,
        "float_scientific": 0 if float_scientific is None else 1 if float_scientific else -1,
        "float_precision": 0 if float_precision is None else float_precision + 1,
        "compression": compression,
        "compression_level": 0 if compression_level is None else compression_level + 1,
    }

    def write(path: str) -> None:
        _nanuk.sink_csv(plan, path, options)

    if target is None:
        return written_bytes(write).decode()
    write_target(target, write, mkdir=mkdir)
    return None

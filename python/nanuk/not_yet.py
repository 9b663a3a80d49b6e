"""What the API has and this version lacks: one table of families. A name from here is a function that raises
NotImplementedError when it is called, or a class that does so when it is made; the README lists the families."""

from __future__ import annotations

# family -> names; capital letters begin a class.
FAMILIES = {
    "categorical dtypes": ("Categories", "StringCache", "enable_string_cache", "disable_string_cache", "using_string_cache"),
    "extension and map dtypes": (
        "BaseExtension", "Extension", "Map", "register_extension_type", "unregister_extension_type", "get_extension_type",
    ),
    "expressions of dtypes": ("DataTypeExpr", "dtype_of", "self_dtype", "struct_with_fields"),
    "IPC files": (
        "read_ipc", "read_ipc_schema", "read_ipc_stream", "scan_ipc", "scan_arrow_c_stream",
    ),
    "JSON files": ("read_json", "read_ndjson", "scan_ndjson"),
    "CSV files": ("read_csv", "scan_csv"),
    "lines, Avro, spreadsheets and databases": (
        "read_lines", "scan_lines", "read_avro", "read_excel", "read_ods", "read_clipboard", "read_database",
        "read_database_uri",
    ),
    "table formats": (
        "read_delta", "scan_delta", "scan_iceberg", "delete_iceberg", "scan_lance", "scan_pyarrow_dataset",
        "scan_external_reader", "defer",
    ),
    "scan and sink options": (
        "ScanCastOptions", "PartitionBy", "FileProviderArgs", "ParquetDecryptionProperties",
        "ParquetEncryptionProperties", "read_parquet_metadata",
    ),
    "clouds and remote engines": (
        "CredentialProvider", "CredentialProviderAWS", "CredentialProviderAzure", "CredentialProviderGCP",
        "CredentialProviderFunction", "CredentialProviderFunctionReturn", "Engine", "GPUEngine", "RemoteEngine",
        "InMemoryEngine", "StreamingEngine", "Catalog", "collect_all_async",
    ),
    "SQL": ("SQLContext", "sql", "sql_expr"),
    "ranges of dates and times": (
        "date_range", "date_ranges", "datetime_range", "datetime_ranges", "time_range", "time_ranges",
        "business_day_count", "from_epoch",
    ),
    "ranges of numbers": ("int_ranges", "linear_space", "linear_spaces"),
    "nested values": (
        "concat_arr", "cum_sum_horizontal", "cum_fold", "cum_reduce",
        "json_normalize",
    ),
    "functions written in Python": ("map_batches", "map_groups"),
    "rolling statistics of two columns": ("rolling_corr", "rolling_cov"),
    "other functions": ("datetime", "duration", "time", "row_index", "approx_quantile", "register_plugin_function"),
}  # fmt: skip

_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names}


def stand_in(name: str):
    """What stands for a name of the API that is lacking; None when the API has no such name."""
    family = _FAMILY_OF.get(name)
    if family is None:
        return None
    message = f"`{name}` is not implemented yet ({family})"

    def fail(*args, **kwargs):
        raise NotImplementedError(message)

    if name[0].isupper():
        return type(name, (), {"__init__": fail, "__doc__": message})
    fail.__name__ = fail.__qualname__ = name
    fail.__doc__ = message
    return fail

"""What the API has and this version lacks: one table of families. A name from here is a function that raises
NotImplementedError when it is called, or a class that does so when it is made; the README lists the families."""

from __future__ import annotations

# family -> names; capital letters begin a class.
FAMILIES = {
    "extension and map dtypes": (
        "BaseExtension", "Extension", "Map", "register_extension_type", "unregister_extension_type", "get_extension_type",
    ),
    "expressions of dtypes": ("DataTypeExpr", "dtype_of", "self_dtype", "struct_with_fields"),
    "Arrow streams of other libraries": ("scan_arrow_c_stream",),
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
        "CredentialProviderFunction", "CredentialProviderFunctionReturn", "GPUEngine", "RemoteEngine", "Catalog",
        "collect_all_async",
    ),
    "nested values": (
        "concat_arr", "cum_sum_horizontal",
        "json_normalize",
    ),
    "rolling statistics of two columns": ("rolling_corr", "rolling_cov"),
    "other functions": ("row_index", "approx_quantile", "register_plugin_function"),
}  # fmt: skip

# class -> family -> methods.
METHODS = {
    "DataFrame": {
        "lines, Avro, spreadsheets and databases": ("write_avro", "write_excel", "write_clipboard", "write_database"),
        "table formats": ("write_delta", "write_iceberg"),
        "other libraries": ("to_jax", "to_torch", "plot", "style"),
    },
    "LazyFrame": {
        "table formats": ("sink_delta", "sink_iceberg"),
        "clouds and remote engines": ("remote", "execute", "from_lazyframe_resolver"),
        "graphs": ("show_graph",),
    },
    "Series": {"other libraries": ("to_jax", "to_torch", "plot")},
    "Expr": {"graphs": ()},
}

_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names}


def stand_in(name: str):
    """What stands for a name of the API that is lacking; None when the API has no such name."""
    family = _FAMILY_OF.get(name)
    if family is None:
        return None
    return _failing(name, f"`{name}` is not implemented yet ({family})")


def add_methods(owner: type) -> None:
    """Give a class the methods that it lacks, which raise when they are called."""
    for family, names in METHODS[owner.__name__].items():
        for name in names:
            if not hasattr(owner, name):
                setattr(owner, name, _failing(name, f"`{owner.__name__}.{name}` is not implemented yet ({family})"))


def _failing(name: str, message: str):
    def fail(*args, **kwargs):
        raise NotImplementedError(message)

    if name[0].isupper():
        return type(name, (), {"__init__": fail, "__doc__": message})
    fail.__name__ = fail.__qualname__ = name
    fail.__doc__ = message
    return fail

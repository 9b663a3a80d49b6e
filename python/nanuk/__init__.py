"""nanuk: DataFrames and queries on Arrow data, with the API of Polars.

import nanuk as pl

pl.scan_parquet("lineitem.parquet").filter(pl.col("l_quantity") > 30).select(pl.len()).collect()
"""

from nanuk import _nanuk, exceptions
from nanuk.datatypes import (
    Array,
    Binary,
    Boolean,
    Categorical,
    DataType,
    Date,
    Datetime,
    Decimal,
    Duration,
    Enum,
    Field,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Int128,
    List,
    Null,
    Object,
    String,
    Struct,
    Time,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UInt128,
    Unknown,
    Utf8,
)
from nanuk.datatypes import _from_text as _dtype_from_text
from nanuk.datatypes.categories import Categories
from nanuk.dataframe import DataFrame
from nanuk.expr import Expr
from nanuk.functions import (
    all,
    all_horizontal,
    any,
    any_horizontal,
    approx_n_unique,
    arctan2,
    arg_sort_by,
    coalesce,
    col,
    collect_all,
    concat,
    concat_str,
    count,
    cum_count,
    cum_fold,
    cum_reduce,
    cum_sum,
    exclude,
    first,
    fold,
    format,
    get_index_type,
    head,
    implode,
    last,
    len,
    lit,
    map_batches,
    map_groups,
    max,
    max_horizontal,
    mean,
    mean_horizontal,
    median,
    min,
    min_horizontal,
    n_unique,
    nth,
    quantile,
    reduce,
    select,
    set_random_seed,
    std,
    sum,
    sum_horizontal,
    tail,
    thread_pool_size,
    var,
    when,
)
from nanuk.functions_nested import concat_list, element, field, list, struct
from nanuk.lazyframe import LazyFrame
from nanuk.opt_flags import QueryOptFlags
from nanuk.schema import Schema
from nanuk.series import Series

__version__ = _nanuk.version

_nanuk.set_exceptions(exceptions._BY_STATUS)
_nanuk.set_classes({"Expr": Expr, "Series": Series, "DataFrame": DataFrame, "LazyFrame": LazyFrame})
_nanuk.set_dtype_factory(_dtype_from_text)

# What takes longer to import than it is worth at once: name -> module.
_LAZY = {
    "CompatLevel": "ipc",
    "Config": "config",
    "Engine": "engine",
    "InMemoryEngine": "engine",
    "SQLContext": "sql_context",
    "StringCache": "string_cache",
    "StreamingEngine": "engine",
    "align_frames": "combine",
    "arange": "ranges",
    "arg_where": "ranges",
    "build_info": "meta",
    "business_day_count": "temporal",
    "corr": "statistics",
    "cov": "statistics",
    "date": "temporal",
    "date_range": "temporal",
    "date_ranges": "temporal",
    "datetime": "temporal",
    "datetime_range": "temporal",
    "datetime_ranges": "temporal",
    "disable_string_cache": "string_cache",
    "duration": "temporal",
    "enable_string_cache": "string_cache",
    "from_arrow": "convert",
    "from_dict": "convert",
    "from_dicts": "convert",
    "from_epoch": "temporal",
    "from_numpy": "convert",
    "from_pandas": "convert",
    "from_records": "convert",
    "int_range": "ranges",
    "int_ranges": "ranges",
    "linear_space": "ranges",
    "linear_spaces": "ranges",
    "merge_sorted": "combine",
    "ones": "ranges",
    "read_csv": "csv",
    "read_ipc": "ipc",
    "read_ipc_schema": "ipc",
    "read_ipc_stream": "ipc",
    "read_json": "json",
    "read_ndjson": "json",
    "read_parquet": "io",
    "read_parquet_schema": "io",
    "repeat": "ranges",
    "scan_csv": "csv",
    "scan_ipc": "ipc",
    "scan_ndjson": "json",
    "scan_parquet": "io",
    "show_versions": "meta",
    "sql": "sql_context",
    "sql_expr": "sql_context",
    "time": "temporal",
    "time_range": "temporal",
    "time_ranges": "temporal",
    "union": "combine",
    "using_string_cache": "string_cache",
    "zeros": "ranges",
}
_MODULES = (
    "api", "config", "convert", "datatypes", "functions", "io", "meta", "plugins", "schema", "selectors", "testing",
)  # fmt: skip

# Names of Polars 1 that moved: their module.
_MOVED = {
    "exceptions": tuple(exceptions.__all__),
    "datatypes": (
        "DATETIME_DTYPES", "DURATION_DTYPES", "FLOAT_DTYPES", "INTEGER_DTYPES", "NESTED_DTYPES", "NUMERIC_DTYPES",
        "SIGNED_INTEGER_DTYPES", "TEMPORAL_DTYPES", "UNSIGNED_INTEGER_DTYPES", "N_INFER_DEFAULT",
        "DTYPE_TEMPORAL_UNITS",
    ),
}  # fmt: skip
_REMOVED = {"threadpool_size": "`thread_pool_size`", "read_csv_batched": "`scan_csv`", "arctan2d": None, "groups": None}


def __getattr__(name: str):
    import importlib

    if name in _LAZY:
        value = getattr(importlib.import_module(f"nanuk.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"nanuk.{name}")
    for module, names in _MOVED.items():
        if name in names:
            msg = f"`{name}` was removed in version 2.0 from the top level; use `{module}.{name}`"
            raise exceptions.AttributeRemovedError(msg)
    if name in _REMOVED:
        instead = f"; use {_REMOVED[name]}" if _REMOVED[name] else ""
        msg = f"`{name}` was removed in version 2.0{instead}"
        raise exceptions.AttributeRemovedError(msg)
    from nanuk.not_yet import stand_in

    value = stand_in(name)
    if value is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__():
    from nanuk.not_yet import FAMILIES

    lacking = {name for names in FAMILIES.values() for name in names}
    return sorted({*__all__, *_MODULES} | lacking)


__all__ = [
    "Array", "Binary", "Boolean", "Categorical", "Categories", "CompatLevel", "Config", "DataFrame", "DataType",
    "Date", "Datetime", "Decimal", "Duration", "Enum", "Expr", "Field", "Float16", "Float32", "Float64", "Int128",
    "Int16", "Int32", "Int64", "Int8", "LazyFrame", "List", "Null", "Object", "QueryOptFlags", "SQLContext",
    "Schema", "Series", "String", "StringCache", "Struct", "Time", "UInt128", "UInt16", "UInt32", "UInt64", "UInt8",
    "Unknown", "Utf8", "align_frames", "all", "all_horizontal", "any", "any_horizontal", "approx_n_unique",
    "arange", "arctan2", "arg_sort_by", "arg_where", "build_info", "business_day_count", "coalesce", "col",
    "collect_all", "concat", "concat_list", "concat_str", "corr", "count", "cov", "cum_count", "cum_fold",
    "cum_reduce", "cum_sum", "date", "date_range", "date_ranges", "datetime", "datetime_range", "datetime_ranges",
    "disable_string_cache", "duration", "element", "enable_string_cache", "exceptions", "exclude", "field", "first",
    "fold", "format", "from_arrow", "from_dict", "from_dicts", "from_epoch", "from_numpy", "from_pandas",
    "from_records", "get_index_type", "head", "implode", "int_range", "int_ranges", "last", "len", "linear_space",
    "linear_spaces", "list", "lit", "map_batches", "map_groups", "max", "max_horizontal", "mean", "mean_horizontal",
    "median", "merge_sorted", "min", "min_horizontal", "n_unique", "nth", "ones", "quantile", "read_csv",
    "read_ipc", "read_ipc_schema", "read_ipc_stream", "read_json", "read_ndjson", "read_parquet",
    "read_parquet_schema", "reduce", "repeat", "scan_csv", "scan_ipc", "scan_ndjson", "scan_parquet", "select",
    "set_random_seed", "show_versions", "sql", "sql_expr", "std", "struct", "sum", "sum_horizontal", "tail",
    "thread_pool_size", "time", "time_range", "time_ranges", "union", "using_string_cache", "var", "when", "zeros",
]  # fmt: skip

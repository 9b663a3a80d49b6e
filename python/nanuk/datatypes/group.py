"""Sets of data types."""

from __future__ import annotations

from nanuk.datatypes import (
    Array,
    DataType,
    DataTypeClass,
    Date,
    Datetime,
    Decimal,
    Duration,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Int128,
    List,
    Struct,
    Time,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UInt128,
)


class DataTypeGroup(frozenset):
    """A set of dtypes in which a parametrised dtype is found by its class."""

    def __new__(cls, items, *, match_base_type: bool = True):
        group = super().__new__(cls, items)
        group._match_base_type = match_base_type
        return group

    def __contains__(self, item: object) -> bool:
        if self._match_base_type and isinstance(item, (DataType, DataTypeClass)):
            item = item.base_type()
        return super().__contains__(item)


SIGNED_INTEGER_DTYPES = DataTypeGroup((Int8, Int16, Int32, Int64, Int128))
UNSIGNED_INTEGER_DTYPES = DataTypeGroup((UInt8, UInt16, UInt32, UInt64, UInt128))
INTEGER_DTYPES = DataTypeGroup(SIGNED_INTEGER_DTYPES | UNSIGNED_INTEGER_DTYPES)
FLOAT_DTYPES = DataTypeGroup((Float16, Float32, Float64))
NUMERIC_DTYPES = DataTypeGroup(INTEGER_DTYPES | FLOAT_DTYPES | {Decimal})
DATETIME_DTYPES = DataTypeGroup((Datetime, Datetime("ms"), Datetime("us"), Datetime("ns")))
DURATION_DTYPES = DataTypeGroup((Duration, Duration("ms"), Duration("us"), Duration("ns")))
TEMPORAL_DTYPES = DataTypeGroup(frozenset((Date, Time)) | DATETIME_DTYPES | DURATION_DTYPES)
NESTED_DTYPES = DataTypeGroup((List, Struct, Array))

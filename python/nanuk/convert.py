"""Columns and tables from Python values and from other libraries, and back. NumPy, pandas and pyarrow are imported only
when their objects come in or are asked for."""

from __future__ import annotations

from collections.abc import Mapping

from nanuk import _nanuk
from nanuk.datatypes import DataTypeClass, Duration, parse_into_dtype
from nanuk.exceptions import ShapeError
from nanuk.parse import is_several


def _module(value) -> str:
    return type(value).__module__.partition(".")[0]


def _is_array(value) -> bool:
    return hasattr(value, "__array_interface__") and getattr(value, "shape", ()) != ()


def _has_arrow(value) -> bool:
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


# ---- Series ----


def series_of(name, values, dtype=None, *, strict: bool = True, nan_to_null: bool = False):
    """A Series of anything that Series() takes."""
    if dtype is not None:
        dtype = parse_into_dtype(dtype)
    if isinstance(values, (list, tuple)):
        return _from_list(name or "", values, dtype, strict)
    if values is None:
        return _nanuk.series_from_list(name or "", [], "Null" if dtype is None else _text(dtype, "Null"), True)
    if isinstance(values, _nanuk.Series):
        series = values if name is None else values._rename(name)
        return series if dtype is None or dtype == series.dtype else series.cast(dtype, strict=strict)
    if isinstance(values, _nanuk.Frame):
        if values.width != 1:
            raise TypeError("a DataFrame of several columns is no Series")
        return series_of(name, values._column(0), dtype, strict=strict)
    if _is_array(values):
        series = _from_array(name or "", values, nan_to_null)
        return series if dtype is None or dtype == series.dtype else series.cast(dtype, strict=strict)
    if _module(values) == "pandas" and hasattr(values, "to_numpy"):
        series = _from_pandas(name if name is not None else _pandas_name(values), values, nan_to_null)
        return series if dtype is None or dtype == series.dtype else series.cast(dtype, strict=strict)
    if _has_arrow(values):
        series = _nanuk.import_series(values)
        series = series._rename(name) if name is not None else series
        return series if dtype is None or dtype == series.dtype else series.cast(dtype, strict=strict)
    if isinstance(values, (dict, set, frozenset)) or not (
        hasattr(values, "__iter__") or hasattr(values, "__getitem__")
    ):
        msg = f"Series constructor called with unsupported type {type(values).__name__!r} for the `values` parameter"
        raise TypeError(msg)
    return _from_list(name or "", list(values), dtype, strict)


def _text(dtype, otherwise: str | None = None) -> str | None:
    """The text of a dtype that has all of its parameters."""
    if isinstance(dtype, DataTypeClass) and (dtype.is_nested() or dtype.is_decimal()):
        return otherwise
    return dtype._text


def _from_list(name: str, values, dtype, strict: bool):
    if dtype is None:
        return _nanuk.series_from_list(name, values, None, strict)
    first = next((value for value in values if value is not None), None)
    text = _text(dtype)
    if isinstance(dtype, DataTypeClass) and dtype.is_temporal() and hasattr(first, "tzinfo"):
        text = None  # a class takes the zone of the values
    elif text is not None and text[:8] == "Datetime" and getattr(first, "tzinfo", None) is not None:
        if getattr(dtype, "time_zone", None) is None:
            series = _nanuk.series_from_list(name, values, None, strict)
            return (
                series.cast(type(dtype)(dtype.time_unit, series.dtype.time_zone)) if series.dtype != dtype else series
            )
    if first is not None and text is not None and dtype.is_nested() and not is_several(first):
        if not isinstance(first, (dict, _nanuk.Series)) and not hasattr(first, "__len__"):
            msg = f"object of type {type(first).__name__!r} has no len()"
            raise TypeError(msg)
    if isinstance(first, str) and dtype.is_temporal() and dtype != Duration:
        return _nanuk.series_from_list(name, values, "String", strict).str.strptime(dtype, strict=strict)
    if strict and isinstance(first, (int, float, str)) and not isinstance(first, bool) and dtype.is_decimal():
        parsed = _nanuk.series_from_list(name, values, None, strict)
        return parsed.cast(dtype() if isinstance(dtype, DataTypeClass) else dtype)
    series = _nanuk.series_from_list(name, values, text, strict)
    if text is None and first is not None and series.dtype != dtype:
        return series.cast(dtype() if dtype.is_decimal() or dtype.is_temporal() else dtype, strict=strict)
    if text is None and first is None and dtype.is_decimal():
        return series.cast(dtype())
    return series


def _pandas_name(values) -> str:
    return "" if values.name is None else str(values.name)


_UNITS = {"s": ("ms", 1000), "ms": ("ms", 1), "us": ("us", 1), "ns": ("ns", 1)}


def _from_array(name: str, array, nan_to_null: bool):
    """A Series of a NumPy array, copied."""
    kind = array.dtype.kind
    if len(array.shape) > 1:
        return _nanuk.series_from_list(name, list(array), None, True)
    if kind in "mM":
        return _from_times(name, array)
    if kind == "f" and array.dtype.itemsize == 2:
        array = array.astype("f4")
    elif not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    series = _nanuk.series_from_buffer(name, array) if kind in "biuf" else None
    if series is None:
        return _nanuk.series_from_list(name, array.tolist(), None, True)
    if nan_to_null and kind == "f":
        return series.fill_nan(None)
    return series


def _from_times(name: str, array):
    """datetime64 and timedelta64: whole numbers of a unit; the smallest one stands for null."""
    from nanuk.datatypes import Date, Datetime, Duration
    from nanuk.functions import lit
    from nanuk.series import _evaluate
    from nanuk.when import when

    unit = array.dtype.str[4:-1] if "[" in array.dtype.str else ""
    is_point = array.dtype.kind == "M"
    if unit == "D" and is_point:
        dtype, factor = Date(), 1
    elif unit in _UNITS:
        unit, factor = _UNITS[unit]
        dtype = Datetime(unit) if is_point else Duration(unit)
    else:
        array = array.astype(("datetime64" if is_point else "timedelta64") + "[us]")
        dtype, factor = (Datetime if is_point else Duration)("us"), 1
    numbers = lit(_nanuk.series_from_buffer(name, array.view("i8")))
    values = when(numbers == -(2**63)).then(None).otherwise(numbers * factor if factor > 1 else numbers)
    if is_point and unit == "D":
        from nanuk.datatypes import Int32

        values = values.cast(Int32)
    return _evaluate(values.cast(dtype))._rename(name)


def _from_pandas(name: str, values, nan_to_null: bool):
    """A Series of a pandas Series or Index."""
    try:
        import pyarrow

        return _nanuk.import_series(pyarrow.array(values, from_pandas=nan_to_null or None))._rename(name)
    except ModuleNotFoundError:
        array = values.to_numpy()
        if array.dtype.kind == "O":
            return _nanuk.series_from_list(name, [None if item != item else item for item in array], None, True)
        return _from_array(name, array, nan_to_null)


# ---- Frames ----


def _schema_of(schema) -> tuple[list[str], dict]:
    """Names, and dtypes by name, of what the `schema` argument may be."""
    if schema is None:
        return [], {}
    names, dtypes = [], {}
    for item in schema.items() if isinstance(schema, Mapping) else schema:
        name, dtype = (item, None) if isinstance(item, str) else item
        if not isinstance(name, str):
            msg = f"column names must be strings, got {name!r}"
            raise TypeError(msg)
        names.append(name)
        if dtype is not None:
            dtypes[name] = parse_into_dtype(dtype)
    return names, dtypes


def _overrides(schema_overrides, names: list[str]) -> dict:
    if schema_overrides is None:
        return {}
    if not isinstance(schema_overrides, Mapping):
        schema_overrides = dict(zip(names, schema_overrides))
    return {name: parse_into_dtype(dtype) for name, dtype in schema_overrides.items() if dtype is not None}


def frame_columns(data, schema, *, schema_overrides, strict: bool, orient, infer_schema_length, nan_to_null: bool):
    """The columns of anything that DataFrame() takes, and the height, which counts when there are none."""
    names, dtypes = _schema_of(schema)
    if data is None:
        data = {name: [] for name in names}
    if isinstance(data, _nanuk.Plan):
        data = data._collect()
    if _module(data) == "pandas" and hasattr(data, "columns"):
        data = from_pandas(data, nan_to_null=nan_to_null)
    elif _is_array(data):
        data = _array_columns(data, names, orient, nan_to_null)
    elif not isinstance(data, (_nanuk.Frame, _nanuk.Series)) and _has_arrow(data):
        data = _arrow_frame(data)

    if isinstance(data, Mapping):
        if isinstance(schema, Mapping) and data:
            unknown = [name for name in data if name not in names]
            if unknown:
                msg = "the given column-schema names do not match the data dictionary"
                raise ValueError(msg)
            data = {name: data[name] for name in names}
        columns = _dict_columns(
            data, dtypes | _overrides(schema_overrides, names or list(data)), names, strict, nan_to_null
        )
    elif isinstance(data, _nanuk.Frame):
        columns = data.get_columns()
        if not columns:
            return [], data.height
    elif isinstance(data, _nanuk.Series):
        columns = [data]
    elif isinstance(data, (list, tuple)) or is_several(data) or isinstance(data, str):
        wanted = dtypes | _overrides(schema_overrides, names)
        columns = _sequence_columns(list(data), names, wanted, strict, orient, infer_schema_length, nan_to_null)
    else:
        msg = f"DataFrame constructor called with unsupported type {type(data).__name__!r} for the `data` parameter"
        raise TypeError(msg)

    if names:
        if not columns:
            columns = [series_of(name, None, dtypes.get(name)) for name in names]
        elif len(names) != len(columns):
            msg = f"the row data has {len(columns)} columns, but the schema {len(names)}"
            raise ShapeError(f"data does not match the number of columns: {msg}")
        columns = [column if column.name == name else column._rename(name) for column, name in zip(columns, names)]
    wanted = dtypes | _overrides(schema_overrides, [column.name for column in columns])
    columns = [_as_wanted(column, wanted.get(column.name), strict) for column in columns]
    _check_heights(columns)
    return columns, len(columns[0]) if columns else 0


def _as_wanted(column, dtype, strict: bool):
    return column if dtype is None or column.dtype == dtype else column.cast(dtype, strict=strict)


def _check_heights(columns) -> None:
    for column in columns:
        if len(column) != len(columns[0]):
            msg = (
                f"could not create a new DataFrame: height of column {column.name!r} ({len(column)}) does not match "
                f"height of column {columns[0].name!r} ({len(columns[0])})"
            )
            raise ShapeError(msg)


def _dict_columns(data, dtypes: dict, names: list[str], strict: bool, nan_to_null: bool) -> list:
    """Columns of a dict; single values are repeated when others are columns."""
    columns, single, height = [], [], None
    renamed = dict(zip(data, names)) if names else {}
    for name, values in data.items():
        if not isinstance(name, str):
            msg = f"column names must be strings, got {name!r}"
            raise TypeError(msg)
        dtype = dtypes.get(renamed.get(name, name))
        if (
            isinstance(values, (list, tuple, _nanuk.Series))
            or _is_array(values)
            or (not isinstance(values, (str, bytes, dict, _nanuk.Expr)) and hasattr(values, "__iter__"))
        ):
            series = series_of(name, values, dtype, strict=strict, nan_to_null=nan_to_null)
            height = len(series) if height is None else height
            columns.append(series)
        else:
            single.append((len(columns), name, values, dtype))
            columns.append(None)
    for position, name, value, dtype in single:
        if isinstance(value, _nanuk.Expr):
            from nanuk.series import _evaluate

            column = _evaluate(value)._rename(name)
            columns[position] = column if height in (None, len(column)) else column._take([0] * height)
        elif height is None or isinstance(value, dict):
            columns[position] = series_of(name, [value] * (1 if height is None else height), dtype, strict=strict)
        elif dtype is not None:
            columns[position] = series_of(name, [value] * height, dtype, strict=strict)
        elif height == 0:
            columns[position] = series_of(name, None)
        else:
            columns[position] = _nanuk.series_constant(name, value, height)
    return columns


def _sequence_columns(data: list, names, dtypes, strict: bool, orient, infer_schema_length, nan_to_null: bool) -> list:
    first = next((item for item in data if item is not None), None)
    if not data:
        return []
    if isinstance(first, _nanuk.Series):
        columns = []
        for i, series in enumerate(data):
            columns.append(series if series.name else series._rename(f"column_{i}"))
        return columns
    if isinstance(first, Mapping):
        return _dict_rows(data, names, dtypes, strict, infer_schema_length)
    if hasattr(first, "__dataclass_fields__"):
        fields = list(first.__dataclass_fields__)
        rows = [{field: getattr(row, field) for field in fields} for row in data]
        return _dict_rows(rows, names, dtypes, strict, infer_schema_length)
    if is_several(first) or _is_array(first):
        fields = getattr(first, "_fields", None)
        if fields is not None and orient is None:
            names, orient = names or list(fields), "row"
        if orient not in (None, "row", "col"):
            msg = f"`orient` must be one of {{'col', 'row', None}}, got {orient!r}"
            raise ValueError(msg)
        if orient is None and names and len(names) == len(first) and len(names) != len(data):
            import warnings

            from nanuk.exceptions import DataOrientationWarning

            warnings.warn(
                "Row orientation inferred during DataFrame construction. Explicitly specify the orientation by passing "
                '`orient="row"` to silence this warning.',
                DataOrientationWarning,
                stacklevel=4,
            )
            orient = "row"
        if orient == "row":
            width = len(names) or len(first)
            columns = [[row[i] if row is not None and i < len(row) else None for row in data] for i in range(width)]
            return [
                _row_column(names[i] if names else f"column_{i}", values, dtypes, strict, infer_schema_length)
                for i, values in enumerate(columns)
            ]
        return [
            series_of(_name_at(names, i), list(values), dtypes.get(_name_at(names, i)), strict=strict)
            for i, values in enumerate(data)
        ]
    name = _name_at(names, 0)
    return [series_of(name, data, dtypes.get(name), strict=strict, nan_to_null=nan_to_null)]


def _name_at(names: list[str], i: int) -> str:
    return names[i] if i < len(names) else f"column_{i}"


def _row_column(name: str, values: list, dtypes: dict, strict: bool, infer_schema_length):
    """One column of rows: the widest dtype of the first rows."""
    dtype = dtypes.get(name)
    if dtype is not None:
        return series_of(name, values, dtype, strict=strict)
    text = _nanuk.guess_dtype(values, False, -1 if infer_schema_length is None else infer_schema_length)
    # Text last: numbers beside text become text, as in a mixture that is not strict.
    return _nanuk.series_from_list(name, values, text, strict and text[:6] not in ("String", "Int64", "Float6"))


def _dict_rows(data: list, names, dtypes, strict: bool, infer_schema_length) -> list:
    looked_at = data if infer_schema_length is None else data[:infer_schema_length]
    found = dict.fromkeys(names) if names else {}
    if not names:
        for row in looked_at:
            if row is not None:
                found.update(dict.fromkeys(row))
    return [
        _row_column(name, [None if row is None else row.get(name) for row in data], dtypes, strict, infer_schema_length)
        for name in found
    ]


def _array_columns(array, names: list[str], orient, nan_to_null: bool):
    """Columns of a NumPy array: structured, one- or two-dimensional."""
    if array.dtype.names:
        return {name: array[name] for name in array.dtype.names}
    if len(array.shape) == 1:
        return [_from_array(_name_at(names, 0), array, nan_to_null)]
    if len(array.shape) != 2:
        msg = f"cannot create DataFrame from array with more than two dimensions; shape = {array.shape}"
        raise ValueError(msg)
    if orient is None:
        by_column = names and len(names) == array.shape[0] and len(names) != array.shape[1]
        orient = "col" if by_column else "row"
    columns = array if orient == "col" else array.T
    return [_from_array(_name_at(names, i), column, nan_to_null) for i, column in enumerate(columns)]


def _arrow_frame(data):
    if _nanuk.is_frame_stream(data):
        return _nanuk.import_frame(data)
    return _nanuk.import_series(data).to_frame()


def empty_from_arrow_schema(schema):
    """A table without rows of an object with `__arrow_c_schema__`."""
    import pyarrow

    return _nanuk.import_frame(pyarrow.schema(schema).empty_table())


# ---- from_ functions ----


def _frame(data, **options):
    from nanuk.dataframe import DataFrame

    return DataFrame(data, **options)


def from_dict(data, schema=None, *, schema_overrides=None, strict: bool = True):
    """A DataFrame of a dict from names to values."""
    return _frame(data, schema=schema, schema_overrides=schema_overrides, strict=strict)


def from_dicts(data, schema=None, *, schema_overrides=None, strict: bool = True, infer_schema_length: int | None = 100):
    """A DataFrame of rows as dicts; names and dtypes come from the first rows.

    Raises NoDataError without rows and schema.
    """
    if not data and not (schema or schema_overrides):
        from nanuk.exceptions import NoDataError

        raise NoDataError("no data, cannot infer schema")
    return _frame(
        data, schema=schema, schema_overrides=schema_overrides, strict=strict, infer_schema_length=infer_schema_length
    )


def from_records(data, schema=None, *, schema_overrides=None, strict: bool = True, orient=None,
                 infer_schema_length: int | None = 100):  # fmt: skip
    """A DataFrame of a sequence of rows or columns."""
    return _frame(
        data, schema=schema, schema_overrides=schema_overrides, strict=strict, orient=orient,
        infer_schema_length=infer_schema_length,
    )  # fmt: skip


def from_numpy(data, schema=None, *, schema_overrides=None, orient=None):
    """A DataFrame of a NumPy array of up to two dimensions."""
    return _frame(data, schema=schema, schema_overrides=schema_overrides, orient=orient)


def from_arrow(data, schema=None, *, schema_overrides=None, rechunk: bool = False):
    """A DataFrame, or for a single array a Series, of an Arrow object: anything with Arrow capsules.

    Raises TypeError for other objects.
    """
    if not _has_arrow(data):
        if isinstance(data, (list, tuple)) and data and all(_has_arrow(item) for item in data):
            from nanuk.functions import concat

            return concat([from_arrow(item, schema, schema_overrides=schema_overrides) for item in data])
        msg = f"expected PyArrow Table, Array, or one or more RecordBatches; got {type(data).__name__!r}"
        raise TypeError(msg)
    is_table = _nanuk.is_frame_stream(data) if hasattr(data, "__arrow_c_schema__") else hasattr(data, "column_names")
    if not is_table and not hasattr(data, "column_names"):
        return _nanuk.import_series(data)
    frame = _nanuk.import_frame(data)
    if schema is not None or schema_overrides is not None:
        frame = _frame(frame, schema=schema, schema_overrides=schema_overrides)
    return frame.rechunk() if rechunk else frame


def from_pandas(data, *, schema_overrides=None, rechunk: bool = True, nan_to_null: bool = True,
                include_index: bool = False):  # fmt: skip
    """A DataFrame of a pandas DataFrame, or a Series of a pandas Series or Index.

    `nan_to_null` turns NaN into null. Raises TypeError for other objects.
    """
    if not hasattr(data, "columns"):
        if not hasattr(data, "to_numpy"):
            msg = f"expected pandas DataFrame or Series, got {type(data).__name__!r}"
            raise TypeError(msg)
        return _from_pandas(_pandas_name(data), data, nan_to_null)
    columns = {}
    if include_index:
        for level in range(data.index.nlevels):
            index = data.index.get_level_values(level)
            columns["index" if index.name is None else str(index.name)] = _from_pandas("", index, nan_to_null)
    for position, name in enumerate(data.columns):
        columns[str(name)] = _from_pandas(str(name), data.iloc[:, position], nan_to_null)
    if len(columns) < data.shape[1]:
        raise ValueError("pandas DataFrame contains duplicate column names")
    return _frame(columns, schema_overrides=schema_overrides)


# ---- Out ----

_NUMPY = {
    "Int8": "i1", "Int16": "i2", "Int32": "i4", "Int64": "i8", "UInt8": "u1", "UInt16": "u2", "UInt32": "u4",
    "UInt64": "u8", "Float32": "f4", "Float64": "f8",
}  # fmt: skip


def series_to_numpy(series, *, writable: bool = False, allow_copy: bool = True):
    """A NumPy array of a Series."""
    import numpy

    text = series._dtype_text
    is_time = text.startswith(("Datetime", "Duration")) or text == "Date"
    if text not in _NUMPY and text != "Boolean" and not is_time:
        if not allow_copy:
            raise RuntimeError("copy not allowed: cannot convert to a NumPy array without copying data")
        if text == "Null":
            return numpy.full(len(series), numpy.nan)
        if text.startswith("Decimal"):
            return numpy.array(series.cast(parse_into_dtype(float)).to_list(), dtype="f8")
        values = numpy.empty(len(series), dtype=object)
        values[:] = series.to_list() if text != "List" else [numpy.asarray(item) for item in series.to_list()]
        return values
    if is_time:
        letter = "M8" if not text.startswith("Duration") else "m8"
        unit = "D" if text == "Date" else text[text.index("(") + 1 :].rstrip(")").split(",")[0]
        numbers = "i4" if text == "Date" else "i8"
    parts, is_shared = [], series.null_count() == 0 and series.n_chunks() <= 1
    for values, validity, offset, length in series._buffers():
        if text == "Boolean":
            bits = numpy.frombuffer(values, dtype="u1")
            part = numpy.unpackbits(bits, bitorder="little")[offset : offset + length].astype(bool)
            is_shared = False
        else:
            part = numpy.frombuffer(values, dtype=numbers if is_time else _NUMPY[text])[offset : offset + length]
        if is_time:
            if text == "Date":
                part, is_shared = part.astype("i8"), False
            part = part.view(f"{letter}[{unit}]")
        if validity is not None:
            bits = numpy.frombuffer(validity, dtype="u1")
            valid = numpy.unpackbits(bits, bitorder="little")[offset : offset + length].astype(bool)
            part = _with_nulls(numpy, part, valid, text)
        parts.append(part)
    if not allow_copy and (not is_shared or writable):
        raise RuntimeError("copy not allowed: cannot convert to a NumPy array without copying data")
    if len(parts) == 1:
        result = parts[0]
    elif parts:
        result = numpy.concatenate(parts)
    else:
        result = numpy.empty(0, dtype="?" if text == "Boolean" else f"{letter}[{unit}]" if is_time else _NUMPY[text])
    return result.copy() if writable and not result.flags.writeable else result


def _with_nulls(numpy, values, valid, text: str):
    if values.dtype.kind in "mM":
        values = values.copy()
        values[~valid] = "NaT"
        return values
    if text == "Boolean":
        values = values.astype(object)
        values[~valid] = None
        return values
    if values.dtype.kind != "f":
        values = values.astype("f4" if values.dtype.itemsize < 3 else "f8")
    else:
        values = values.copy()
    values[~valid] = numpy.nan
    return values


def series_to_arrow(series):
    """A pyarrow Array of a Series."""
    import pyarrow

    chunks = _plain_strings(pyarrow, pyarrow.chunked_array(series))
    return chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()


def _plain_type(pyarrow, dtype):
    """A type with large strings in place of views, which fewer functions of pyarrow know."""
    if pyarrow.types.is_string_view(dtype):
        return pyarrow.large_string()
    if pyarrow.types.is_binary_view(dtype):
        return pyarrow.large_binary()
    if pyarrow.types.is_dictionary(dtype):
        plain = _plain_type(pyarrow, dtype.value_type)
        return pyarrow.dictionary(dtype.index_type, plain, dtype.ordered)
    if pyarrow.types.is_large_list(dtype):
        return pyarrow.large_list(dtype.value_field.with_type(_plain_type(pyarrow, dtype.value_type)))
    if pyarrow.types.is_struct(dtype):
        return pyarrow.struct([field.with_type(_plain_type(pyarrow, field.type)) for field in dtype])
    return dtype


def _plain_strings(pyarrow, values):
    plain = _plain_type(pyarrow, values.type)
    return values if plain == values.type else values.cast(plain)


def frame_to_arrow(frame):
    """A pyarrow Table of a DataFrame."""
    import pyarrow

    table = pyarrow.table(frame)
    schema = pyarrow.schema([field.with_type(_plain_type(pyarrow, field.type)) for field in table.schema])
    return table if schema == table.schema else table.cast(schema)


def frame_to_pandas(frame, *, use_pyarrow_extension_array: bool, **kwargs):
    """A pandas DataFrame; through pyarrow where it is installed."""
    import pandas

    if use_pyarrow_extension_array:
        return frame_to_arrow(frame).to_pandas(types_mapper=pandas.ArrowDtype, **kwargs)
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        return pandas.DataFrame({column.name: series_to_numpy(column, writable=True) for column in frame.get_columns()})
    return frame_to_arrow(frame).to_pandas(date_as_object=kwargs.pop("date_as_object", False), **kwargs)

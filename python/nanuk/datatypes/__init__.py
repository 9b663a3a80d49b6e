"""Data types. A class stands for all of its instances: `Datetime == Datetime("ms")` holds, `List(Int8) == List(Int16)`
not.

Each dtype has a text, the one that the C library reads and writes: `Int64._text` is "Int64".
"""

from __future__ import annotations

import datetime as _datetime
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping

DTYPE_TEMPORAL_UNITS = frozenset(("ns", "us", "ms"))
N_INFER_DEFAULT = 100


class classinstmethod:
    """A method that gets its instance, or the class when there is none."""

    def __init__(self, function) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance, owner):
        return self.function.__get__(owner if instance is None else instance)


class DataTypeClass(type):
    """The class of data type classes: prints them by name."""

    def __repr__(cls) -> str:
        return cls.__name__

    def __array__(cls, *args, **kwargs):
        raise TypeError("a data type is no array")


class DataType(metaclass=DataTypeClass):
    """Base class of all data types."""

    _text: str = "Unknown"

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, type(self))
        return isinstance(other, type(self))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.__class__)

    def __repr__(self) -> str:
        return self.__class__.__name__

    def __reduce__(self):
        return (_from_text, (self._text,))

    @classmethod
    def base_type(cls) -> DataTypeClass:
        """The class, without parameters."""
        return cls

    @classinstmethod
    def is_(self, other) -> bool:
        """Whether both are the same dtype with the same parameters, or the same class."""
        return self == other and hash(self) == hash(other)

    @classmethod
    def is_numeric(cls) -> bool:
        """Whether values are numbers."""
        return issubclass(cls, NumericType)

    @classmethod
    def is_decimal(cls) -> bool:
        """Whether values are Decimals."""
        return issubclass(cls, Decimal)

    @classmethod
    def is_integer(cls) -> bool:
        """Whether values are integers."""
        return issubclass(cls, IntegerType)

    @classmethod
    def is_object(cls) -> bool:
        """Whether values are Python objects."""
        return issubclass(cls, ObjectType)

    @classmethod
    def is_signed_integer(cls) -> bool:
        """Whether values are signed integers."""
        return issubclass(cls, SignedIntegerType)

    @classmethod
    def is_unsigned_integer(cls) -> bool:
        """Whether values are unsigned integers."""
        return issubclass(cls, UnsignedIntegerType)

    @classmethod
    def is_float(cls) -> bool:
        """Whether values are floats."""
        return issubclass(cls, FloatType)

    @classmethod
    def is_temporal(cls) -> bool:
        """Whether values are dates, times or durations."""
        return issubclass(cls, TemporalType)

    @classmethod
    def is_nested(cls) -> bool:
        """Whether values hold others."""
        return issubclass(cls, NestedType)

    @classmethod
    def is_extension(cls) -> bool:
        """Whether the dtype is an extension."""
        return False

    @classmethod
    def from_python(cls, py_type) -> DataType | DataTypeClass:
        """The dtype of a Python type."""
        return parse_into_dtype(py_type)

    @classinstmethod
    def to_python(self) -> type:
        """The Python type of the values."""
        return dtype_to_py_type(self)


class NumericType(DataType):
    """Base class of numbers."""

    @classmethod
    def max(cls):
        """The largest value, as an expression."""
        return _bound(cls, True)

    @classmethod
    def min(cls):
        """The smallest value, as an expression."""
        return _bound(cls, False)


class IntegerType(NumericType):
    """Base class of integers."""


class SignedIntegerType(IntegerType):
    """Base class of signed integers."""


class UnsignedIntegerType(IntegerType):
    """Base class of unsigned integers."""


class FloatType(NumericType):
    """Base class of floats."""


class TemporalType(DataType):
    """Base class of dates, times and durations."""


class NestedType(DataType):
    """Base class of dtypes that hold others."""


class ObjectType(DataType):
    """Base class of Python objects."""


class Int8(SignedIntegerType):
    """8-bit signed integers."""

    _text = "Int8"


class Int16(SignedIntegerType):
    """16-bit signed integers."""

    _text = "Int16"


class Int32(SignedIntegerType):
    """32-bit signed integers."""

    _text = "Int32"


class Int64(SignedIntegerType):
    """64-bit signed integers."""

    _text = "Int64"


class Int128(SignedIntegerType):
    """128-bit signed integers."""

    _text = "Int128"


class UInt8(UnsignedIntegerType):
    """8-bit unsigned integers."""

    _text = "UInt8"


class UInt16(UnsignedIntegerType):
    """16-bit unsigned integers."""

    _text = "UInt16"


class UInt32(UnsignedIntegerType):
    """32-bit unsigned integers."""

    _text = "UInt32"


class UInt64(UnsignedIntegerType):
    """64-bit unsigned integers."""

    _text = "UInt64"


class UInt128(UnsignedIntegerType):
    """128-bit unsigned integers; no column has this dtype yet."""

    _text = "UInt128"


class Float16(FloatType):
    """16-bit floats; no column has this dtype yet."""

    _text = "Float16"


class Float32(FloatType):
    """32-bit floats."""

    _text = "Float32"


class Float64(FloatType):
    """64-bit floats."""

    _text = "Float64"


class Decimal(NumericType):
    """Decimal numbers of up to 38 digits, `scale` of them behind the point."""

    _text = "Decimal(38, 0)"

    def __init__(self, precision: int | None = None, scale: int = 0) -> None:
        self.precision = 38 if precision is None else precision
        self.scale = scale
        self._text = f"Decimal({self.precision}, {scale})"

    def __repr__(self) -> str:
        return f"Decimal(precision={self.precision}, scale={self.scale})"

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, Decimal)
        return isinstance(other, Decimal) and self.precision == other.precision and self.scale == other.scale

    def __hash__(self) -> int:
        return hash((Decimal, self.precision, self.scale))


class Boolean(DataType):
    """True and false."""

    _text = "Boolean"


class String(DataType):
    """Text in UTF-8."""

    _text = "String"


Utf8 = String


class Binary(DataType):
    """Bytes."""

    _text = "Binary"


class Date(TemporalType):
    """Days since 1970 in 32 bits."""

    _text = "Date"

    @classmethod
    def max(cls):
        """The last day, as an expression."""
        return _bound(cls, True)

    @classmethod
    def min(cls):
        """The first day, as an expression."""
        return _bound(cls, False)


class Time(TemporalType):
    """Nanoseconds since midnight."""

    _text = "Time"

    @classmethod
    def max(cls):
        """The end of the day, as an expression."""
        return _bound(cls, True)

    @classmethod
    def min(cls):
        """Midnight, as an expression."""
        return _bound(cls, False)


def _check_unit(time_unit: str) -> None:
    if time_unit not in DTYPE_TEMPORAL_UNITS:
        msg = f"invalid `time_unit`\n\nExpected one of {{'ns','us','ms'}}, got {time_unit!r}."
        raise ValueError(msg)


class Datetime(TemporalType):
    """Points in time in `time_unit`s since 1970 ("ms", "us", "ns"), shown in a time zone when there is one.

    Raises ValueError for another unit.
    """

    _text = "Datetime(us)"
    time_unit = None
    time_zone = None

    def __init__(self, time_unit: str = "us", time_zone: str | _datetime.tzinfo | None = None) -> None:
        _check_unit(time_unit)
        if isinstance(time_zone, _datetime.tzinfo):
            time_zone = str(time_zone)
        self.time_unit = time_unit
        self.time_zone = time_zone
        self._text = f"Datetime({time_unit}, {time_zone})" if time_zone is not None else f"Datetime({time_unit})"

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, Datetime)
        return isinstance(other, Datetime) and self._text == other._text

    def __hash__(self) -> int:
        return hash((Datetime, self.time_unit, self.time_zone))

    def __repr__(self) -> str:
        return f"Datetime(time_unit={self.time_unit!r}, time_zone={self.time_zone!r})"


class Duration(TemporalType):
    """Lengths of time in `time_unit`s ("ms", "us", "ns").

    Raises ValueError for another unit.
    """

    _text = "Duration(us)"
    time_unit = None

    def __init__(self, time_unit: str = "us") -> None:
        _check_unit(time_unit)
        self.time_unit = time_unit
        self._text = f"Duration({time_unit})"

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, Duration)
        return isinstance(other, Duration) and self.time_unit == other.time_unit

    def __hash__(self) -> int:
        return hash((Duration, self.time_unit))

    def __repr__(self) -> str:
        return f"Duration(time_unit={self.time_unit!r})"


class Null(DataType):
    """Nothing but nulls."""

    _text = "Null"


class Unknown(DataType):
    """A dtype that is not known."""

    _text = "Unknown"


class Object(ObjectType):
    """Python objects; no column has this dtype yet."""

    _text = "Object"


class Categorical(DataType):
    """Text of few different values, kept as codes of `categories`: Categories, their name, or None for the global ones.

    Values are ordered by their text.
    """

    _text = "Categorical"

    def __init__(self, categories=None) -> None:
        from nanuk.datatypes.categories import Categories

        self.categories = categories if isinstance(categories, Categories) else Categories(categories)
        self._text = self.categories._dtype_text

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, Categorical) and self.categories.is_global()
        return isinstance(other, Categorical) and self.categories == other.categories

    def __hash__(self) -> int:
        return hash((Categorical, self._text))

    def __repr__(self) -> str:
        return "Categorical" if self.categories.is_global() else f"Categorical({self.categories!r})"


class Enum(DataType):
    """Text of given values, ordered as they are given.

    Raises TypeError for what is no text and ValueError for one that occurs twice.
    """

    _text = "Enum[]"

    def __init__(self, categories) -> None:
        from nanuk.datatypes.categories import enum_categories

        self._categories = enum_categories(categories)
        self._text = "Enum[" + ", ".join(map(_quoted, self._categories)) + "]"

    @property
    def categories(self):
        """The values, as a Series of String."""
        import nanuk

        return nanuk.Series("category", self._categories, dtype=String)

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, Enum)
        return isinstance(other, Enum) and self._categories == other._categories

    def __hash__(self) -> int:
        return hash((Enum, self._text))

    def __repr__(self) -> str:
        return f"Enum(categories={list(self._categories)!r})"


class List(NestedType):
    """Lists of values of one dtype."""

    inner = None
    _text = "List"

    def __init__(self, inner) -> None:
        self.inner = parse_into_dtype(inner)

    @property
    def _text(self) -> str:
        return f"List({self.inner._text})"

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, List)
        return isinstance(other, List) and self.inner == other.inner

    def __hash__(self) -> int:
        return hash((List, self.inner))

    def __repr__(self) -> str:
        return f"List({self.inner!r})"


class Array(NestedType):
    """Lists of one length."""

    inner = None
    _text = "Array"

    def __init__(self, inner, shape: int | tuple[int, ...] | None = None) -> None:
        if shape is None:
            raise TypeError("Array constructor is missing the required argument `shape`")
        if isinstance(shape, int):
            self.inner, self.size = parse_into_dtype(inner), shape
        else:
            self.inner = Array(inner, shape[1:]) if len(shape) > 1 else parse_into_dtype(inner)
            self.size = shape[0]

    @property
    def _text(self) -> str:
        return f"Array({self.inner._text}, {self.size})"

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return (self.size, *self.inner.shape) if isinstance(self.inner, Array) else (self.size,)

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, Array)
        return isinstance(other, Array) and self.size == other.size and self.inner == other.inner

    def __hash__(self) -> int:
        return hash((Array, self.inner, self.size))

    def __repr__(self) -> str:
        inner = self.inner
        while isinstance(inner, Array):
            inner = inner.inner
        return f"Array({inner!r}, shape={self.shape})"


class Field:
    """A field of a Struct: a name and a dtype."""

    def __init__(self, name: str, dtype) -> None:
        self.name = name
        self.dtype = parse_into_dtype(dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Field) and self.name == other.name and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.name, self.dtype))

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.dtype!r})"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Struct(NestedType):
    """Named fields, each of a dtype: from a dict, or a sequence of Fields."""

    fields = None

    def __init__(self, fields: Iterable[Field] | Mapping[str, DataType]) -> None:
        if isinstance(fields, Mapping):
            self.fields = [Field(name, dtype) for name, dtype in fields.items()]
        else:
            self.fields = [field if isinstance(field, Field) else Field(*field) for field in fields]

    @property
    def _text(self) -> str:
        return "Struct{" + ", ".join(f"{_quoted(field.name)}: {field.dtype._text}" for field in self.fields) + "}"

    def to_schema(self) -> OrderedDict:
        """Names and dtypes of the fields."""
        return OrderedDict(self)

    def __iter__(self) -> Iterator[tuple[str, DataType]]:
        for field in self.fields:
            yield field.name, field.dtype

    def __eq__(self, other: object) -> bool:
        if type(other) is DataTypeClass:
            return issubclass(other, Struct)
        return isinstance(other, Struct) and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((Struct, tuple(self.fields)))

    def __repr__(self) -> str:
        return f"Struct({dict(self)})"


# ---- From and to text and Python types ----

_PLAIN = {
    dtype._text: dtype()
    for dtype in (
        Int8, Int16, Int32, Int64, Int128, UInt8, UInt16, UInt32, UInt64, Float32, Float64,
        Boolean, String, Binary, Date, Time, Null,
    )
}  # fmt: skip


def _parse_quoted(text: str, at: int):
    """Quoted texts with commas between them from a position on, and where they end."""
    texts = []
    while text[at] == '"':
        parts = []
        at += 1
        while text[at] != '"':
            at += text[at] == "\\"
            parts.append(text[at])
            at += 1
        texts.append("".join(parts))
        at += 1
        at += 2 if text[at] == "," else 0
    return texts, at


def _parse(text: str, at: int):
    """The dtype that begins at a position, and where it ends."""
    end = at
    while end < len(text) and text[end] not in "(){}[],":
        end += 1
    name = text[at:end]
    if name == "Enum":
        texts, end = _parse_quoted(text, end + 1)
        return Enum(texts), end + 1
    if name == "Categorical":
        if end == len(text) or text[end] != "(":
            return Categorical(), end
        from nanuk.datatypes.categories import Categories

        texts, end = _parse_quoted(text, end + 1)
        close = text.index(")", end)
        return Categorical(Categories(*texts, _PLAIN[text[end:close].strip()])), close + 1
    if end == len(text) or text[end] not in "({" or name in _PLAIN:
        return _PLAIN[name], end
    if name == "List":
        inner, end = _parse(text, end + 1)
        return List(inner), end + 1
    if name == "Array":
        inner, end = _parse(text, end + 1)
        close = text.index(")", end)
        return Array(inner, int(text[end + 2 : close])), close + 1
    if name == "Struct":
        fields = []
        end += 1
        while text[end] == '"':
            field = []
            end += 1
            while text[end] != '"':
                end += text[end] == "\\"
                field.append(text[end])
                end += 1
            dtype, end = _parse(text, end + 3)
            fields.append(Field("".join(field), dtype))
            end += 2 if text[end] == "," else 0
        return Struct(fields), end + 1
    close = text.index(")", end)
    arguments = text[end + 1 : close].split(", ")
    if name == "Decimal":
        return Decimal(int(arguments[0]), int(arguments[1])), close + 1
    return {"Datetime": Datetime, "Duration": Duration}[name](*arguments), close + 1


def _from_text(text: str) -> DataType:
    """The dtype that the C library writes so."""
    return _PLAIN.get(text) or _parse(text, 0)[0]


_PYTHON_TYPES = {
    int: Int64,
    float: Float64,
    str: String,
    bool: Boolean,
    bytes: Binary,
    _datetime.datetime: Datetime("us"),
    _datetime.date: Date,
    _datetime.timedelta: Duration("us"),
    _datetime.time: Time,
    list: List,
    tuple: List,
    type(None): Null,
    object: Object,
}


def is_polars_dtype(dtype, *, include_unknown: bool = False, require_instantiated: bool = False) -> bool:
    """Whether the argument is a dtype, an instance or a class."""
    if dtype == Unknown:
        return include_unknown
    if require_instantiated:
        return isinstance(dtype, DataType)
    return isinstance(dtype, (DataType, DataTypeClass))


def try_parse_into_dtype(input):
    """The dtype of a dtype or Python type; None when it is neither."""
    try:
        return parse_into_dtype(input)
    except TypeError:
        return None


def parse_into_dtype(input):
    """The dtype of a dtype or Python type.

    Raises TypeError when it is neither.
    """
    if isinstance(input, (DataType, DataTypeClass)):
        return input
    try:
        found = _PYTHON_TYPES.get(input)
    except TypeError:
        found = None
    if found is None and getattr(input, "__module__", None) == "decimal" and input.__name__ == "Decimal":
        found = Decimal
    if found is None:
        origin, arguments = getattr(input, "__origin__", None), getattr(input, "__args__", ())
        if origin in (list, tuple) and arguments:
            found = List(arguments[0])
    if found is None:
        kind = f"type {input.__name__!r}" if isinstance(input, type) else f"{input!r} of type {type(input).__name__!r}"
        msg = f"cannot parse input {kind} into Polars data type"
        if not isinstance(input, type):
            msg = f"cannot parse input of type {type(input).__name__!r} into Polars data type (given: {input!r})"
        raise TypeError(msg)
    return found


def dtype_to_py_type(dtype) -> type:
    """The Python type of a dtype's values.

    Raises NotImplementedError when there is none.
    """
    base = dtype.base_type()
    if issubclass(base, IntegerType):
        return int
    if issubclass(base, FloatType):
        return float
    if base is Decimal:
        import decimal

        return decimal.Decimal
    simple = {
        String: str, Boolean: bool, Binary: bytes, Date: _datetime.date, Datetime: _datetime.datetime,
        Duration: _datetime.timedelta, Time: _datetime.time, List: list, Array: list, Struct: dict,
        Null: type(None), Object: object, Categorical: str, Enum: str,
    }  # fmt: skip
    if base not in simple:
        raise NotImplementedError(f"no Python type for {dtype!r}")
    return simple[base]


def unpack_dtypes(*dtypes, include_compound: bool = False) -> set:
    """All dtypes inside of dtypes."""
    found = set()
    for dtype in dtypes:
        if isinstance(dtype, (List, Array)):
            found |= unpack_dtypes(dtype.inner, include_compound=include_compound)
        elif isinstance(dtype, Struct):
            found |= unpack_dtypes(*(field.dtype for field in dtype.fields), include_compound=include_compound)
        if include_compound or not dtype.is_nested():
            found.add(dtype)
    return found


def _bound(dtype, is_upper: bool):
    from nanuk.functions import lit

    base = dtype.base_type()
    if issubclass(base, IntegerType):
        bits = int(base.__name__.lstrip("UInt"))
        if issubclass(base, UnsignedIntegerType):
            return lit(2**bits - 1 if is_upper else 0, dtype)
        return lit(2 ** (bits - 1) - 1 if is_upper else -(2 ** (bits - 1)), dtype)
    if issubclass(base, FloatType):
        return lit(float("inf") if is_upper else float("-inf"), dtype)
    if base is Time:
        return lit(86_399_999_999_999 if is_upper else 0, Int64).cast(Time)
    if base is Date:
        return lit(2**31 - 1 if is_upper else -(2**31), Int32).cast(Date)
    raise TypeError(f"{dtype!r} has no bounds")


DtypeLike = (DataType, DataTypeClass)

from nanuk.datatypes.group import (  # noqa: E402, F401 - the groups are made of the classes above
    DATETIME_DTYPES,
    DURATION_DTYPES,
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    NESTED_DTYPES,
    NUMERIC_DTYPES,
    SIGNED_INTEGER_DTYPES,
    TEMPORAL_DTYPES,
    UNSIGNED_INTEGER_DTYPES,
    DataTypeGroup,
)


def numpy_char_code_to_dtype(code) -> DataTypeClass:
    """The dtype of a NumPy type code, such as "f8".

    Raises ValueError for one that has none.
    """
    from nanuk.datatypes.numpy import of_code

    return of_code(code)

"""Exceptions and warnings. The engine's status codes become the classes that derive from PolarsError."""

from __future__ import annotations


class PolarsError(Exception):
    """Base of all errors that are not Python's own."""


class ColumnNotFoundError(PolarsError):
    """A column that does not exist."""


class ComputeError(PolarsError):
    """A value cannot be computed, a file cannot be decoded."""


class DuplicateError(PolarsError):
    """A column name occurs twice."""


class InvalidOperationError(PolarsError):
    """The operation does not exist for these dtypes or values."""


class NoDataError(PolarsError):
    """The input holds no data."""


class OutOfBoundsError(PolarsError):
    """An index beyond the end."""


class SchemaError(PolarsError):
    """Dtypes or columns differ from what is needed."""


class SchemaFieldNotFoundError(PolarsError):
    """A field that the schema does not have."""


class ShapeError(PolarsError):
    """Lengths or widths differ."""


class StringCacheMismatchError(PolarsError):
    """Categoricals of different origin meet."""


class StructFieldNotFoundError(PolarsError):
    """A Struct field that does not exist."""


class SQLInterfaceError(PolarsError):
    """A query in SQL that is not understood."""


class SQLSyntaxError(PolarsError):
    """A query in SQL that breaks its rules."""


class RowsError(PolarsError):
    """Another number of rows than was asked for."""


class NoRowsReturnedError(RowsError):
    """No row matches."""


class TooManyRowsReturnedError(RowsError):
    """More than one row matches."""


class ModuleUpgradeRequiredError(ModuleNotFoundError):
    """An installed module is too old."""


class ParameterCollisionError(RuntimeError):
    """The same parameter is given twice."""


class UnsuitableSQLError(PolarsError):
    """A query in SQL that does not suit where it is used."""


class PanicException(PolarsError):
    """Kept for code that catches it; nanuk raises ordinary errors."""


class AttributeRemovedError(AttributeError):
    """A name that version 2.0 of the API removed."""


class ArgumentRemovedError(TypeError):
    """An argument that version 2.0 of the API removed."""


class PolarsWarning(Warning):
    """Base of all warnings."""


class CategoricalRemappingWarning(PolarsWarning):
    """Categories have to be encoded anew."""


class ChronoFormatWarning(PolarsWarning):
    """A format for dates holds a doubtful specifier."""


class CustomUFuncWarning(PolarsWarning):
    """A NumPy function is applied value by value."""


class DataOrientationWarning(PolarsWarning):
    """Rows or columns had to be guessed."""


class MapWithoutReturnDtypeWarning(PolarsWarning):
    """A mapped function does not say its dtype."""


class PerformanceWarning(PolarsWarning):
    """Something that takes longer than it looks."""


class PolarsInefficientMapWarning(PerformanceWarning):
    """A Python function where an expression would do."""


class UnstableWarning(PolarsWarning):
    """A function that may change."""


# By the name of their status in nanuk.h, without its prefix.
_BY_STATUS = {
    "INVALID_OPERATION": InvalidOperationError,
    "SCHEMA_MISMATCH": SchemaError,
    "COLUMN_NOT_FOUND": ColumnNotFoundError,
    "STRUCT_FIELD_NOT_FOUND": StructFieldNotFoundError,
    "DUPLICATE": DuplicateError,
    "SHAPE": ShapeError,
    "COMPUTE": ComputeError,
    "NO_DATA": NoDataError,
    "OUT_OF_BOUNDS": OutOfBoundsError,
    "SQL_INTERFACE": SQLInterfaceError,
    "SQL_SYNTAX": SQLSyntaxError,
}


class Removed:
    """A descriptor for a name that version 2.0 removed: reading it raises AttributeRemovedError."""

    __slots__ = ("message", "name")

    def __init__(self, instead: str | None = None) -> None:
        self.message = "was removed in version 2.0" + (f"; use {instead}" if instead else "")
        self.name = "the attribute"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type | None = None) -> object:
        msg = f"`{self.name}` {self.message}"
        raise AttributeRemovedError(msg)


def argument_removed(name: str, instead: str | None = None) -> ArgumentRemovedError:
    """The error for an argument that version 2.0 removed."""
    return ArgumentRemovedError(
        f"the argument `{name}` was removed in version 2.0" + (f"; use {instead}" if instead else "")
    )


__all__ = [name for name in dir() if name.endswith(("Error", "Warning", "Exception"))]

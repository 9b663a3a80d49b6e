"""Schema: the names and dtypes of a table, in order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from nanuk.datatypes import DataType, DataTypeClass, is_polars_dtype, parse_into_dtype


def _parameters_missing(dtype) -> bool:
    return isinstance(dtype, DataTypeClass) and (dtype.is_nested() or dtype.is_decimal() or dtype.__name__ == "Enum")


class Schema(OrderedDict):
    """Names and dtypes in order.

    Made of a mapping, of (name, dtype) pairs, or of an object with `__arrow_c_schema__`. A Python type stands for its
    dtype. Raises TypeError for a dtype that lacks its parameters, unless `check_dtypes` is False.
    """

    def __init__(self, schema=None, *, check_dtypes: bool = True) -> None:
        if hasattr(schema, "__arrow_c_schema__") and not isinstance(schema, Schema):
            from nanuk.convert import empty_from_arrow_schema

            schema = empty_from_arrow_schema(schema).schema
        items = schema.items() if isinstance(schema, Mapping) else (schema or ())
        super().__init__()
        for item in items:
            name, dtype = item if isinstance(item, tuple) else (item.name, item.dtype)
            if check_dtypes:
                self[name] = dtype
            else:
                super().__setitem__(name, dtype)

    def __setitem__(self, name: str, dtype) -> None:
        dtype = parse_into_dtype(dtype)
        if _parameters_missing(dtype):
            msg = f"dtypes must be fully-specified, got: {dtype!r}"
            raise TypeError(msg)
        super().__setitem__(name, dtype() if isinstance(dtype, DataTypeClass) else dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return False
        if len(self) != len(other):
            return False
        return all(
            mine == theirs and my_dtype == their_dtype
            for (mine, my_dtype), (theirs, their_dtype) in zip(self.items(), other.items())
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return f"Schema({[*self.items()]!r})" if self else "Schema()"

    def __reduce__(self):
        return (Schema, (dict(self),))

    def copy(self) -> Schema:
        """A copy."""
        return Schema(self, check_dtypes=False)

    def names(self) -> list[str]:
        """The names."""
        return list(self)

    def dtypes(self) -> list[DataType]:
        """The dtypes."""
        return list(self.values())

    def len(self) -> int:
        """How many columns there are."""
        return len(self)

    def to_frame(self, *, eager: bool = True):
        """A table without rows, a LazyFrame when `eager` is False."""
        from nanuk.dataframe import DataFrame

        frame = DataFrame(schema=self)
        return frame if eager else frame.lazy()

    def to_python(self) -> dict[str, type]:
        """The names with Python's types."""
        return {name: dtype.to_python() for name, dtype in self.items()}

    def contains_dtype(self, dtype, *, recursive: bool) -> bool:
        """Whether a column has a dtype, with `recursive` also inside of nested ones."""
        from nanuk.datatypes import unpack_dtypes

        found = unpack_dtypes(*self.values(), include_compound=True) if recursive else self.values()
        return any(dtype == mine for mine in found)

    @classmethod
    def _of(cls, names: list[str], dtypes: list[DataType]) -> Schema:
        schema = cls()
        for name, dtype in zip(names, dtypes):
            OrderedDict.__setitem__(schema, name, dtype)
        return schema


__all__ = ["Schema", "is_polars_dtype"]

"""Series.struct: the fields of a Struct column."""

from __future__ import annotations

from nanuk import _nanuk


class SeriesStruct:
    """Functions of Structs."""

    __slots__ = ("_series",)

    def __init__(self, series) -> None:
        self._series = series

    @property
    def fields(self) -> list[str]:
        """Names of the fields."""
        return [field.name for field in getattr(self._series.dtype, "fields", ())]

    @property
    def schema(self):
        """Names and dtypes of the fields."""
        from nanuk.schema import Schema

        return Schema({field.name: field.dtype for field in getattr(self._series.dtype, "fields", ())})

    def __getitem__(self, item):
        if isinstance(item, int):
            item = self.fields[item]
        return self.field(item)

    def __iter__(self):
        return (self.field(name) for name in self.fields)

    def field(self, name: str):
        """One field as a Series.

        Raises StructFieldNotFoundError when there is none.
        """
        return self._evaluate("field", name)

    def rename_fields(self, names):
        """The fields under other names."""
        return self._evaluate("rename_fields", names)

    def drop(self, names, *, strict: bool = True):
        """Without some fields. Raises StructFieldNotFoundError for one that does not exist, if `strict`."""
        return self._evaluate("drop", names, strict=strict)

    def eval(self, *exprs, **named_exprs):
        """Other fields, computed of those there are: `field(name)`."""
        return self._evaluate("eval", *exprs, **named_exprs)

    def json_encode(self):
        """The values as text in JSON."""
        return self._evaluate("json_encode")

    def unnest(self):
        """The fields as columns of a table."""
        return self._series.to_frame().unnest(self._series.name)

    def _evaluate(self, method: str, *args, **kwargs):
        from nanuk.series import _evaluate

        return _evaluate(getattr(_nanuk.lit(self._series).struct, method)(*args, **kwargs))

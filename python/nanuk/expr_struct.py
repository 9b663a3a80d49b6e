"""Expr.struct: functions of Structs."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.expr_list import names_option
from nanuk.parse import is_several, parse_exprs


class ExprStruct:
    """Functions of Structs. A null Struct gives null. For other dtypes they raise InvalidOperationError."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    def __getitem__(self, item):
        if isinstance(item, str):
            return self.field(item)
        if isinstance(item, int):
            return self._expr._call("struct.field", item)
        msg = f"expected type 'int | str', got {type(item).__name__!r} ({item!r})"
        raise TypeError(msg)

    def field(self, name, *more_names):
        """A field by name, or several: "*" and patterns as in `col` too. Raises StructFieldNotFoundError."""
        names = list(name) if is_several(name) else [name]
        return self._expr._call("struct.field", *names, *more_names)

    def unnest(self):
        """All fields."""
        return self.field("*")

    def rename_fields(self, names):
        """The fields under other names, as many as there are; else raises SchemaError."""
        return self._expr._call("struct.rename_fields", fields=names_option(names))

    def drop(self, names, *, strict: bool = True):
        """Without some fields. Raises StructFieldNotFoundError for one that does not exist, if `strict`."""
        return self._expr._call("struct.drop", fields=names_option(names), strict=strict)

    def with_fields(self, *exprs, **named_exprs):
        """Fields added or replaced; `field(name)` stands for a field there is. Null Structs stay null."""
        return self._with("struct.with_fields", exprs, named_exprs)

    def eval(self, *exprs, **named_exprs):
        """Other fields, computed of those there are: `field(name)`. Null Structs stay null."""
        return self._with("struct.eval", exprs, named_exprs)

    def _with(self, function: str, exprs, named_exprs):
        items = [self._expr._within("fields", _nanuk.parse(item)) for item in parse_exprs(exprs, named_exprs)]
        return self._expr._call(function, *items)

    def json_encode(self):
        """JSON text of each Struct."""
        return self._expr._call("struct.json_encode")

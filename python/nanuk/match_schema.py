"""match_to_schema: columns chosen, filled in and widened until they are those of a schema."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.datatypes import List, Struct
from nanuk.exceptions import SchemaError
from nanuk.parse import dtype_text


class _Rules:
    """What may differ in one column, and how the error calls it."""

    def __init__(self, name: str, options: dict) -> None:
        self.name = name
        for option, (given, default) in options.items():
            setattr(self, option, given.get(name, default) if isinstance(given, dict) else given)

    def fail(self, source, target, why: str):
        comma = f", {why}" if why else ""
        msg = f"data type mismatch for column {self.name}: incoming: {source!r} != target: {target!r}{comma}"
        raise SchemaError(msg)

    def convert(self, expr, source, target):
        """The expression as `target`, by casts that lose nothing and choices among struct fields."""
        if source == target:
            return expr
        if isinstance(source, Struct) and isinstance(target, Struct):
            return self._struct(expr, source, target)
        if isinstance(source, List) and isinstance(target, List):
            inner = self.convert(_nanuk.call("element"), source.inner, target.inner)
            return expr.list.eval(inner)
        if source.is_integer() and target.is_integer():
            return self._widen(expr, source, target, "integer_cast")
        if source.is_float() and target.is_float():
            return self._widen(expr, source, target, "float_cast")
        hint = "hint: pass cast_options=pl.ScanCastOptions(integer_cast='allow-float')"
        return self.fail(source, target, hint if source.is_integer() and target.is_float() else "")

    def _widen(self, expr, source, target, option: str):
        if _nanuk.dtype_supertype(source._text, target._text) != target._text:
            self.fail(source, target, "incoming dtype cannot safely cast to target dtype")
        if getattr(self, option) != "upcast":
            self.fail(source, target, f"hint: pass cast_options=pl.ScanCastOptions({option}='upcast')")
        return expr.cast(target)

    def _struct(self, expr, source, target):
        from nanuk.functions_nested import struct
        from nanuk.when import when

        has = {field.name: field.dtype for field in source.fields}
        wanted = {field.name: field.dtype for field in target.fields}
        for name in wanted:
            if name not in has and self.missing_struct_fields != "insert":
                hint = "hint: pass cast_options=pl.ScanCastOptions(missing_struct_fields='insert')"
                self.fail(source, target, f"encountered missing struct field: {name}, {hint}")
        for name in has:
            if name not in wanted and self.extra_struct_fields != "ignore":
                hint = "specify this field in the schema, or pass cast_options=pl.ScanCastOptions(extra_struct_fields='ignore')"
                self.fail(source, target, f"encountered extra struct field: {name}, hint: {hint}")
        fields = []
        for name, dtype in wanted.items():
            field = _nanuk.lit(None)._call("cast", dtype=dtype)
            if name in has:
                field = self.convert(expr.struct.field(name), has[name], dtype)
            fields.append(field.alias(name))
        return when(expr.is_null()).then(None).otherwise(struct(*fields))


def match_to_schema(
    plan, schema, missing_columns, missing_struct_fields, extra_columns: str, extra_struct_fields, integer_cast,
    float_cast,
):  # fmt: skip
    """LazyFrame.match_to_schema."""
    from nanuk.datatypes import _from_text

    has = plan.collect_schema()
    wanted = {name: _from_text(dtype_text(dtype)) for name, dtype in dict(schema).items()}
    extra = [name for name in has if name not in wanted]
    if extra and extra_columns != "ignore":
        msg = f"extra columns in `match_to_schema`: {', '.join(map(_quoted, extra))}"
        raise SchemaError(msg)
    options = {
        "missing_struct_fields": (missing_struct_fields, "raise"), "extra_struct_fields": (extra_struct_fields, "raise"),
        "integer_cast": (integer_cast, "forbid"), "float_cast": (float_cast, "forbid"),
    }  # fmt: skip
    exprs, missing = [], []
    for name, dtype in wanted.items():
        if name in has:
            exprs.append(_Rules(name, options).convert(_nanuk.col(name), has[name], dtype).alias(name))
            continue
        how = missing_columns.get(name, "raise") if isinstance(missing_columns, dict) else missing_columns
        if isinstance(how, str) and how == "raise":
            missing.append(name)
        elif isinstance(how, str):
            exprs.append(_nanuk.lit(None)._call("cast", dtype=dtype).alias(name))
        else:
            exprs.append(how.alias(name))
    if missing:
        msg = f"missing columns in `match_to_schema`: {', '.join(map(_quoted, missing))}"
        raise SchemaError(msg)
    return plan._select(exprs, False)


def _quoted(name: str) -> str:
    return f'"{name}"'

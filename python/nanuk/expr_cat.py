"""Expr.cat: functions of Categoricals and Enums."""

from __future__ import annotations

from nanuk.parse import dtype_text


class _Text:
    """A dtype as an option of a function."""

    __slots__ = ("_text",)

    def __init__(self, dtype) -> None:
        self._text = dtype_text(dtype)


class ExprCat:
    """Functions of categories. Each raises SchemaError for any other dtype."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    def len_bytes(self):
        """Length of categories in bytes, as UInt32."""
        return self._expr._call("cat.len_bytes")

    def len_chars(self):
        """Length of categories in code points, as UInt32."""
        return self._expr._call("cat.len_chars")

    def starts_with(self, prefix: str):
        """Whether categories start with a text.

        Raises TypeError when the prefix is no text.
        """
        return self._expr._call("cat.starts_with", _literal("prefix", prefix))

    def ends_with(self, suffix: str):
        """Whether categories end with a text.

        Raises TypeError when the suffix is no text.
        """
        return self._expr._call("cat.ends_with", _literal("suffix", suffix))

    def slice(self, offset: int, length: int | None = None):
        """Parts of categories, counted in code points, as String."""
        from nanuk.functions import lit

        return self._expr._call("cat.slice", lit(offset), lit(length))

    def to(self, dtype, *, strict: bool = True):
        """Integers as codes of a Categorical or Enum; one that no category has raises ComputeError, or is null."""
        return self._expr._call("cat.to", dtype=_Text(dtype), strict=strict)

    def physical(self):
        """The codes of categories, as UInt8, UInt16 or UInt32."""
        return self._expr._call("cat.physical")


def _literal(name: str, text):
    from nanuk.functions import lit

    if not isinstance(text, str):
        msg = f"{name!r} must be a string; found {type(text).__name__!r}"
        raise TypeError(msg)
    return lit(text)

"""Expr.bin: functions of Binary."""

from __future__ import annotations

from nanuk.parse import whole


class ExprBin:
    """Functions of bytes."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    def contains(self, literal):
        """Whether bytes contain others."""
        return self._expr._call("bin.contains", literal)

    def starts_with(self, prefix):
        """Whether bytes start with others."""
        return self._expr._call("bin.starts_with", prefix)

    def ends_with(self, suffix):
        """Whether bytes end with others."""
        return self._expr._call("bin.ends_with", suffix)

    def decode(self, encoding: str, *, strict: bool = True):
        """Bytes of what "hex" or "base64" text they hold; what is none raises ComputeError, or is null."""
        return self._expr._call("bin.decode", encoding=encoding, strict=strict)

    def encode(self, encoding: str):
        """Text of bytes: "hex" or "base64"."""
        return self._expr._call("bin.encode", encoding=encoding)

    def size(self, unit: str = "b"):
        """How many bytes there are, as UInt32; as Float64 in "kb", "mb", "gb" or "tb"."""
        size = self._expr._call("bin.size")
        power = ("b", "kb", "mb", "gb", "tb").index(unit)
        return size if power == 0 else size / 1024**power

    def reinterpret(self, *, dtype, endianness: str = "little"):
        """Bytes as numbers of a dtype."""
        from nanuk.expr import _Dtype

        return self._expr._call("bin.reinterpret", dtype=_Dtype(dtype), endianness=endianness)

    def slice(self, offset, length=None):
        """A part, from an offset that counts from the end when negative."""
        options = {} if length is None else {"length": whole("length", length)}
        return self._expr._call("bin.slice", offset=whole("offset", offset), **options)

    def head(self, n=5):
        """The first n bytes."""
        return self._expr._call("bin.head", n=whole("n", n))

    def tail(self, n=5):
        """The last n bytes."""
        return self._expr._call("bin.tail", n=whole("n", n))

    def get(self, index, *, null_on_oob: bool = False):
        """A byte by position, as UInt8."""
        return self._expr._call_columns("bin.get", index, null_on_oob=null_on_oob)

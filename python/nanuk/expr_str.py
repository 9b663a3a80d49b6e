"""Expr.str: functions of text."""

from __future__ import annotations

from nanuk.exceptions import Removed


class ExprStr:
    """Functions of text. Positions and lengths count characters, except where bytes are named."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    def len_bytes(self):
        """Length in bytes, as UInt32."""
        return self._expr._call("str.len_bytes")

    def len_chars(self):
        """Length in characters, as UInt32."""
        return self._expr._call("str.len_chars")

    def to_uppercase(self):
        """Capital letters."""
        return self._expr._call("str.to_uppercase")

    def to_lowercase(self):
        """Small letters."""
        return self._expr._call("str.to_lowercase")

    def contains(self, pattern, *, literal: bool = False, strict: bool = True):
        """Whether text contains a regular expression, or with `literal` a text.

        A pattern that is none raises ComputeError, unless `strict` is False: then null.
        """
        return self._expr._call("str.contains", pattern, literal=literal, strict=strict)

    def find(self, pattern, *, literal: bool = False, strict: bool = True):
        """Where a pattern first matches, in bytes; null when it does not."""
        return self._expr._call("str.find", pattern, literal=literal, strict=strict)

    def starts_with(self, prefix):
        """Whether text starts with another."""
        return self._expr._call("str.starts_with", prefix)

    def ends_with(self, suffix):
        """Whether text ends with another."""
        return self._expr._call("str.ends_with", suffix)

    def count_matches(self, pattern, *, literal: bool = False):
        """How often a pattern matches."""
        return self._expr._call("str.count_matches", pattern, literal=literal)

    def extract(self, pattern, group_index: int = 1):
        """What a group of a regular expression matches first; null when it does not."""
        return self._expr._call("str.extract", pattern, group_index=group_index)

    def replace(self, pattern, value, *, literal: bool = False, n: int = 1):
        """The first n matches of a pattern replaced; $1 stands for a group."""
        return self._expr._call("str.replace", pattern, value, literal=literal, n=n)

    def replace_all(self, pattern, value, *, literal: bool = False):
        """All matches of a pattern replaced; $1 stands for a group."""
        return self._expr._call("str.replace_all", pattern, value, literal=literal)

    def slice(self, offset, length=None):
        """A part: an offset, from the end when negative, and a length, to the end by default."""
        args = (offset,) if length is None else (offset, length)
        return self._expr._call_columns("str.slice", *args)

    def head(self, n):
        """The first n characters; all but the last -n when negative."""
        return self._expr._call_columns("str.head", n)

    def tail(self, n):
        """The last n characters; all but the first -n when negative."""
        return self._expr._call_columns("str.tail", n)

    def strip_chars(self, characters=None):
        """Without certain characters at both ends; white space by default."""
        return self._strip("str.strip_chars", characters)

    def strip_chars_start(self, characters=None):
        """Without certain characters at the start; white space by default."""
        return self._strip("str.strip_chars_start", characters)

    def strip_chars_end(self, characters=None):
        """Without certain characters at the end; white space by default."""
        return self._strip("str.strip_chars_end", characters)

    def _strip(self, function: str, characters):
        args = () if characters is None else (characters,)
        return self._expr._call(function, *args)

    def strip_prefix(self, prefix):
        """Without a prefix, where there is one."""
        return self._expr._call("str.strip_prefix", prefix)

    def strip_suffix(self, suffix):
        """Without a suffix, where there is one."""
        return self._expr._call("str.strip_suffix", suffix)

    def pad_start(self, length, fill_char: str = " "):
        """At least so many characters, filled at the start."""
        return self._expr._call_columns("str.pad_start", length, fill_char=fill_char)

    def pad_end(self, length, fill_char: str = " "):
        """At least so many characters, filled at the end."""
        return self._expr._call_columns("str.pad_end", length, fill_char=fill_char)

    def zfill(self, length):
        """At least so many characters, filled with zeros behind the sign."""
        return self._expr._call_columns("str.zfill", length)

    def reverse(self):
        """Characters in reverse order."""
        return self._expr._call("str.reverse")

    def to_integer(self, *, base: int = 10, dtype=None, strict: bool = True):
        """Whole numbers in a base from 2 to 36, as Int64 or another integer dtype.

        What is none raises ComputeError, unless `strict` is False: then it is null.
        """
        from nanuk.expr import _Dtype
        from nanuk.parse import whole

        options = {} if dtype is None else {"dtype": _Dtype(dtype)}
        return self._expr._call("str.to_integer", base=whole("base", base), strict=strict, **options)

    def encode(self, encoding: str):
        """The bytes of text as text: "hex" or "base64"."""
        return self._expr._call("str.encode", encoding=encoding)

    def decode(self, encoding: str, *, strict: bool = True):
        """The bytes that text stands for, "hex" or "base64", as Binary.

        What is none raises ComputeError, unless `strict` is False: then it is null.
        """
        return self._expr._call("str.decode", encoding=encoding, strict=strict)

    def escape_regex(self):
        """Text as a pattern that matches it."""
        return self._expr._call("str.replace_all", r"([\\.+*?()|\[\]{}^$#&\-~])", r"\$1")

    concat = Removed("`str.join`")

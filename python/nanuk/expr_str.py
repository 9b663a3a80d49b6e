"""Expr.str: functions of text."""

from __future__ import annotations

from nanuk import _nanuk
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

    def split(self, by, *, inclusive: bool = False, literal: bool = True, strict: bool = True):
        """The pieces between occurrences of a text, as a list; without `literal`, of a regular expression.

        `inclusive` leaves the separator at the end of its piece. A bad expression raises ComputeError, or gives null
        unless
        `strict`.
        """
        by = _nanuk.lit(by) if isinstance(by, str) or by is None else by
        return self._expr._call("str.split", by, inclusive=inclusive, literal=literal, strict=strict)

    def split_exact(self, by, n: int, *, inclusive: bool = False):
        """The first n + 1 pieces between occurrences of a text, as a Struct with fields field_0 and so on."""
        return self._fields(self.split(by, inclusive=inclusive), n + 1)

    def extract_all(self, pattern):
        """All that matches a regular expression, as a list."""
        return self._expr._call("str.extract_all", pattern)

    def _fields(self, pieces, n: int):
        fields = [pieces.list.get(i, null_on_oob=True).alias(f"field_{i}") for i in range(n)]
        from nanuk import struct

        name = self._expr._output_name()
        made = struct(fields)
        return made if name is None else made.alias(name)

    def join(self, delimiter: str = "", *, ignore_nulls: bool = True):
        """All values as one text with a delimiter between them; a null makes it null unless they are ignored."""
        return self._expr._call("str.join", delimiter=delimiter, ignore_nulls=ignore_nulls)

    def to_titlecase(self):
        """The first letter of each word as a capital, the others small."""
        return self._expr._call("str.to_titlecase")

    def contains_any(self, patterns, *, ascii_case_insensitive: bool = False):
        """Whether text contains any of several texts; a list or a Series of them."""
        if isinstance(patterns, _nanuk.Expr):
            raise NotImplementedError("an expression as `patterns` is not implemented yet")
        import re

        alternatives = "|".join(re.escape(pattern) for pattern in patterns if pattern is not None)
        flag = "(?i)" if ascii_case_insensitive else ""
        if not alternatives:
            return self._expr._call("is_null")._call("and", None)
        return self._expr._call("str.contains", _nanuk.lit(f"{flag}(?:{alternatives})"))

    def json_decode(self, dtype):
        """JSON text as values of a dtype: keys that are no field are left out, numbers that do not fit are null.

        Raises ComputeError for text that is no JSON and for values that the dtype cannot hold.
        """
        from nanuk.expr import _Dtype

        return self._expr._call("str.json_decode", dtype=_Dtype(dtype))

    # ---- Dates and times ----

    def to_date(self, format: str | None = None, *, strict: bool = True, exact: bool = True, cache: bool = True):
        """As Date, by a format or in the order of the first value that is a date; with `exact` off, found anywhere.

        Text that is none raises InvalidOperationError, or is null unless `strict`; ComputeError when none is.
        """
        if format is None:
            return self._expr._call("str.infer_date", strict=strict, exact=exact)
        return self._expr._call("str.to_date", format=format, strict=strict, exact=exact)

    def to_datetime(self, format: str | None = None, *, time_unit: str | None = None, time_zone: str | None = None,
                    strict: bool = True, exact: bool = True, cache: bool = True, ambiguous="raise"):  # fmt: skip
        """As Datetime; see to_date. The unit is "us", unless the format asks for 3 or 9 digits of a second.

        An offset in the format gives instants, in UTC or the time zone; else text is local time of the zone, which
        raises ComputeError where clocks show it twice or never, unless `ambiguous` tells.
        """
        if time_unit is None:
            digits = format or ""
            time_unit = "ns" if "9f" in digits else "ms" if "3f" in digits else "us"
        options = {"time_unit": time_unit, "time_zone": time_zone, "strict": strict, "exact": exact}
        if format is None:
            return self._expr._call("str.infer_datetime", ambiguous, **options)
        return self._expr._call("str.to_datetime", ambiguous, format=format, **options)

    def to_time(self, format: str | None = None, *, strict: bool = True, cache: bool = True):
        """As Time; see to_date."""
        if format is None:
            return self._expr._call("str.infer_time", strict=strict)
        return self._expr._call("str.to_time", format=format, strict=strict)

    def strptime(self, dtype, format: str | None = None, *, strict: bool = True, exact: bool = True, cache: bool = True,
                 ambiguous="raise"):  # fmt: skip
        """As Date, Datetime or Time; see to_date, to_datetime and to_time. Raises ValueError for another dtype."""
        from nanuk.datatypes import Date, Datetime, Time

        if dtype == Date:
            return self.to_date(format, strict=strict, exact=exact)
        if dtype == Datetime:
            unit, zone = getattr(dtype, "time_unit", None), getattr(dtype, "time_zone", None)
            unit = unit if isinstance(unit, str) else None
            zone = zone if isinstance(zone, str) else None
            return self.to_datetime(
                format, time_unit=unit, time_zone=zone, strict=strict, exact=exact, ambiguous=ambiguous
            )
        if dtype == Time:
            return self.to_time(format, strict=strict)
        raise ValueError("`dtype` must be of type {Date, Datetime, Time}")

    concat = Removed("`str.join`")

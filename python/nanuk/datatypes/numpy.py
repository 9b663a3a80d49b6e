"""Data types of NumPy's type codes."""

from __future__ import annotations

from nanuk import datatypes as t

_KINDS = {
    "b1": t.Boolean, "i1": t.Int8, "i2": t.Int16, "i4": t.Int32, "i8": t.Int64, "u1": t.UInt8, "u2": t.UInt16,
    "u4": t.UInt32, "u8": t.UInt64, "f2": t.Float16, "f4": t.Float32, "f8": t.Float64,
}  # fmt: skip
_BY_LETTER = {"U": t.String, "S": t.Binary, "O": t.Object, "?": t.Boolean}


def of_code(code):
    """The dtype of a type code.

    Raises ValueError for one that has none.
    """
    text = str(code).lstrip("<>=|")
    if text in _KINDS:
        return _KINDS[text]
    if text and text[0] in _BY_LETTER:
        return _BY_LETTER[text[0]]
    if text[:2] in ("M8", "m8"):
        unit = text[3:-1] if "[" in text else ""
        if unit == "D" and text[0] == "M":
            return t.Date
        kind = t.Datetime if text[0] == "M" else t.Duration
        return kind(unit) if unit in ("ms", "us", "ns") else kind
    msg = f"cannot parse numpy data type {code!r} into Polars data type"
    raise ValueError(msg)

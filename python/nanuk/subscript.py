"""What stands between brackets: rows and columns by position, name, slice, array or Series."""

from __future__ import annotations

from nanuk import _nanuk

_MASK = "selecting rows by passing a boolean mask to `__getitem__` is not supported\n\nHint: Use the `filter` method instead."


def _of_array(key) -> list | int:
    """The positions in a NumPy array.

    Raises TypeError for one of other values than integers.
    """
    kind = key.dtype.kind
    if kind == "b":
        raise TypeError(_MASK)
    if key.ndim == 0:
        key = key.reshape(1)
    if key.ndim > 1:
        raise TypeError("multi-dimensional NumPy arrays not supported as index")
    if kind not in "iu" and key.size:
        msg = f"cannot treat NumPy array of type {key.dtype} as indices"
        raise TypeError(msg)
    return key.tolist()


def _of_series(key) -> list:
    dtype = key.dtype
    if dtype.is_integer() or len(key) == 0:
        return key.to_list()
    if key._dtype_text == "Boolean":
        raise TypeError(_MASK)
    msg = f"cannot treat Series of type {dtype} as indices"
    raise TypeError(msg)


def rows_of(key, what: str) -> list:
    """Rows that an array, a Series or a sequence names; `what` are called "elements" or "rows".

    Raises TypeError for keys that are no positions.
    """
    if isinstance(key, _nanuk.Series):
        return _of_series(key)
    if hasattr(key, "__array_interface__"):
        return _of_array(key)
    if isinstance(key, (list, tuple, range, str)):
        items = list(key)
        if items and isinstance(items[0], bool):
            raise TypeError(_MASK)
        for item in items:
            if not hasattr(item, "__index__"):
                if what == "rows" and isinstance(item, float):
                    msg = f"unexpected value while building Series of type Int64; found value of type Float64: {item!r}"
                else:
                    msg = f"cannot select {what} using Sequence with elements of type {type(item).__name__!r}"
                raise TypeError(msg)
        return [item.__index__() for item in items]
    msg = f"cannot select {what} using key of type {type(key).__name__!r}: {key!r}"
    raise TypeError(msg)


def columns_of(key, names: list[str]) -> list:
    """Columns, by name or position, that a key names.

    Raises TypeError for keys that name none, ValueError for a mask of another length.
    """
    if isinstance(key, _nanuk.Series):
        if key._dtype_text not in ("String", "Boolean") and not key.dtype.is_integer() and len(key):
            msg = f"cannot select columns using Series of type {key.dtype}"
            raise TypeError(msg)
        items = key.to_list()
    elif hasattr(key, "__array_interface__"):
        if key.dtype.kind not in "biuUO" and key.size:
            msg = f"cannot select columns using NumPy array of type {key.dtype}"
            raise TypeError(msg)
        items = key.tolist()
    elif isinstance(key, (list, tuple, range)):
        items = list(key)
    else:
        msg = f"cannot select columns using key of type {type(key).__name__!r}: {key!r}"
        raise TypeError(msg)
    if not items:
        return items
    if isinstance(items[0], bool) or type(items[0]).__name__ == "bool":
        if len(items) != len(names):
            msg = f"expected {len(names)} values when selecting columns by boolean mask, got {len(items)}"
            raise ValueError(msg)
        return [i for i, flag in enumerate(items) if flag]
    by_name = isinstance(items[0], str)
    for item in items:
        if not isinstance(item, (str, int)) and not hasattr(item, "__index__"):
            msg = f"cannot select columns using Sequence with elements of type {type(item).__name__!r}"
            raise TypeError(msg)
        if isinstance(item, str) != by_name:
            kind = type(item).__name__
            wanted = "is not an instance of 'str'" if by_name else "cannot be interpreted as an integer"
            msg = f"{kind!r} object {wanted}"
            raise TypeError(msg)
    return items


def is_mask(key) -> bool:
    """Whether a key of columns is a list of flags."""
    return isinstance(key, (list, tuple)) and bool(key) and isinstance(key[0], bool)

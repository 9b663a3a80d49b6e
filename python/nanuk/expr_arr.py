"""Expr.arr: functions of Arrays, which are lists of one width."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.expr_list import ExprList, names_option


class ExprArr(ExprList):
    """Functions of Arrays: those of lists, and where the width stays, an Array again. A null Array gives null."""

    __slots__ = ()

    def __init__(self, expr) -> None:
        super().__init__(expr._call("arr.check"))

    def _like(self, lists):
        return self._expr._call("arr.like", lists)

    def eval(self, expr, *, as_list: bool = False):
        """An expression over the items of each Array, `element()`; a List of its results with `as_list`."""
        result = self._expr._within("eval", _nanuk.parse(expr))
        return result._call("arr.to_list") if as_list else self._like(result)

    def sort(self, *, descending: bool = False, nulls_last: bool = False):
        """The items in order, nulls first unless `nulls_last`."""
        return self._like(super().sort(descending=descending, nulls_last=nulls_last))

    def reverse(self):
        """The items in reverse order."""
        return self._like(self._expr._call("list.reverse"))

    def shift(self, n=1):
        """The items moved by n places; null comes in. Text means a column."""
        return self._like(super().shift(n))

    def to_list(self):
        """Arrays as lists."""
        return self._expr._call("arr.to_list")

    def to_struct(self, fields=None):
        """The items as fields of these names, or "field_0", "field_1" and so on."""
        return self._expr._call("list.to_struct", **({} if fields is None else {"fields": names_option(fields)}))

    def slice(self, offset, length=None, *, as_array: bool = False):
        """A part: an offset and a length, as a List, or as an Array, which needs numbers."""
        part = super().slice(offset, length)
        return part._call("list.to_array", width=length) if as_array else part

    def head(self, n=5, *, as_array: bool = False):
        """The first n items, as a List or an Array."""
        return self.slice(0, n, as_array=as_array)

    def tail(self, n=5, *, as_array: bool = False):
        """The last n items, as a List or an Array."""
        part = super().tail(n)
        return part._call("list.to_array", width=n) if as_array else part

    def dot(self, other):
        """Sum of the products of items with those of another Array."""
        return (self._expr * other).arr.sum()

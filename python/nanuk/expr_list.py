"""Expr.list: functions of lists."""

from __future__ import annotations

from nanuk import _nanuk


class ExprList:
    """Functions of lists. A null list gives null. For other dtypes they raise InvalidOperationError."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    # ---- Within lists ----

    def eval(self, expr, *, parallel: bool = False):
        """An expression over the items of each list, `element()`; a List of its results."""
        return self._expr._within("eval", _nanuk.parse(expr))

    def agg(self, expr):
        """An expression over the items of each list, `element()`; what aggregates gives one value a list."""
        return self._expr._within("agg", _nanuk.parse(expr))

    def filter(self, predicate):
        """The items of each list for which an expression over them, `element()`, is true."""
        return self._expr._within("filter", _nanuk.parse(predicate))

    # ---- Aggregations ----

    def any(self, *, ignore_nulls: bool = True):
        """Whether any item is true; Kleene logic when nulls are not ignored."""
        return self._expr._call("list.any", ignore_nulls=ignore_nulls)

    def all(self, *, ignore_nulls: bool = True):
        """Whether all items are true; Kleene logic when nulls are not ignored."""
        return self._expr._call("list.all", ignore_nulls=ignore_nulls)

    def std(self, ddof: int = 1):
        """Standard deviation with divisor n - ddof."""
        return self._expr._call("list.std", ddof=ddof)

    def var(self, ddof: int = 1):
        """Variance with divisor n - ddof."""
        return self._expr._call("list.var", ddof=ddof)

    def item(self, *, allow_empty: bool = False):
        """The only item. Raises ComputeError when there is another number; none gives null with `allow_empty`."""
        return self._expr._call("list.item", allow_empty=allow_empty)

    # ---- Items ----

    def get(self, index, *, null_on_oob: bool = False):
        """The item at a position, from the end when negative; text means a column.

        A position outside raises ComputeError, or gives null with `null_on_oob`.
        """
        return self._expr._call_columns("list.get", index, null_on_oob=null_on_oob)

    def first(self):
        """The first item; null when there is none."""
        return self.get(0, null_on_oob=True)

    def last(self):
        """The last item; null when there is none."""
        return self.get(-1, null_on_oob=True)

    def contains(self, item, *, nulls_equal: bool = True):
        """Whether an item equals a value. Raises InvalidOperationError for a value that the lists cannot hold."""
        return self._expr._call("list.contains", item, nulls_equal=nulls_equal)

    def count_matches(self, element):
        """How many items equal a value, as UInt32; null equals null."""
        return self._expr._call("list.count_matches", element)

    def join(self, separator, *, ignore_nulls: bool = True):
        """The texts with a separator between them; text means that text.

        Nulls are left out, or with `ignore_nulls=False` make the result null.
        """
        return self._expr._call("list.join", separator, ignore_nulls=ignore_nulls)

    # ---- Other lists ----

    def head(self, n=5):
        """The first n items; text means a column."""
        return self.slice(0, n)

    def tail(self, n=5):
        """The last n items; text means a column."""
        n = _column(n)
        return self._expr._call("list.slice", -n if not isinstance(n, int) or n else _nanuk.lit(2**62), n)

    def slice(self, offset, length=None):
        """A part: an offset, from the end when negative, and a length, to the end by default; text means columns."""
        args = (offset,) if length is None else (offset, length)
        return self._expr._call_columns("list.slice", *args)

    def sort(self, *, descending: bool = False, nulls_last: bool = False):
        """The items in order, nulls first unless `nulls_last`."""
        return self._expr._call("list.sort", descending=descending, nulls_last=nulls_last)

    def unique(self, *, maintain_order: bool = False):
        """Each item once, in the order of first appearance."""
        return self._expr._call("list.unique", maintain_order=maintain_order)

    def shift(self, n=1):
        """The items moved by n places; null comes in. Text means a column."""
        return self._expr._call_columns("list.shift", n)

    def diff(self, n: int = 1, null_behavior: str = "ignore"):
        """Differences to the item n places before; with `null_behavior="drop"` without the nulls at the start."""
        if null_behavior not in ("ignore", "drop"):
            msg = f"`null_behavior` must be one of {{'ignore', 'drop'}}, got {null_behavior}"
            raise ValueError(msg)
        return self.eval(_nanuk.call("element").diff(n, null_behavior))

    def gather(self, indices, *, null_on_oob: bool = False):
        """The items at positions given by a list for all rows, or a column of lists; negative ones count from the end.

        A position outside raises OutOfBoundsError, or gives null with `null_on_oob`.
        """
        return self._expr._call_columns("list.gather", _lists(indices), null_on_oob=null_on_oob)

    def gather_every(self, n, offset=0):
        """Every n-th item from an offset; text means columns. Raises ComputeError for n of 0."""
        return self._expr._call_columns("list.gather_every", n, offset)

    def concat(self, other):
        """The items of further lists behind; a Python list of values is a list for all rows."""
        if isinstance(other, list) and other and isinstance(other[0], (_nanuk.Expr, _nanuk.Series, str)):
            others = [_column(item) for item in other]
        else:
            others = [_lists(other)]
        return self._expr._call_columns("list.concat", *others)

    def set_union(self, other):
        """The different items of both lists; text means a column."""
        return self._expr._call_columns("list.set_union", _lists(other))

    def set_intersection(self, other):
        """The different items that both lists have; text means a column."""
        return self._expr._call_columns("list.set_intersection", _lists(other))

    def set_difference(self, other):
        """The different items that the other list has not; text means a column."""
        return self._expr._call_columns("list.set_difference", _lists(other))

    def set_symmetric_difference(self, other):
        """The different items that only one of both lists has; text means a column."""
        return self._expr._call_columns("list.set_symmetric_difference", _lists(other))

    def explode(self, *, empty_as_null: bool = False, keep_nulls: bool = True):
        """The items of all lists one after another; see Expr.explode."""
        return self._expr._call("explode", empty_as_null=empty_as_null, keep_nulls=keep_nulls)

    def sample(self, n=None, *, fraction=None, with_replacement: bool = False, shuffle: bool | None = None,
               seed: int | None = None):  # fmt: skip
        """Items at random."""
        raise NotImplementedError("`list.sample` is not implemented yet")

    # ---- Other dtypes ----

    def to_struct(self, fields):
        """The first items as fields of these names; null where there are fewer."""
        return self._expr._call("list.to_struct", fields=names_option(fields))

    def to_array(self, width: int):
        """Arrays of a width. Raises ComputeError for a list of another length."""
        return self._expr._call("list.to_array", width=width)

    def to_map(self):
        """A Map of lists of key-value Structs."""
        raise NotImplementedError("`list.to_map` is not implemented yet")


def _method(name: str, doc: str):
    def method(self):
        return self._expr._call(function)

    function = f"list.{name}"
    method.__name__ = name
    method.__qualname__ = f"ExprList.{name}"
    method.__doc__ = doc
    return method


for _name, _doc in (
    ("len", "How many items there are, nulls included, as UInt32."),
    ("sum", "Sum; 0 when there is nothing to add."),
    ("mean", "Mean; null when there are no values."),
    ("median", "Median; null when there are no values."),
    ("min", "Smallest item."),
    ("max", "Largest item."),
    ("n_unique", "How many different items there are; null counts as one."),
    ("arg_min", "Position of the smallest item, as UInt32."),
    ("arg_max", "Position of the largest item, as UInt32."),
    ("reverse", "The items in reverse order."),
    ("drop_nulls", "The items that are not null."),
):
    setattr(ExprList, _name, _method(_name, _doc))


class names_option:  # noqa: N801
    """Names as an option of a function: a Struct dtype with fields of these names."""

    __slots__ = ("_text",)

    def __init__(self, names) -> None:
        from nanuk.datatypes import Null, Struct

        names = [names] if isinstance(names, str) else list(names)
        self._text = Struct([(name, Null) for name in names])._text


def _column(value):
    return _nanuk.col(value) if isinstance(value, str) else value


def _lists(value):
    """Lists of an argument: Python collections and Series of values are one list for all rows."""
    if isinstance(value, (list, tuple, set, frozenset, range)):
        from nanuk.series import Series

        value = Series("", list(value), strict=False)
        if value._dtype_text[:4] == "List" and len(value):
            return _nanuk.lit(value)
        return _nanuk.lit(value)._call("implode")
    return value

"""Expr: which rows, and in which order. Filters, slices, sorting, gathering, distinct values, samples."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.parse import flag_text, flatten, is_several, parse_predicates, seed_of, whole


class _Int64:
    _text = "Int64"


_INT64 = _Int64()


class ExprRows:
    """Methods that choose or move values."""

    __slots__ = ()

    # ---- Choosing ----

    def filter(self, *predicates, **constraints):
        """The values where all predicates are true; keyword arguments are columns and the values they must equal.

        Raises InvalidOperationError for a predicate that is not Boolean.
        """
        items = parse_predicates(predicates, constraints)
        if not items:
            return self
        result = _nanuk.parse(items[0])
        for item in items[1:]:
            result = result._call("and", _nanuk.parse(item))
        return self._call("filter", result)

    def head(self, n=10):
        """The first n values; all but the last -n when n is negative. A number or an expression of one."""
        if isinstance(n, _nanuk.Expr):
            n = n._call("cast", dtype=_INT64)
            rest = self._length()._call("add", n)
            return self._between(_nanuk.lit(0), _nanuk.call("when", n._call("ge", 0), n, rest))
        return self._call("head", n=whole("n", n))

    def tail(self, n=10):
        """The last n values; all but the first -n when n is negative. A number or an expression of one."""
        if isinstance(n, _nanuk.Expr):
            n = n._call("cast", dtype=_INT64)
            length = self._length()
            start = _nanuk.call("when", n._call("ge", 0), length._call("sub", n), n._call("neg"))
            return self._between(start, length)
        return self._call("tail", n=whole("n", n))

    def limit(self, n=10):
        """The first n values."""
        return self.head(n)

    def slice(self, offset, length=None):
        """Values from an offset, which counts from the end when negative; all of them without a length.

        Both are numbers or expressions of one. Raises OverflowError when the length is negative.
        """
        if isinstance(offset, (_nanuk.Expr, str)) or isinstance(length, (_nanuk.Expr, str)):
            offset = _nanuk.parse(offset)._call("cast", dtype=_INT64)
            n = self._length()
            start = _nanuk.call("when", offset._call("ge", 0), offset, n._call("add", offset))
            if length is None:
                return self._between(start, n)
            return self._between(start, start._call("add", _nanuk.parse(length)._call("cast", dtype=_INT64)))
        if length is None:
            return self._call("slice", offset=whole("offset", offset))
        return self._call("slice", offset=whole("offset", offset), length=whole("length", length))

    def _length(self):
        return self._call("len")._call("cast", dtype=_INT64)

    def _between(self, start, end):
        """The values from one position to another, as far as there are any; both are expressions of one number."""
        n = self._length()
        start, end = (
            _nanuk.call("min_horizontal", _nanuk.call("max_horizontal", place, _nanuk.lit(0)), n)
            for place in (start, end)
        )
        return self._call("gather", _nanuk.call("int_range", start, end))

    def gather(self, indices, *, null_on_oob: bool = False):
        """The values at positions, which count from the end when negative; text means a column.

        Raises OutOfBoundsError beyond the end, or with `null_on_oob` gives null there.
        """
        if is_several(indices):
            from nanuk.series import Series

            indices = Series("", [*indices]) if indices else _nanuk.series_from_list("", [], "Int64", True)
        return self._call_columns("gather", indices, null_on_oob=null_on_oob)

    def get(self, index, *, null_on_oob: bool = False):
        """One value by position, which counts from the end when negative.

        Raises OutOfBoundsError beyond the end, or with `null_on_oob` gives null.
        """
        return self._call_columns("gather", index, null_on_oob=null_on_oob)._call("first")

    def gather_every(self, n: int, offset: int = 0):
        """Every nth value, from an offset on."""
        return self._call("gather_every", n=whole("n", n), offset=whole("offset", offset))

    def item(self, *, allow_empty: bool = False):
        """The only value; with `allow_empty` null when there is none.

        Raises ComputeError when there is another number of values.
        """
        return self._call("item", allow_empty=allow_empty)

    def drop_nans(self):
        """The values that are not NaN; nulls stay."""
        return self._call("filter", self._call("is_not_nan")._call("fill_null", True))

    def unique(self, *, maintain_order: bool = False):
        """Each different value once, null among them; in order of appearance with `maintain_order`."""
        return self._call("unique", maintain_order=maintain_order)

    def arg_unique(self):
        """Positions of the first of each different value, as UInt32."""
        return self._call("arg_unique")

    def arg_true(self):
        """Positions where a Boolean is true, as UInt32."""
        return self._call("arg_true")

    def sample(self, n=None, *, fraction=None, with_replacement: bool = False, shuffle: bool | None = None, seed=None):
        """Values chosen at random: n of them, or a fraction, one by default.

        Raises ShapeError for more than there are, unless `with_replacement`; ValueError for both n and fraction.
        """
        if n is not None and fraction is not None:
            raise ValueError("cannot specify both `n` and `fraction`")
        seed = seed_of(seed)
        options = {} if seed is None else {"seed": seed}
        if fraction is not None:
            return self._call("sample", fraction=float(whole("fraction", fraction, float)), with_replacement=with_replacement,
                              shuffle=bool(shuffle), **options)  # fmt: skip
        return self._call("sample", n=1 if n is None else whole("n", n), with_replacement=with_replacement,
                          shuffle=bool(shuffle), **options)  # fmt: skip

    # ---- Order ----

    def sort(self, *, descending: bool = False, nulls_last: bool = False):
        """The values in order; nulls come first unless `nulls_last`."""
        return self._call("sort", descending=descending, nulls_last=nulls_last)

    def arg_sort(self, *, descending: bool = False, nulls_last: bool = False):
        """Positions that bring the values into order, as UInt32."""
        return self._call("arg_sort", descending=descending, nulls_last=nulls_last)

    def sort_by(self, by, *more_by, descending=False, nulls_last=False, multithreaded: bool = True,
                maintain_order: bool = False):  # fmt: skip
        """The values in the order of other columns or expressions.

        `descending` and `nulls_last` are one flag for all or a list of as many, else ValueError.
        """
        keys = flatten(by, more_by)
        return self._call_columns(
            "sort_by", *keys, descending=flag_text("descending", descending, len(keys)),
            nulls_last=flag_text("nulls_last", nulls_last, len(keys)),
        )  # fmt: skip

    def top_k(self, k: int = 5):
        """The k largest values, largest first; nulls only when there is nothing else."""
        return self._call("sort", descending=True, nulls_last=True)._call("head", n=whole("k", k))

    def bottom_k(self, k: int = 5):
        """The k smallest values, smallest first; nulls only when there is nothing else."""
        return self._call("sort", nulls_last=True)._call("head", n=whole("k", k))

    def top_k_by(self, by, k: int = 5, *, reverse=False):
        """The values beside the k largest of other columns."""
        return self._first_by(by, k, reverse, True)

    def bottom_k_by(self, by, k: int = 5, *, reverse=False):
        """The values beside the k smallest of other columns."""
        return self._first_by(by, k, reverse, False)

    def _first_by(self, by, k, reverse, largest: bool):
        keys = flatten(by)
        if isinstance(reverse, (list, tuple)):
            if len(reverse) != len(keys):
                msg = f"the length of `reverse` ({len(reverse)}) does not match the length of `by` ({len(keys)})"
                raise ValueError(msg)
            descending = [bool(flag) != largest for flag in reverse]
        else:
            descending = bool(reverse) != largest
        return self.sort_by(keys, descending=descending, nulls_last=True)._call("head", n=whole("k", k))

    def min_by(self, by):
        """The value beside the smallest of another column."""
        return self._call("gather", _nanuk.parse(by)._call("arg_min"))._call("first")

    def max_by(self, by):
        """The value beside the largest of another column."""
        return self._call("gather", _nanuk.parse(by)._call("arg_max"))._call("first")

    def reverse(self):
        """The values from last to first."""
        return self._call("reverse")

    def shuffle(self, seed: int | None = None):
        """The values in random order."""
        return self._call("shuffle", seed=seed_of(seed))

    def arg_min(self):
        """Position of the smallest value, as UInt32."""
        return self._call("arg_min")

    def arg_max(self):
        """Position of the largest value, as UInt32."""
        return self._call("arg_max")

    def is_sorted(self, *, descending: bool | None = False, nulls_last: bool | None = False):
        """Whether values are in order; None as a flag stands for either."""
        result = None
        for down in (False, True) if descending is None else (descending,):
            for last in (False, True) if nulls_last is None else (nulls_last,):
                test = self._call("is_sorted", descending=down, nulls_last=last)
                result = test if result is None else result._call("or", test)
        return result

    def set_sorted(self, *, descending: bool = False, nulls_last: bool = False):
        """A promise that values are in order; what they are does not change."""
        return self

    # ---- Where values are ----

    def index_of(self, element):
        """Position of the first value that equals an element, as UInt32; null when there is none."""
        return self._call("index_of", element)

    def search_sorted(self, element, side: str = "any", *, descending: bool = False):
        """Where an element belongs among sorted values, as UInt32.

        side: "any", "left" or "right" of equal values, else ValueError.
        """
        if side not in ("any", "left", "right"):
            msg = f"`side` must be one of {{'any', 'left', 'right'}}, got {side}"
            raise ValueError(msg)
        if is_several(element):
            from nanuk.exceptions import InvalidOperationError

            raise InvalidOperationError("a list as `element` of `search_sorted` is ambiguous; use a Series or `lit`")
        return self._call("search_sorted", element, side=side, descending=descending)

    # ---- Lengths ----

    def append(self, other, *, upcast: bool = True):
        """The values and those of another expression; dtypes are brought together unless `upcast` is False."""
        return self._call_columns("append", other, upcast=upcast)

    def extend_constant(self, value, n):
        """The values and n times another one."""
        value = _nanuk.lit(value) if isinstance(value, str) else _nanuk.parse(value)
        return self._call("append", _nanuk.call("repeat", value, n))

    def explode(self, *, empty_as_null: bool = False, keep_nulls: bool = True):
        """The items of lists one below the other."""
        return self._call("explode", empty_as_null=empty_as_null, keep_nulls=keep_nulls)

    def repeat_by(self, by):
        """Lists that hold a value as often as another column says."""
        return self._call_columns("repeat_by", by)

    def reshape(self, dimensions):
        """The values, those within lists too, as Arrays of certain dimensions; the first one may be inferred, as -1."""
        return self._call("reshape", dimensions=",".join(str(whole("dimensions", size)) for size in dimensions))

    def is_empty(self, *, ignore_nulls: bool = False):
        """Whether there are no values; nulls do not count with `ignore_nulls`."""
        return self._call("count" if ignore_nulls else "len")._call("eq", 0)

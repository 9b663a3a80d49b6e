"""Expr: how values are distributed. Frequencies, moments, runs, bins, and values that stand for others."""

from __future__ import annotations

from collections.abc import Mapping

from nanuk import _nanuk
from nanuk.parse import is_several, plain_method

_NO_DEFAULT = object()


class ExprStats:
    """Statistics of values."""

    __slots__ = ()

    def mode(self, *, maintain_order: bool = False):
        """The most frequent values; all of them when several are."""
        return self._call("mode", maintain_order=maintain_order)

    def approx_quantile(
        self, quantile, *, method: str = "auto", error: float = 0.001, error_tightness: str = "empirical"
    ):
        """About a quantile; here it is exact."""
        return self.quantile(quantile)

    def dot(self, other):
        """Sum of the products with another column; text means a column."""
        return self._call_columns("mul", other)._call("sum")

    def skew(self, *, bias: bool = True):
        """Skewness: the third moment over the variance to the power of 1.5; corrected for bias unless `bias`.

        Null without values, or with `bias=False` of fewer than three.
        """
        n, second, third = self._moments(3)
        result = third._call("truediv", second._call("pow", 1.5))
        if bias:
            return result
        n = n._call("cast", dtype=_Float64)
        factor = n._call("mul", n._call("sub", 1))._call("sqrt")._call("truediv", n._call("sub", 2))
        return _nanuk.call("when", n._call("gt", 2), factor._call("mul", result), _nanuk.lit(None))

    def kurtosis(self, *, fisher: bool = True, bias: bool = True):
        """Kurtosis: the fourth moment over the squared variance, less 3 with `fisher`.

        Null without values, or with `bias=False` of fewer than four.
        """
        n, second, fourth = self._moments(4)
        result = fourth._call("truediv", second._call("pow", 2))
        if not bias:
            n = n._call("cast", dtype=_Float64)
            n1, n2, n3 = (n._call("sub", i) for i in (1, 2, 3))
            scaled = (
                n._call("mul", n)._call("sub", 1)._call("mul", result)._call("sub", n1._call("mul", n1)._call("mul", 3))
            )
            corrected = scaled._call("truediv", n2._call("mul", n3))._call("add", 3)
            result = _nanuk.call("when", n._call("gt", 3), corrected, _nanuk.lit(None))
        return result._call("sub", 3.0) if fisher else result

    def _moments(self, order: int):
        """How many values there are, their second central moment, and one of a higher order."""
        away = self._call("sub", self._call("mean"))
        return self._call("count"), away._call("mul", away)._call("mean"), away._call("pow", order)._call("mean")

    def entropy(self, base: float = 2.718281828459045, *, normalize: bool = True):
        """Entropy of values taken as probabilities, which `normalize` makes sum to 1."""
        p = self._call("truediv", self._call("sum")) if normalize else self
        return p._call("mul", p.log(base))._call("sum")._call("neg")

    def value_counts(
        self, *, sort: bool = False, parallel: bool = False, name: str | None = None, normalize: bool = False
    ):
        """Each different value with how often it occurs, as a Struct; the share of all with `normalize`."""
        return self._call(
            "value_counts", sort=sort, name=name or ("proportion" if normalize else "count"), normalize=normalize
        )

    def cut(self, breaks, *, labels=None, left_closed: bool = False, include_breaks: bool = False):
        """Values as the intervals that they fall into."""
        return self._call("cut", [*breaks], left_closed=left_closed, include_breaks=include_breaks)

    def qcut(self, quantiles, *, labels=None, left_closed: bool = False, allow_duplicates: bool = False,
             include_breaks: bool = False):  # fmt: skip
        """Values as the intervals between quantiles that they fall into."""
        return self._call("qcut", left_closed=left_closed, include_breaks=include_breaks)

    def bin_intervals(self, intervals, *, labels, include_intervals: bool = False, right_closed: bool = False):
        """Values as labels of intervals."""
        return self._call("bin_intervals", right_closed=right_closed)

    def bin_quantiles(self, quantiles, *, labels, include_intervals: bool = False, right_closed: bool = False):
        """Values as labels of the intervals between quantiles."""
        return self._call("bin_quantiles", right_closed=right_closed)

    def bin_ranks(self, ranks, *, labels, include_intervals: bool = False):
        """Values as labels of ranges of ranks."""
        return self._call("bin_ranks")

    def hist(self, bins=None, *, bin_count: int | None = None, include_category: bool = False,
             include_breakpoint: bool = False):  # fmt: skip
        """How many values fall into each bin."""
        return self._call("hist", include_category=include_category, include_breakpoint=include_breakpoint)

    def replace(self, old, new=_NO_DEFAULT):
        """Other values in place of some: `replace({1: 10})`, or lists of old and new ones; the dtype stays.

        Raises InvalidOperationError for lists of different lengths, for old values that repeat, and for new ones that
        do
        not fit the dtype.
        """
        old, new = _old_and_new(old, new)
        return self if not old else self._call("replace", _list_of(old), _list_of(new))

    def replace_strict(self, old, new=_NO_DEFAULT, *, default=_NO_DEFAULT, return_dtype=None):
        """Other values in place of all: a value that is not among the old ones becomes the default.

        Raises InvalidOperationError when there is no default and a value is not among them.
        """
        old, new = _old_and_new(old, new)
        if not old and default is _NO_DEFAULT:
            from nanuk.exceptions import InvalidOperationError

            raise InvalidOperationError("must specify which values to replace")
        more = ()
        if default is not _NO_DEFAULT:
            more = (_nanuk.lit(default) if isinstance(default, str) else _nanuk.parse(default),)
        result = self._call("replace_strict", _list_of(old), _list_of(new), *more)
        if return_dtype is None:
            return result
        return result.cast(return_dtype)

    def rle(self):
        """Runs of equal values, as a Struct of length and value."""
        return self._call("rle")

    def inspect(self, fmt: str = "{}"):
        """Print the values when they are computed."""
        return self.map_batches(lambda values: (print(fmt.format(values)), values)[1])


class _Float64:
    _text = "Float64"


def _old_and_new(old, new) -> tuple[list, list]:
    """The two lists of what `replace` takes."""
    if new is _NO_DEFAULT:
        if not isinstance(old, Mapping):
            raise TypeError("`new` argument is required if `old` argument is not a Mapping type")
        return list(old), list(old.values())
    old = list(old) if is_several(old) or isinstance(old, _nanuk.Series) else [old]
    if isinstance(new, _nanuk.Expr):
        raise NotImplementedError("an expression as `new` is not implemented yet")
    return old, list(new) if is_several(new) or isinstance(new, _nanuk.Series) else [new]


def _list_of(values: list):
    from nanuk.series import Series

    return _nanuk.lit(Series("", values, strict=False))._call("implode")


for _name, _doc in (
    ("n_unique", "How many different values there are, as UInt32; null counts as one."),
    ("approx_n_unique", "About how many different values there are, as UInt32; here it is exact."),
    ("unique_counts", "How often each different value occurs, in order of appearance, as UInt32."),
    ("is_unique", "Whether a value occurs once."),
    ("is_duplicated", "Whether a value occurs more than once."),
    ("is_first_distinct", "Whether a value occurs for the first time."),
    ("is_last_distinct", "Whether a value occurs for the last time."),
    ("peak_max", "Whether a value is larger than both neighbours."),
    ("peak_min", "Whether a value is smaller than both neighbours."),
    ("rle_id", "The number of the run of equal values that a row is in, as UInt32."),
):
    setattr(ExprStats, _name, plain_method("Expr", _name, _doc, {"approx_n_unique": "n_unique"}.get(_name)))

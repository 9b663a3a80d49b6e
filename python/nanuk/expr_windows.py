"""Expr: values seen with their neighbours. Cumulative and rolling functions, shifts, differences, ranks, filling gaps."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.parse import whole

_NO_DEFAULT = object()


class ExprWindows:
    """Functions that look at the rows around a row."""

    __slots__ = ()

    # ---- So far ----

    def cum_sum(self, *, reverse: bool = False):
        """Sum of the values so far; 8 and 16-bit integers sum as Int64."""
        return self._call("cum_sum", reverse=reverse)

    def cum_prod(self, *, reverse: bool = False):
        """Product of the values so far; integers multiply as Int64."""
        return self._call("cum_prod", reverse=reverse)

    def cum_min(self, *, reverse: bool = False):
        """Smallest value so far."""
        return self._call("cum_min", reverse=reverse)

    def cum_max(self, *, reverse: bool = False):
        """Largest value so far."""
        return self._call("cum_max", reverse=reverse)

    def cum_count(self, *, reverse: bool = False):
        """How many values there are so far, as UInt32; nulls do not count."""
        return self._call("cum_count", reverse=reverse)

    def cumulative_eval(self, expr, *, min_samples: int = 1):
        """An expression over the values so far, for each row."""
        raise NotImplementedError("the function `cumulative_eval` is not implemented yet")

    # ---- Neighbours ----

    def shift(self, n=1, *, fill_value=None):
        """The values moved n rows down, up when negative; what is left open is null or a fill value.

        Raises ShapeError when n is no scalar, ComputeError when it is null.
        """
        return self._call("shift", _nanuk.parse(n), *(() if fill_value is None else (fill_value,)))

    def diff(self, n=1, null_behavior: str = "ignore"):
        """Differences to the value n rows before; the first ones are null, or with null_behavior="drop" left out."""
        if null_behavior not in ("ignore", "drop"):
            msg = f"`null_behavior` must be one of {{'ignore', 'drop'}}, got {null_behavior}"
            raise ValueError(msg)
        if null_behavior == "ignore":
            return self._call_columns("diff", n)
        n = whole("n", n)
        result = self._call("diff", n)
        return result._call("slice", offset=n) if n >= 0 else result._call("head", n=n)

    def pct_change(self, n=1):
        """Changes against the value n rows before, as a share of it."""
        return self._call_columns("pct_change", n)

    def rank(self, method: str = "average", *, descending: bool = False, seed: int | None = None):
        """Ranks: "average" as Float64; "min", "max", "dense", "ordinal" and "random" as UInt32. Null has none."""
        if method == "random" and seed is None:
            from random import getrandbits

            seed = getrandbits(63)
        return self._call(
            "rank", method=method, descending=descending, seed=None if seed is None else seed & (1 << 63) - 1
        )

    def forward_fill(self, limit: int | None = None):
        """The last value before a null in its place, at most so often in a row."""
        return self._call("forward_fill", limit=_limit(limit))

    def backward_fill(self, limit: int | None = None):
        """The next value after a null in its place, at most so often in a row."""
        return self._call("backward_fill", limit=_limit(limit))

    def interpolate(self, method: str = "linear"):
        """Values between their neighbours in place of nulls: "linear" or "nearest"."""
        return self._call("interpolate", method=method)

    def interpolate_by(self, by):
        """As interpolate, with distances taken from another column."""
        return self._call_columns("interpolate_by", by)

    # ---- Rolling ----

    def rolling(self, index_column, *, period, offset=None, closed: str = "right"):
        """An expression over the rows within a period before each row."""
        raise NotImplementedError("`Expr.rolling` is not implemented yet")

    def rolling_quantile(self, quantile: float, interpolation: str = "nearest", window_size: int = 2, weights=None, *,
                         min_samples: int | None = None, center: bool = False):  # fmt: skip
        """Quantiles of the last values."""
        return self._rolling(
            "rolling_quantile",
            window_size,
            weights,
            min_samples,
            center,
            quantile=float(quantile),
            interpolation=interpolation,
        )

    def rolling_rank(self, window_size: int, method: str = "average", *, seed: int | None = None,
                     min_samples: int | None = None, center: bool = False):  # fmt: skip
        """Rank of each value among the last ones."""
        return self._rolling("rolling_rank", window_size, None, min_samples, center, method=method, seed=seed)

    def rolling_skew(
        self, window_size: int, *, bias: bool = True, min_samples: int | None = None, center: bool = False
    ):
        """Skewness of the last values."""
        return self._rolling("rolling_skew", window_size, None, min_samples, center, bias=bias)

    def rolling_kurtosis(self, window_size: int, *, fisher: bool = True, bias: bool = True, min_samples: int | None = None,
                         center: bool = False):  # fmt: skip
        """Kurtosis of the last values."""
        return self._rolling("rolling_kurtosis", window_size, None, min_samples, center, fisher=fisher, bias=bias)

    def rolling_map(
        self, function, window_size: int, weights=None, *, min_samples: int | None = None, center: bool = False
    ):
        """A Python function of the last values, as a Series."""
        raise NotImplementedError("`rolling_map` is not implemented yet")

    def _rolling(self, function: str, window_size, weights, min_samples, center: bool, **options):
        if weights is not None:
            options["weights"] = ",".join(repr(float(weight)) for weight in weights)
        return self._call(
            function, window_size=whole("window_size", window_size), min_samples=min_samples, center=center, **options
        )

    def rolling_quantile_by(self, by, window_size, *, quantile: float, interpolation: str = "nearest",
                            min_samples: int = 1, closed: str = "right"):  # fmt: skip
        """Quantiles of the values within a period of another column."""
        return self._rolling_by(
            "rolling_quantile_by",
            by,
            window_size,
            min_samples,
            closed,
            quantile=float(quantile),
            interpolation=interpolation,
        )

    def rolling_rank_by(self, by, window_size, method: str = "average", *, seed: int | None = None, min_samples: int = 1,
                        closed: str = "right"):  # fmt: skip
        """Rank of each value among those within a period of another column."""
        return self._rolling_by("rolling_rank_by", by, window_size, min_samples, closed, method=method, seed=seed)

    def _rolling_by(self, function: str, by, window_size, min_samples: int, closed: str, **options):
        if not isinstance(window_size, str):
            from nanuk.parse import duration_text

            window_size = duration_text(window_size)
        return self._call_columns(
            function, by, window_size=window_size, min_samples=min_samples, closed=closed, **options
        )

    # ---- Exponentially weighted ----

    def ewm_mean(self, *, com=None, span=None, half_life=None, alpha=None, adjust: bool = True, min_samples: int = 1,
                 ignore_nulls: bool = False):  # fmt: skip
        """Exponentially weighted mean; one of com, span, half_life and alpha says how fast weights fall.

        Raises ValueError unless exactly one is given, in its range.
        """
        return self._call("ewm_mean", alpha=_alpha(com, span, half_life, alpha), adjust=adjust, min_samples=min_samples,
                          ignore_nulls=ignore_nulls)  # fmt: skip

    def ewm_sum(
        self, *, com=None, span=None, half_life=None, alpha=None, min_samples: int = 1, ignore_nulls: bool = False
    ):
        """Exponentially weighted sum; see ewm_mean."""
        return self._call("ewm_sum", alpha=_alpha(com, span, half_life, alpha), min_samples=min_samples,
                          ignore_nulls=ignore_nulls)  # fmt: skip

    def ewm_std(self, *, com=None, span=None, half_life=None, alpha=None, adjust: bool = True, bias: bool = False,
                min_samples: int = 1, ignore_nulls: bool = False):  # fmt: skip
        """Exponentially weighted standard deviation; see ewm_mean."""
        return self._call("ewm_std", alpha=_alpha(com, span, half_life, alpha), adjust=adjust, bias=bias,
                          min_samples=min_samples, ignore_nulls=ignore_nulls)  # fmt: skip

    def ewm_var(self, *, com=None, span=None, half_life=None, alpha=None, adjust: bool = True, bias: bool = False,
                min_samples: int = 1, ignore_nulls: bool = False):  # fmt: skip
        """Exponentially weighted variance; see ewm_mean."""
        return self._call("ewm_var", alpha=_alpha(com, span, half_life, alpha), adjust=adjust, bias=bias,
                          min_samples=min_samples, ignore_nulls=ignore_nulls)  # fmt: skip

    def ewm_mean_by(self, by, *, half_life):
        """Exponentially weighted mean where weights fall with the distance in another column."""
        return self._ewm_by("ewm_mean_by", by, half_life)

    def ewm_sum_by(self, by, *, half_life):
        """Exponentially weighted sum where weights fall with the distance in another column."""
        return self._ewm_by("ewm_sum_by", by, half_life)

    def _ewm_by(self, function: str, by, half_life):
        if not isinstance(half_life, str):
            from nanuk.parse import duration_text

            half_life = duration_text(half_life)
        return self._call_columns(function, by, half_life=half_life)


def _limit(limit: int | None) -> int | None:
    if limit is not None and limit < 0:
        raise OverflowError("can't convert negative int to unsigned")
    return limit


def _alpha(com, span, half_life, alpha) -> float:
    """The smoothing factor of an exponentially weighted function."""
    given = [value for value in (com, span, half_life, alpha) if value is not None]
    if len(given) != 1:
        what = "mutually exclusive" if given else "required"
        msg = f"parameters `com`, `span`, `half_life`, and `alpha` are {what}: one of them must be given"
        raise ValueError(msg)
    if com is not None:
        if com < 0:
            raise ValueError(f"require `com` >= 0 (found {com!r})")
        return 1.0 / (1.0 + com)
    if span is not None:
        if span < 1:
            raise ValueError(f"require `span` >= 1 (found {span!r})")
        return 2.0 / (span + 1.0)
    if half_life is not None:
        if half_life <= 0:
            raise ValueError(f"require `half_life` > 0 (found {half_life!r})")
        from math import exp, log

        return 1.0 - exp(-log(2.0) / half_life)
    if not 0 < alpha <= 1:
        raise ValueError(f"require 0 < `alpha` <= 1 (found {alpha!r})")
    return float(alpha)


def _plain_rolling(function: str, doc: str):
    def method(self, window_size: int, weights=None, *, min_samples: int | None = None, center: bool = False):
        return self._rolling(function, window_size, weights, min_samples, center)

    return _named(method, function, doc)


def _ddof_rolling(function: str, doc: str):
    def method(
        self, window_size: int, weights=None, *, min_samples: int | None = None, center: bool = False, ddof: int = 1
    ):
        return self._rolling(function, window_size, weights, min_samples, center, ddof=ddof)

    return _named(method, function, doc)


def _plain_by(function: str, doc: str):
    def method(self, by, window_size, *, min_samples: int = 1, closed: str = "right"):
        return self._rolling_by(function, by, window_size, min_samples, closed)

    return _named(method, function, doc)


def _sum_by(function: str, doc: str):
    def method(self, by, window_size, *, min_samples: int = 0, closed: str = "right"):
        return self._rolling_by(function, by, window_size, min_samples, closed)

    return _named(method, function, doc)


def _ddof_by(function: str, doc: str):
    def method(self, by, window_size, *, min_samples: int = 1, closed: str = "right", ddof: int = 1):
        return self._rolling_by(function, by, window_size, min_samples, closed, ddof=ddof)

    return _named(method, function, doc)


def _named(method, name: str, doc: str):
    method.__name__ = name
    method.__qualname__ = f"Expr.{name}"
    method.__doc__ = doc
    return method


for _name, _what in (("min", "Smallest"), ("max", "Largest"), ("mean", "Mean"), ("sum", "Sum"), ("median", "Median")):
    _by = _sum_by if _name == "sum" else _plain_by
    setattr(ExprWindows, f"rolling_{_name}", _plain_rolling(f"rolling_{_name}", f"{_what} of the last values."))
    _doc = f"{_what} of the values within a period of another column."
    setattr(ExprWindows, f"rolling_{_name}_by", _by(f"rolling_{_name}_by", _doc))
for _name, _what in (("std", "Standard deviation"), ("var", "Variance")):
    setattr(ExprWindows, f"rolling_{_name}", _ddof_rolling(f"rolling_{_name}", f"{_what} of the last values."))
    _doc = f"{_what} of the values within a period of another column."
    setattr(ExprWindows, f"rolling_{_name}_by", _ddof_by(f"rolling_{_name}_by", _doc))

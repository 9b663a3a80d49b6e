"""Expr: mathematics of numbers, value by value, and of their bits."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.parse import plain_method, whole


class ExprMath:
    """Elementwise functions of numbers."""

    __slots__ = ()

    def round(self, decimals: int = 0, mode: str = "half_to_even"):
        """Rounded to decimals; mode: "half_to_even", "half_away_from_zero" or "to_zero"."""
        return self._call("round", decimals=whole("decimals", decimals), mode=mode)

    def truncate(self, decimals: int = 0):
        """Cut after so many decimals, towards zero."""
        return self._call("round", decimals=whole("decimals", decimals), mode="to_zero")

    def round_sig_figs(self, digits: int):
        """Rounded to so many significant digits."""
        return self._call("round_sig_figs", digits=whole("digits", digits))

    def log(self, base=2.718281828459045):
        """Logarithm to a base."""
        if isinstance(base, (_nanuk.Expr, _nanuk.Series)):
            return self._call("log", base)
        return self._call("log", base=float(base))

    def clip(self, lower_bound=None, upper_bound=None):
        """Values beyond a bound become the bound; text means a column, None is no bound."""
        none = _nanuk.lit(None)
        lower = none if lower_bound is None else _nanuk.parse(lower_bound)
        upper = none if upper_bound is None else _nanuk.parse(upper_bound)
        return self._call("clip", lower, upper)

    def is_close(self, other, *, abs_tol: float = 0.0, rel_tol: float = 1e-09, nans_equal: bool = False):
        """Whether values are within tolerances of others: rel_tol of the larger one, or abs_tol.

        Infinities are close to themselves, NaN only with `nans_equal`. Raises ComputeError for a tolerance that makes
        no
        sense.
        """
        if abs_tol < 0 or not 0 <= rel_tol < 1:
            from nanuk.exceptions import ComputeError

            if abs_tol < 0:
                msg = f"`abs_tol` must be non-negative but got {abs_tol}"
            else:
                msg = f"`rel_tol` must be in the range [0, 1) but got {rel_tol}"
            raise ComputeError(msg)
        other = _nanuk.parse(other)
        size = _nanuk.call("max_horizontal", self._call("abs"), other._call("abs"))
        tolerance = _nanuk.call("max_horizontal", size._call("mul", rel_tol), _nanuk.lit(abs_tol))
        near = self._call("sub", other)._call("abs")._call("le", tolerance)
        both = self._call("is_finite")._call("and", other._call("is_finite"))
        result = near._call("and", both)
        same = self._call("is_infinite")._call("and", self._call("eq", other))
        result = result._call("or", same)
        if nans_equal:
            result = result._call("or", self._call("is_nan")._call("and", other._call("is_nan")))
        return result

    def hash(self, seed: int = 0):
        """A hash of each value, as UInt64; it differs from one version to another."""
        return self._call("hash", seed=seed)

    def reinterpret(self, *, signed: bool | None = None, dtype=None):
        """The same bits as an integer with or without sign, or as another dtype of the same width."""
        if dtype is None:
            return self._call("reinterpret", signed=True if signed is None else signed)
        from nanuk.expr import _Dtype

        return self._call("reinterpret", dtype=_Dtype(dtype))

    def lower_bound(self):
        """The smallest value that the dtype can hold."""
        return self._call("lower_bound")

    def upper_bound(self):
        """The largest value that the dtype can hold."""
        return self._call("upper_bound")

    def to_physical(self):
        """The values as they lie in memory: Date as Int32, Datetime, Duration and Time as Int64."""
        return self._call("to_physical")


for _name, _doc in (
    ("sqrt", "Square root."),
    ("cbrt", "Cube root."),
    ("exp", "e to the power of values."),
    ("log10", "Logarithm to base 10."),
    ("log1p", "Logarithm of 1 + values."),
    ("erf", "Error function."),
    ("erfc", "Complement of the error function."),
    ("floor", "Rounded down."),
    ("ceil", "Rounded up."),
    ("sin", "Sine."),
    ("cos", "Cosine."),
    ("tan", "Tangent."),
    ("cot", "Cotangent."),
    ("arcsin", "Inverse of the sine."),
    ("arccos", "Inverse of the cosine."),
    ("arctan", "Inverse of the tangent."),
    ("sinh", "Hyperbolic sine."),
    ("cosh", "Hyperbolic cosine."),
    ("tanh", "Hyperbolic tangent."),
    ("arcsinh", "Inverse of the hyperbolic sine."),
    ("arccosh", "Inverse of the hyperbolic cosine."),
    ("arctanh", "Inverse of the hyperbolic tangent."),
    ("degrees", "Radians as degrees."),
    ("radians", "Degrees as radians."),
    ("bitwise_count_ones", "How many bits are 1, as UInt32."),
    ("bitwise_count_zeros", "How many bits are 0, as UInt32."),
    ("bitwise_leading_ones", "How many of the highest bits are 1, as UInt32."),
    ("bitwise_leading_zeros", "How many of the highest bits are 0, as UInt32."),
    ("bitwise_trailing_ones", "How many of the lowest bits are 1, as UInt32."),
    ("bitwise_trailing_zeros", "How many of the lowest bits are 0, as UInt32."),
    ("bitwise_and", "All values combined by and."),
    ("bitwise_or", "All values combined by or."),
    ("bitwise_xor", "All values combined by exclusive or."),
):
    setattr(ExprMath, _name, plain_method("Expr", _name, _doc))

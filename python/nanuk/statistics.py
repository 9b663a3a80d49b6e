"""Functions of two columns: covariance, correlation."""

from __future__ import annotations

from nanuk import _nanuk


def cov(a, b, *, ddof: int = 1, eager: bool = False):
    """Covariance with divisor n - ddof, as a float; rows where either is null are left out; text means columns."""
    return _finish(_nanuk.parse(a)._call("cov", _nanuk.parse(b), ddof=ddof), a, eager)


def corr(a, b, *, method: str = "pearson", propagate_nans: bool = False, eager: bool = False):
    """Correlation, "pearson" or "spearman", as a float; rows where either is null are left out; text means columns.

    Raises ValueError for another method.
    """
    if method not in ("pearson", "spearman"):
        msg = f"method must be one of {{'pearson', 'spearman'}}, got {method!r}"
        raise ValueError(msg)
    x, y = _nanuk.parse(a), _nanuk.parse(b)
    if method == "spearman":
        both = x._call("is_not_null")._call("and", y._call("is_not_null"))
        x, y = x._call("filter", both).rank(), y._call("filter", both).rank()
    return _finish(x._call("corr", y), a, eager)


def _finish(expr, a, eager: bool):
    name = a if isinstance(a, str) else a.name if isinstance(a, _nanuk.Series) else a._output_name()
    if name is not None:
        expr = expr.alias(name)
    if not eager:
        return expr
    from nanuk.functions import _evaluate

    return _evaluate(expr)

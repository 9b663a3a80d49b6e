"""Functions of two columns: covariance, correlation."""

from __future__ import annotations

from nanuk import _nanuk


def _pairs(a, b):
    """Two columns without the rows where either is null."""
    a, b = _nanuk.parse(a), _nanuk.parse(b)
    both = a._call("is_not_null")._call("and", b._call("is_not_null"))
    return a._call("filter", both), b._call("filter", both)


def _products(a, b):
    """The sum of the products of distances from the means."""
    return a._call("sub", a._call("mean"))._call("mul", b._call("sub", b._call("mean")))._call("sum")


def cov(a, b, *, ddof: int = 1, eager: bool = False):
    """Covariance with divisor n - ddof, as Float64; rows where either is null are left out; text means columns."""
    x, y = _pairs(a, b)
    n = x._call("len")._call("cast", dtype=_Float64)._call("sub", ddof)
    expr = _products(x, y)._call("truediv", n)
    result = _nanuk.call("when", n._call("gt", 0), expr, _nanuk.lit(None))
    return _finish(result, a, eager)


def corr(a, b, *, method: str = "pearson", propagate_nans: bool = False, eager: bool = False):
    """Correlation, "pearson" or "spearman", as Float64; rows where either is null are left out; text means columns.

    Raises ValueError for another method.
    """
    if method not in ("pearson", "spearman"):
        msg = f"method must be one of {{'pearson', 'spearman'}}, got {method!r}"
        raise ValueError(msg)
    x, y = _pairs(a, b)
    if method == "spearman":
        x, y = x.rank(), y.rank()
    scale = _products(x, x)._call("mul", _products(y, y))._call("sqrt")
    return _finish(_products(x, y)._call("truediv", scale), a, eager)


def _finish(expr, a, eager: bool):
    name = a if isinstance(a, str) else a.name if isinstance(a, _nanuk.Series) else a._output_name()
    if name is not None:
        expr = expr.alias(name)
    if not eager:
        return expr
    from nanuk.functions import _evaluate

    return _evaluate(expr)


class _Float64:
    _text = "Float64"

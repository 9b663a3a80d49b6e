"""How assertions compare: values within tolerances, columns by length, name, dtype and values."""

from __future__ import annotations

from nanuk.datatypes import Float64
from nanuk.exceptions import ComputeError, InvalidOperationError
from nanuk.series import Series


def fail(objects: str, detail: str, left=None, right=None) -> None:
    __tracebackhide__ = True
    msg = f"{objects} are different ({detail})"
    if left is not None or right is not None:
        msg += f"\n[left]:  {left!r}\n[right]: {right!r}"
    raise AssertionError(msg)


def _has_floats(dtype) -> bool:
    if dtype.is_float():
        return True
    if hasattr(dtype, "fields"):
        return any(_has_floats(field.dtype) for field in dtype.fields)
    return dtype.is_nested() and _has_floats(dtype.inner)


def _close(left, right, rel_tol: float, abs_tol: float) -> bool:
    """Whether two Python values, floats deep inside of them too, are close."""
    if isinstance(left, float) and isinstance(right, (int, float)):
        if left == right or (left != left and right != right):
            return True
        return abs(left - right) <= max(rel_tol * max(abs(left), abs(right)), abs_tol)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_close(a, b, rel_tol, abs_tol) for a, b in zip(left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_close(left[k], right[k], rel_tol, abs_tol) for k in left)
    return left == right


def check_tolerances(rel_tol: float, abs_tol: float) -> None:
    if rel_tol < 0 or abs_tol < 0:
        msg = f"`rel_tol` and `abs_tol` must be non-negative: got {rel_tol} and {abs_tol}"
        raise ComputeError(msg)


def compare_series(left: Series, right: Series, *, objects: str, check_dtypes: bool, check_names: bool, check_order: bool,
                    check_exact: bool, rel_tol: float, abs_tol: float) -> None:  # fmt: skip
    __tracebackhide__ = True
    if len(left) != len(right):
        fail(objects, "length mismatch", len(left), len(right))
    if check_names and left.name != right.name:
        fail(objects, "name mismatch", left.name, right.name)
    if check_dtypes and left.dtype != right.dtype:
        fail(objects, "dtype mismatch", left.dtype, right.dtype)
    if not check_order:
        try:
            left, right = left.sort(), right.sort()
        except InvalidOperationError as error:
            msg = f"cannot sort a column of {left.dtype!r}"
            raise TypeError(msg) from error
    if left.null_count() != right.null_count():
        fail(objects, "null value mismatch", left.to_list(), right.to_list())
    mine, theirs = left.dtype, right.dtype
    if mine == theirs and (check_exact or not _has_floats(mine)) and not mine.is_nested():
        if len(left) and not left.eq_missing(right).all():
            fail(objects, "exact value mismatch", left.to_list(), right.to_list())
        return
    if not check_dtypes and mine != theirs and mine.is_numeric() and theirs.is_numeric():
        if mine.is_decimal() or theirs.is_decimal() or mine.is_float() or theirs.is_float():
            left, right = left.cast(Float64), right.cast(Float64)
    exact = check_exact or not (_has_floats(left.dtype) or _has_floats(right.dtype))
    for a, b in zip(left.to_list(), right.to_list()):
        if not _close(a, b, 0.0 if exact else rel_tol, 0.0 if exact else abs_tol):
            fail(objects, "exact value mismatch" if exact else "value mismatch", left.to_list(), right.to_list())

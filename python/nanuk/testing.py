"""Assertions for tests: whether tables or columns are equal, floats within tolerances."""

from __future__ import annotations

from nanuk.dataframe import DataFrame
from nanuk.datatypes import Float64
from nanuk.exceptions import ComputeError, InvalidOperationError
from nanuk.lazyframe import LazyFrame
from nanuk.parse import removes_arguments
from nanuk.series import Series


def _fail(objects: str, detail: str, left=None, right=None) -> None:
    __tracebackhide__ = True
    msg = f"{objects} are different ({detail})"
    if left is not None or right is not None:
        msg += f"\n[left]:  {left!r}\n[right]: {right!r}"
    raise AssertionError(msg)


def _has_floats(dtype) -> bool:
    if dtype.is_float():
        return True
    if hasattr(dtype, "fields") and dtype.fields:
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


def _check_tolerances(rel_tol: float, abs_tol: float) -> None:
    if rel_tol < 0 or abs_tol < 0:
        msg = f"`rel_tol` and `abs_tol` must be non-negative: got {rel_tol} and {abs_tol}"
        raise ComputeError(msg)


def _compare_series(left: Series, right: Series, *, objects: str, check_dtypes: bool, check_names: bool, check_order: bool,
                    check_exact: bool, rel_tol: float, abs_tol: float) -> None:  # fmt: skip
    __tracebackhide__ = True
    if len(left) != len(right):
        _fail(objects, "length mismatch", len(left), len(right))
    if check_names and left.name != right.name:
        _fail(objects, "name mismatch", left.name, right.name)
    if check_dtypes and left.dtype != right.dtype:
        _fail(objects, "dtype mismatch", left.dtype, right.dtype)
    if not check_order:
        try:
            left, right = left.sort(), right.sort()
        except InvalidOperationError as error:
            msg = f"cannot sort a column of {left.dtype!r}"
            raise TypeError(msg) from error
    if left.null_count() != right.null_count():
        _fail(objects, "null value mismatch", left.to_list(), right.to_list())
    mine, theirs = left.dtype, right.dtype
    if mine == theirs and (check_exact or not _has_floats(mine)) and not mine.is_nested():
        if len(left) and not left.eq_missing(right).all():
            _fail(objects, "exact value mismatch", left.to_list(), right.to_list())
        return
    if not check_dtypes and mine != theirs and mine.is_numeric() and theirs.is_numeric():
        if mine.is_decimal() or theirs.is_decimal() or mine.is_float() or theirs.is_float():
            left, right = left.cast(Float64), right.cast(Float64)
    exact = check_exact or not (_has_floats(left.dtype) or _has_floats(right.dtype))
    for a, b in zip(left.to_list(), right.to_list()):
        if not _close(a, b, 0.0 if exact else rel_tol, 0.0 if exact else abs_tol):
            _fail(objects, "exact value mismatch" if exact else "value mismatch", left.to_list(), right.to_list())


@removes_arguments(check_dtype="`check_dtypes`", rtol="`rel_tol`", atol="`abs_tol`")
def assert_series_equal(
    left: Series, right: Series, *, check_dtypes: bool = True, check_names: bool = True, check_order: bool = True,
    check_exact: bool = False, rel_tol: float = 1e-05, abs_tol: float = 1e-08, categorical_as_str: bool = False,
) -> None:  # fmt: skip
    """Raise AssertionError unless two Series are equal.

    Floats may differ by rel_tol of the larger or by abs_tol, unless `check_exact`.
    """
    __tracebackhide__ = True
    if not (isinstance(left, Series) and isinstance(right, Series)):
        _fail("inputs", "unexpected input types", type(left).__name__, type(right).__name__)
    _check_tolerances(rel_tol, abs_tol)
    _compare_series(
        left, right, objects="Series", check_dtypes=check_dtypes, check_names=check_names, check_order=check_order,
        check_exact=check_exact, rel_tol=rel_tol, abs_tol=abs_tol,
    )  # fmt: skip


@removes_arguments(check_dtype="`check_dtypes`", rtol="`rel_tol`", atol="`abs_tol`")
def assert_series_not_equal(
    left: Series, right: Series, *, check_dtypes: bool = True, check_names: bool = True, check_order: bool = True,
    check_exact: bool = False, rel_tol: float = 1e-05, abs_tol: float = 1e-08, categorical_as_str: bool = False,
) -> None:  # fmt: skip
    """Raise AssertionError when two Series are equal."""
    __tracebackhide__ = True
    if not (isinstance(left, Series) and isinstance(right, Series)):
        _fail("inputs", "unexpected input types", type(left).__name__, type(right).__name__)
    try:
        assert_series_equal(
            left, right, check_dtypes=check_dtypes, check_names=check_names, check_order=check_order,
            check_exact=check_exact, rel_tol=rel_tol, abs_tol=abs_tol,
        )  # fmt: skip
    except AssertionError:
        return
    raise AssertionError("Series are equal")


@removes_arguments(check_dtype="`check_dtypes`", rtol="`rel_tol`", atol="`abs_tol`")
def assert_frame_equal(
    left, right, *, check_row_order: bool = True, check_column_order: bool = True, check_dtypes: bool = True,
    check_exact: bool = False, rel_tol: float = 1e-05, abs_tol: float = 1e-08, categorical_as_str: bool = False,
) -> None:  # fmt: skip
    """Raise AssertionError unless two DataFrames, or two LazyFrames, are equal.

    Floats may differ by rel_tol of the larger or by abs_tol, unless `check_exact`. Rows and columns may come in another
    order when that is not checked.
    """
    __tracebackhide__ = True
    if isinstance(left, LazyFrame) and isinstance(right, LazyFrame):
        left, right, objects = left.collect(), right.collect(), "LazyFrames"
    elif isinstance(left, DataFrame) and isinstance(right, DataFrame):
        objects = "DataFrames"
    else:
        _fail("inputs", "unexpected input types", type(left).__name__, type(right).__name__)
    _check_tolerances(rel_tol, abs_tol)
    _check_schemas(left.schema, right.schema, objects, check_column_order, check_dtypes)
    if left.height != right.height:
        _fail(objects, "height (row count) mismatch", left.height, right.height)
    right = right.select(left.columns) if left.columns else right
    if not check_row_order and left.columns:
        try:
            left, right = (frame.sort(left.columns, maintain_order=True) for frame in (left, right))
        except InvalidOperationError as error:
            raise TypeError("cannot set `check_row_order=False` on frame with unsortable columns") from error
    for name in left.columns:
        _compare_series(
            left[name], right[name], objects=f"{objects} are different (value mismatch for column {name!r})\nSeries",
            check_dtypes=check_dtypes, check_names=False, check_order=True, check_exact=check_exact, rel_tol=rel_tol,
            abs_tol=abs_tol,
        )  # fmt: skip


def _check_schemas(left, right, objects: str, check_column_order: bool, check_dtypes: bool) -> None:
    __tracebackhide__ = True
    missing, extra = [n for n in left if n not in right], [n for n in right if n not in left]
    if missing:
        _fail("" + objects, f"columns mismatch: {missing!r} in left, but not in right", list(left), list(right))
    if extra:
        _fail("" + objects, f"columns mismatch: {extra!r} in right, but not in left", list(left), list(right))
    if check_column_order and list(left) != list(right):
        _fail(objects, "columns are not in the same order", list(left), list(right))
    if check_dtypes and any(left[name] != right[name] for name in left):
        _fail(objects, "dtypes do not match", dict(left), dict(right))


@removes_arguments(check_dtype="`check_dtypes`", rtol="`rel_tol`", atol="`abs_tol`")
def assert_frame_not_equal(
    left, right, *, check_row_order: bool = True, check_column_order: bool = True, check_dtypes: bool = True,
    check_exact: bool = False, rel_tol: float = 1e-05, abs_tol: float = 1e-08, categorical_as_str: bool = False,
) -> None:  # fmt: skip
    """Raise AssertionError when two tables are equal."""
    __tracebackhide__ = True
    frames = (DataFrame, LazyFrame)
    if not (isinstance(left, frames) and type(left) is type(right)):
        _fail("inputs", "unexpected input types", type(left).__name__, type(right).__name__)
    try:
        assert_frame_equal(
            left, right, check_row_order=check_row_order, check_column_order=check_column_order,
            check_dtypes=check_dtypes, check_exact=check_exact, rel_tol=rel_tol, abs_tol=abs_tol,
        )  # fmt: skip
    except AssertionError:
        return
    objects = "LazyFrames" if isinstance(left, LazyFrame) else "DataFrames"
    msg = f"{objects} are equal"
    raise AssertionError(msg)


def assert_schema_equal(left_schema, right_schema, *, check_column_order: bool = True, check_dtypes: bool = True) -> None:
    """Raise AssertionError unless two schemas are equal."""
    __tracebackhide__ = True
    _check_schemas(left_schema, right_schema, "Schemas", check_column_order, check_dtypes)


__all__ = [
    "assert_frame_equal", "assert_frame_not_equal", "assert_schema_equal", "assert_series_equal",
    "assert_series_not_equal",
]  # fmt: skip

"""Assertions on tables and schemas."""

from __future__ import annotations

from nanuk.dataframe import DataFrame
from nanuk.exceptions import InvalidOperationError
from nanuk.lazyframe import LazyFrame
from nanuk.parse import removes_arguments
from nanuk.testing.asserts.values import check_tolerances, compare_series, fail


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
        fail("inputs", "unexpected input types", type(left).__name__, type(right).__name__)
    check_tolerances(rel_tol, abs_tol)
    _check_schemas(left.schema, right.schema, objects, check_column_order, check_dtypes)
    if left.height != right.height:
        fail(objects, "height (row count) mismatch", left.height, right.height)
    right = right.select(left.columns) if left.columns else right
    if not check_row_order and left.columns:
        try:
            left, right = (frame.sort(left.columns, maintain_order=True) for frame in (left, right))
        except InvalidOperationError as error:
            raise TypeError("cannot set `check_row_order=False` on frame with unsortable columns") from error
    for name in left.columns:
        compare_series(
            left[name], right[name], objects=f"{objects} are different (value mismatch for column \"{name}\")\nSeries",
            check_dtypes=check_dtypes, check_names=False, check_order=True, check_exact=check_exact, rel_tol=rel_tol,
            abs_tol=abs_tol,
        )  # fmt: skip


def _quoted(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _check_schemas(left, right, objects: str, check_column_order: bool, check_dtypes: bool) -> None:
    __tracebackhide__ = True
    missing, extra = [n for n in left if n not in right], [n for n in right if n not in left]
    if missing:
        fail("" + objects, f"columns mismatch: {_quoted(missing)} in left, but not in right", list(left), list(right))
    if extra:
        fail("" + objects, f"columns mismatch: {_quoted(extra)} in right, but not in left", list(left), list(right))
    if check_column_order and list(left) != list(right):
        fail(objects, "columns are not in the same order", list(left), list(right))
    if check_dtypes and any(left[name] != right[name] for name in left):
        fail(objects, "dtypes do not match", dict(left), dict(right))


@removes_arguments(check_dtype="`check_dtypes`", rtol="`rel_tol`", atol="`abs_tol`")
def assert_frame_not_equal(
    left, right, *, check_row_order: bool = True, check_column_order: bool = True, check_dtypes: bool = True,
    check_exact: bool = False, rel_tol: float = 1e-05, abs_tol: float = 1e-08, categorical_as_str: bool = False,
) -> None:  # fmt: skip
    """Raise AssertionError when two tables are equal."""
    __tracebackhide__ = True
    frames = (DataFrame, LazyFrame)
    if not (isinstance(left, frames) and type(left) is type(right)):
        fail("inputs", "unexpected input types", type(left).__name__, type(right).__name__)
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


def assert_schema_equal(
    left_schema, right_schema, *, check_column_order: bool = True, check_dtypes: bool = True
) -> None:
    """Raise AssertionError unless two schemas are equal."""
    __tracebackhide__ = True
    _check_schemas(left_schema, right_schema, "Schemas", check_column_order, check_dtypes)

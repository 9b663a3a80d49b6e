"""Assertions on Series."""

from __future__ import annotations

from nanuk.parse import removes_arguments
from nanuk.series import Series
from nanuk.testing.asserts.values import check_tolerances, compare_series, fail


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
        fail("inputs", "unexpected input types", type(left).__name__, type(right).__name__)
    check_tolerances(rel_tol, abs_tol)
    compare_series(
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
        fail("inputs", "unexpected input types", type(left).__name__, type(right).__name__)
    try:
        assert_series_equal(
            left, right, check_dtypes=check_dtypes, check_names=check_names, check_order=check_order,
            check_exact=check_exact, rel_tol=rel_tol, abs_tol=abs_tol,
        )  # fmt: skip
    except AssertionError:
        return
    raise AssertionError("Series are equal")

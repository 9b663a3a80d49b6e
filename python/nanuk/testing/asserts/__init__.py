"""Assertions: whether tables or columns are equal, floats within tolerances."""

from nanuk.testing.asserts.frame import assert_frame_equal, assert_frame_not_equal, assert_schema_equal
from nanuk.testing.asserts.series import assert_series_equal, assert_series_not_equal

__all__ = [
    "assert_frame_equal", "assert_frame_not_equal", "assert_schema_equal", "assert_series_equal",
    "assert_series_not_equal",
]  # fmt: skip

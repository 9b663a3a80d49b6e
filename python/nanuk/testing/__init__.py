"""For tests: assertions on tables and columns; `nanuk.testing.parametric` has strategies for hypothesis."""

from nanuk.testing.asserts import (
    assert_frame_equal,
    assert_frame_not_equal,
    assert_schema_equal,
    assert_series_equal,
    assert_series_not_equal,
)

__all__ = [
    "assert_frame_equal", "assert_frame_not_equal", "assert_schema_equal", "assert_series_equal",
    "assert_series_not_equal",
]  # fmt: skip

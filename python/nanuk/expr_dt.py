"""Expr.dt: functions of dates, times and durations."""

from __future__ import annotations

from nanuk.exceptions import Removed


class ExprDt:
    """Functions of dates, times and durations."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    def second(self, *, fractional: bool = False):
        """Second, as Int8; with `fractional` Float64 that has its parts."""
        second = self._expr._call("dt.second")
        return second + self.nanosecond() / 1e9 if fractional else second

    datetime = Removed("`dt.replace_time_zone(None)`")
    with_time_unit = Removed("`cast`")


def _part(name: str, doc: str):
    def method(self):
        return self._expr._call(function)

    function = f"dt.{name}"
    method.__name__ = name
    method.__qualname__ = f"ExprDt.{name}"
    method.__doc__ = doc
    return method


for _name, _doc in (
    ("year", "Year, as Int32."),
    ("quarter", "Quarter, 1 to 4, as Int8."),
    ("month", "Month, 1 to 12, as Int8."),
    ("week", "ISO week, 1 to 53, as Int8."),
    ("weekday", "ISO weekday, Monday is 1, as Int8."),
    ("day", "Day of the month, as Int8."),
    ("ordinal_day", "Day of the year, as Int16."),
    ("hour", "Hour, as Int8."),
    ("minute", "Minute, as Int8."),
    ("millisecond", "Milliseconds of the second, as Int32."),
    ("microsecond", "Microseconds of the second, as Int32."),
    ("nanosecond", "Nanoseconds of the second, as Int32."),
    ("iso_year", "Year of the ISO week, as Int32."),
    ("is_leap_year", "Whether the year has 366 days."),
    ("millennium", "Millennium, as Int32."),
    ("century", "Century, as Int32."),
    ("date", "The date."),
    ("time", "The time of day."),
    ("days_in_month", "How many days the month has, as Int8."),
    ("month_start", "The first day of the month."),
    ("month_end", "The last day of the month."),
):
    setattr(ExprDt, _name, _part(_name, _doc))

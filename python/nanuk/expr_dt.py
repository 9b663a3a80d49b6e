"""Expr.dt: functions of dates, times and durations."""

from __future__ import annotations

import datetime as _datetime

from nanuk import _nanuk
from nanuk.exceptions import Removed
from nanuk.temporal import duration_text, holiday_lists, week_text


class ExprDt:
    """Functions of dates, times and durations."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    # ---- Parts ----

    def second(self, *, fractional: bool = False):
        """Second, as Int8; with `fractional` Float64 that has its parts."""
        second = self._expr._call("dt.second")
        return second + self.nanosecond() / 1e9 if fractional else second

    # ---- Steps ----

    def truncate(self, every):
        """Rounded down to a multiple of a step, text like "1h" or "3mo", a timedelta, or an expression of text.

        Raises ComputeError for a negative step or one of mixed units.
        """
        return self._expr._call("dt.truncate", duration_text(every))

    def round(self, every):
        """Rounded to a multiple of a step; see truncate."""
        return self._expr._call("dt.round", duration_text(every))

    def offset_by(self, by):
        """Moved by a step, text like "-1mo2d" or an expression of text. In a time zone days are those of local time."""
        return self._expr._call("dt.offset_by", by)

    # ---- Business days ----

    def add_business_days(self, n, *, week_mask=(True, True, True, True, True, False, False), holidays=(),
                          roll: str = "raise"):  # fmt: skip
        """So many business days on (text means a column): days of the week mask, Monday first, that are no holidays.

        Raises ComputeError for other days to start from, unless `roll` is "forward" or "backward".
        """
        arguments = (n, *holiday_lists(holidays))
        return self._expr._call_columns("dt.add_business_days", *arguments, week_mask=week_text(week_mask), roll=roll)

    def is_business_day(self, *, week_mask=(True, True, True, True, True, False, False), holidays=()):
        """Whether days are those of the week mask, Monday first, and no holidays."""
        return self._expr._call("dt.is_business_day", *holiday_lists(holidays), week_mask=week_text(week_mask))

    # ---- Other parts, other zones ----

    def replace(self, *, year=None, month=None, day=None, hour=None, minute=None, second=None, microsecond=None,
                ambiguous="raise"):  # fmt: skip
        """With some parts replaced, by numbers or expressions (text means columns); nulls replace nothing.

        Raises ComputeError for parts that make no date, or that clocks in the zone show twice, unless `ambiguous` is
        "earliest", "latest" or "null".
        """
        parts = (year, month, day, hour, minute, second, microsecond)
        ambiguous = _nanuk.lit(ambiguous) if isinstance(ambiguous, str) else ambiguous
        return self._expr._call_columns("dt.replace", *parts, ambiguous)

    def combine(self, time, time_unit: str = "us"):
        """The date with a time of day.

        Raises TypeError unless the time is one of Python's or an expression.
        """
        if not isinstance(time, (_datetime.time, _nanuk.Expr)):
            msg = f"expected 'time' to be a Python time or Polars expression, found {type(time).__name__!r}"
            raise TypeError(msg)
        return self._expr._call("dt.combine", time, time_unit=time_unit)

    def convert_time_zone(self, time_zone: str):
        """The same instants in another time zone. Raises ComputeError for one that is not known."""
        return self._expr._call("dt.convert_time_zone", time_zone=time_zone)

    def replace_time_zone(self, time_zone: str | None, *, ambiguous="raise", non_existent: str = "raise"):
        """The same local times in another time zone, or without one.

        Local times that clocks show twice or never raise ComputeError, unless `ambiguous` is "earliest", "latest" or
        "null", and `non_existent` "null".
        """
        return self._expr._call("dt.replace_time_zone", ambiguous, time_zone=time_zone, non_existent=non_existent)

    def base_utc_offset(self):
        """What local time is ahead of UTC without summer time, as Duration("ms")."""
        return self._expr._call("dt.base_utc_offset")

    def dst_offset(self):
        """How much of the offset is summer time, as Duration("ms")."""
        return self._expr._call("dt.dst_offset")

    # ---- Units ----

    def epoch(self, time_unit: str = "us"):
        """Units since 1970: "ns", "us", "ms", "s" or "d". Raises ValueError for another."""
        if time_unit in ("ns", "us", "ms"):
            return self.timestamp(time_unit)
        if time_unit == "s":
            from nanuk.datatypes import Int64
            from nanuk.functions import lit

            return self.timestamp("ms") // lit(1000, dtype=Int64)
        if time_unit == "d":
            from nanuk.datatypes import Date, Int32

            return self._expr.cast(Date).cast(Int32)
        msg = f"`time_unit` must be one of {{'ns', 'us', 'ms', 's', 'd'}}, got {time_unit!r}"
        raise ValueError(msg)

    def timestamp(self, time_unit: str = "us"):
        """Units ("ns", "us" or "ms") since 1970, as Int64."""
        return self._expr._call("dt.timestamp", time_unit=time_unit)

    def cast_time_unit(self, time_unit: str):
        """In another unit, "ns", "us" or "ms"."""
        return self._expr._call("dt.cast_time_unit", time_unit=time_unit)

    # ---- Text ----

    def to_string(self, format: str | None = None):
        """As text: in ISO 8601 ("iso", "iso:strict"), or by a format with the specifiers of strftime.

        Durations know "iso" and "polars" only. Raises InvalidOperationError for other dtypes, and for a format that
        asks for what there is not.
        """
        return self._expr._call("dt.to_string", format="iso" if format is None else format)

    def strftime(self, format: str):
        """As to_string."""
        return self.to_string(format)

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


def _total(unit: str):
    def method(self, *, fractional: bool = False):
        return self._expr._call(function, fractional=fractional)

    function = f"dt.total_{unit}"
    method.__name__ = f"total_{unit}"
    method.__qualname__ = f"ExprDt.total_{unit}"
    method.__doc__ = f"A Duration in whole {unit}, rounded towards zero, as Int64; with `fractional` as Float64."
    return method


for _unit in ("days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"):
    setattr(ExprDt, f"total_{_unit}", _total(_unit))

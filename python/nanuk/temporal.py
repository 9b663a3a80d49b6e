"""Functions that make dates, times and durations: of their parts, of numbers, as ranges."""

from __future__ import annotations

from datetime import time as _time
from datetime import timedelta as _timedelta

from nanuk import _nanuk


def duration_text(step) -> str | None:
    """A timedelta as the text of a step ("1d2s"); text as it is."""
    if not isinstance(step, _timedelta):
        return step
    sign, step = ("-", -step) if step < _timedelta(0) else ("", step)
    parts = ((step.days, "d"), (step.seconds, "s"), (step.microseconds, "us"))
    return sign + "".join(f"{number}{unit}" for number, unit in parts if number) if step else ""


def _evaluated(expr):
    from nanuk.functions import select

    return select(expr).to_series()


def _given(parts: tuple, fallback: int) -> list:
    """The parts up to the last one given."""
    parts = list(parts)
    while parts and parts[-1] is None:
        parts.pop()
    return [fallback if part is None else part for part in parts]


# ---- Of parts ----


def datetime(year, month, day, hour=None, minute=None, second=None, microsecond=None, *, time_unit: str = "us",
             time_zone: str | None = None, ambiguous="raise") -> _nanuk.Expr:  # fmt: skip
    """A Datetime of its parts; text means columns.

    Parts that make no date or time raise ComputeError, as does a local time that clocks in the zone show twice (unless
    `ambiguous` says which is meant) or never.
    """
    parts = [year, month, day, *_given((hour, minute, second, microsecond), 0)]
    is_plain = all(isinstance(part, int) for part in parts) and time_zone is None
    if not (isinstance(ambiguous, str) and ambiguous == "raise"):
        parts += [0] * (7 - len(parts))
        parts.append(_nanuk.lit(ambiguous) if isinstance(ambiguous, str) else ambiguous)
    expr = _nanuk.call("datetime", *parts, time_unit=time_unit, time_zone=time_zone)
    return expr.alias("datetime") if is_plain else expr


def date(year, month, day) -> _nanuk.Expr:
    """A Date of its parts; text means columns. Parts that make none raise ComputeError."""
    from nanuk.datatypes import Date

    return datetime(year, month, day).cast(Date).alias("date")


def time(hour=None, minute=None, second=None, microsecond=None) -> _nanuk.Expr:
    """A Time of its parts, 0 by default; text means columns. Parts that make none raise ComputeError."""
    from nanuk.datatypes import Time

    return datetime(1970, 1, 1, hour, minute, second, microsecond).cast(Time).alias("time")


def duration(*, weeks=None, days=None, hours=None, minutes=None, seconds=None, milliseconds=None, microseconds=None,
             nanoseconds=None, time_unit: str | None = None) -> _nanuk.Expr:  # fmt: skip
    """A Duration of its parts, integers or floats; text means columns.

    The unit is "us" unless given, or "ns" with nanoseconds. Other dtypes raise InvalidOperationError.
    """
    if time_unit is None:
        time_unit = "us" if nanoseconds is None else "ns"
    given = (weeks, days, hours, minutes, seconds, milliseconds, microseconds, nanoseconds)
    parts = _given(given, 0) or [0]
    expr = _nanuk.call("duration", *parts, time_unit=time_unit)
    if all(isinstance(part, (int, float)) for part in parts):
        return expr.alias("duration")
    return expr if given[0] is not None else expr.alias("literal")


def from_epoch(column, time_unit: str = "s"):
    """Numbers since 1970 as Date ("d") or Datetime ("s", "ms", "us", "ns"): a column by name, an expression, or values.

    Raises ValueError for another unit.
    """
    from nanuk.datatypes import Date, Datetime, Int64
    from nanuk.functions import col, lit
    from nanuk.series import Series

    if isinstance(column, str):
        column = col(column)
    elif not isinstance(column, (_nanuk.Series, _nanuk.Expr)):
        column = Series(column)
    if time_unit == "d":
        return column.cast(Date)
    scale = {"s": 1_000_000, "ms": 1_000}.get(time_unit)
    if scale:
        if isinstance(column, _nanuk.Expr):
            return (column * lit(scale, dtype=Int64)).cast(Datetime("us"))
        column = column.cast(Int64) if column.dtype.is_integer() else column
        return (column * scale).cast(Datetime("us"))
    if time_unit in ("us", "ns"):
        return column.cast(Datetime(time_unit))
    msg = f"`time_unit` must be one of {{'ns', 'us', 'ms', 's', 'd'}}, got {time_unit!r}"
    raise ValueError(msg)


# ---- Ranges ----


def _interval(interval) -> str:
    return duration_text(interval).replace(" ", "").lower()


def _range(function: str, start, end, interval, closed: str, eager: bool, **options):
    bounds = (_nanuk.parse(start), _nanuk.parse(end))
    expr = _nanuk.call(function, *bounds, interval=_interval(interval), closed=closed, **options)
    return _evaluated(expr) if eager else expr


def date_range(start, end, interval="1d", *, closed: str = "both", eager: bool = False):
    """Dates from start to end, both of one value, a step of whole days apart; text means columns.

    `closed` is "both", "left", "right" or "none". A step that is no whole number of days raises ComputeError.
    """
    return _range("date_range", start, end, interval, closed, eager)


def datetime_range(start, end, interval="1d", *, closed: str = "both", time_unit: str | None = None,
                   time_zone: str | None = None, eager: bool = False):  # fmt: skip
    """Datetimes from start to end, both of one value, a step apart; text means columns."""
    if time_unit is None and "ns" in _interval(interval):
        time_unit = "ns"
    return _range("datetime_range", start, end, interval, closed, eager, time_unit=time_unit, time_zone=time_zone)


def _time_bounds(start, end, interval) -> tuple:
    text = _interval(interval)
    for unit in ("y", "mo", "w", "d"):
        if unit in text:
            msg = f"invalid interval unit for time_range: found {unit!r}"
            raise ValueError(msg)
    return (_time() if start is None else start), (_time(23, 59, 59, 999999) if end is None else end)


def time_range(start=None, end=None, interval="1h", *, closed: str = "both", eager: bool = False):
    """Times from start to end, both of one value, a step of less than a day apart; text means columns.

    Raises ValueError for a step of days or more.
    """
    return _range("time_range", *_time_bounds(start, end, interval), interval, closed, eager)


def date_ranges(start, end, interval="1d", *, closed: str = "both", eager: bool = False):
    """A list of dates a row, as date_range gives; text means columns."""
    return _range("date_ranges", start, end, interval, closed, eager)


def datetime_ranges(start, end, interval="1d", *, closed: str = "both", time_unit: str | None = None,
                    time_zone: str | None = None, eager: bool = False):  # fmt: skip
    """A list of datetimes a row, as datetime_range gives; text means columns."""
    if time_unit is None and "ns" in _interval(interval):
        time_unit = "ns"
    return _range("datetime_ranges", start, end, interval, closed, eager, time_unit=time_unit, time_zone=time_zone)


def time_ranges(start=None, end=None, interval="1h", *, closed: str = "both", eager: bool = False):
    """A list of times a row, as time_range gives; text means columns."""
    return _range("time_ranges", *_time_bounds(start, end, interval), interval, closed, eager)


# ---- Business days ----


def week_text(week_mask) -> str:
    """Which days of the week count, Monday first, as text of zeros and ones."""
    return "".join("1" if day else "0" for day in week_mask)


def holiday_lists(holidays) -> list:
    """The holidays of business days as arguments: none, or a column of lists of dates."""
    if isinstance(holidays, _nanuk.Expr):
        return [holidays]
    from nanuk.datatypes import Date, List
    from nanuk.series import Series

    if isinstance(holidays, _nanuk.Series) and isinstance(holidays.dtype, List):
        return [holidays]
    holidays = list(holidays)
    return [_nanuk.lit(Series("", [holidays], dtype=List(Date)))] if holidays else []


def business_day_count(
    start, end, *, week_mask=(True, True, True, True, True, False, False), holidays=()
) -> _nanuk.Expr:
    """How many business days there are from start to before end, as Int32; text means columns.

    Business days are those of the week mask, Monday first, that are no holidays. Raises ComputeError when none counts.
    """
    arguments = [_nanuk.parse(start), _nanuk.parse(end), *holiday_lists(holidays)]
    return _nanuk.call("business_day_count", *arguments, week_mask=week_text(week_mask))

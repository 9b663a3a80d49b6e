"""Series.dt and Series.str: what they have besides the functions of Expr."""

from __future__ import annotations

from nanuk.series import _Namespace


class SeriesDt(_Namespace):
    """Functions of dates, times and durations."""

    __slots__ = ()

    def __init__(self, series) -> None:
        super().__init__(series, "dt")

    def __getitem__(self, item: int):
        return self._series[item]

    def min(self):
        """The earliest value, None when there is none."""
        return self._series.min()

    def max(self):
        """The latest value, None when there is none."""
        return self._series.max()


class SeriesStr(_Namespace):
    """Functions of text."""

    __slots__ = ()

    def __init__(self, series) -> None:
        super().__init__(series, "str")

    def to_datetime(self, format: str | None = None, *, time_zone: str | None = None, **options):
        """As Expr.str.to_datetime; values are at hand, so offsets in them without a format give Datetimes in UTC."""
        parse = self.__getattr__("to_datetime")
        if format is not None or time_zone is not None:
            return parse(format, time_zone=time_zone, **options)
        from nanuk.exceptions import ComputeError

        try:
            return parse(**options)
        except ComputeError as error:
            try:
                return parse(time_zone="UTC", **options)
            except ComputeError:
                raise error from None

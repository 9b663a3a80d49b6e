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

        result = failure = None
        try:
            result = parse(**options)
        except ComputeError as error:
            failure = error
        if result is not None and (result.null_count() < len(result) or self._series.null_count() == len(result)):
            return result
        try:
            in_utc = parse(time_zone="UTC", **options)
        except ComputeError:
            in_utc = None
        if failure and in_utc is None:
            raise failure
        return in_utc if failure or (in_utc is not None and in_utc.null_count() < len(in_utc)) else result

    def strptime(self, dtype, format: str | None = None, *, strict: bool = True, exact: bool = True, cache: bool = True,
                 ambiguous="raise"):  # fmt: skip
        """As Expr.str.strptime; see to_datetime for offsets in values without a format."""
        from nanuk.datatypes import Datetime

        if dtype != Datetime or format is not None:
            return self.__getattr__("strptime")(
                dtype, format, strict=strict, exact=exact, cache=cache, ambiguous=ambiguous
            )
        unit, zone = getattr(dtype, "time_unit", None), getattr(dtype, "time_zone", None)
        return self.to_datetime(
            time_unit=unit if isinstance(unit, str) else None,
            time_zone=zone if isinstance(zone, str) else None,
            strict=strict, exact=exact, ambiguous=ambiguous,
        )  # fmt: skip

    def json_decode(self, dtype=None, *, infer_schema_length: int | None = 100):
        """As Expr.str.json_decode; without a dtype, that which the first `infer_schema_length` values (None: all) suggest.

        Raises SchemaError for values that no dtype holds.
        """
        if dtype is None:
            from nanuk.datatypes import Null
            from nanuk.json import scan_ndjson

            texts = self._series.drop_nulls()
            if infer_schema_length is not None:
                texts = texts.head(infer_schema_length)
            lines = "\n".join(f'{{"v":{" ".join(text.splitlines())}}}' for text in texts.to_list())
            dtype = scan_ndjson(lines.encode(), infer_schema_length=None).collect_schema()["v"] if lines else Null
        return self.__getattr__("json_decode")(dtype)

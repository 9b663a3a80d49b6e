"""Single values of columns, and columns made of values that are not of their dtype."""

import datetime
import decimal
import zoneinfo

import nanuk as pl
import pytest


def test_lists_among_values_are_series():
    lists = pl.Series("a", [[1, 2], None, []])
    for element in (
        lists[0],
        lists.item(0),
        lists.to_frame()[0, "a"],
        lists.to_frame().item(0, "a"),
        next(iter(lists)),
    ):
        assert isinstance(element, pl.Series) and element.to_list() == [1, 2] and element.name == ""
    assert lists[1] is None
    assert lists[2].to_list() == [] and lists[2].dtype == pl.Int64
    assert lists.first() == [1, 2] and lists.to_list() == [[1, 2], None, []]
    assert lists.to_frame().row(0) == ([1, 2],)
    assert pl.Series([[[1], [2, 3]]])[0][1].to_list() == [2, 3]
    assert pl.Series([{"a": [1]}])[0] == {"a": [1]}
    assert pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2))[0].dtype == pl.Int8


def test_decimals_of_other_numbers():
    for values, expected in (([0.0, 1.25], ["0.00", "1.25"]), ([1], ["1.00"]), (["1.5", None], ["1.50", None])):
        column = pl.Series(values, dtype=pl.Decimal(38, 2))
        assert column.to_list() == [None if value is None else decimal.Decimal(value) for value in expected]
    for value in (1e40, float("nan"), "a"):
        with pytest.raises(pl.exceptions.InvalidOperationError):
            pl.Series([value], dtype=pl.Decimal(38, 2))


def test_text_becomes_dates():
    assert pl.Series(["2020-01-02", None], dtype=pl.Date).to_list() == [datetime.date(2020, 1, 2), None]
    assert pl.Series(["10:00:01"], dtype=pl.Time).to_list() == [datetime.time(10, 0, 1)]
    assert pl.Series(["2020-01-02 03:04"], dtype=pl.Datetime("ms")).dtype == pl.Datetime("ms")
    with pytest.raises(pl.exceptions.ComputeError):
        pl.Series(["x"], dtype=pl.Date)


def test_literals_of_zones():
    zone = pl.Datetime("us", "Asia/Tokyo")
    for value in (datetime.date(2020, 7, 1), datetime.datetime(2020, 7, 1)):
        item = pl.select(pl.lit(value, dtype=zone)).item()
        assert item == datetime.datetime(2020, 7, 1, tzinfo=zoneinfo.ZoneInfo("Asia/Tokyo"))
    with pytest.raises(TypeError):
        pl.lit(datetime.datetime(2020, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")), dtype=zone)


def test_merge_sorted_of_several_keys():
    left = pl.DataFrame({"a": [1, 1, 3], "b": [1, 4, 2]})
    right = pl.DataFrame({"a": [1, 2, 3], "b": [2, 1, 1]})
    expected = [(1, 1), (1, 2), (1, 4), (2, 1), (3, 1), (3, 2)]
    assert left.merge_sorted(right, ["a", "b"]).rows() == expected
    nulls_last = pl.DataFrame({"a": [1, 3, None]}).merge_sorted(pl.DataFrame({"a": [2, None]}), "a")
    assert nulls_last["a"].to_list() == [1, 2, 3, None, None]
    nulls_first = pl.DataFrame({"a": [None, 1, 3]}).merge_sorted(pl.DataFrame({"a": [None, 2]}), "a")
    assert nulls_first["a"].to_list() == [None, None, 1, 2, 3]


def test_describe_of_a_column():
    dates = pl.Series([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]).describe()
    assert dict(dates.rows())["50%"] == "2021-01-01"
    assert pl.Series([], dtype=pl.Int64).describe()["statistic"].to_list() == ["count", "null_count"]

"""Methods of Expr and Series against values that Polars gives: rows, distinct values, searches, replacements, bits."""

import nanuk as pl
import pytest
from nanuk.exceptions import ComputeError, InvalidOperationError, OutOfBoundsError, SchemaError, ShapeError

NAN = float("nan")


def values(series):
    return series.to_list()


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (pl.col("a").filter(pl.col("a") > 1), [3, 2]),
        (pl.col("a").head(2), [3, 1]),
        (pl.col("a").head(-3), [3]),
        (pl.col("a").tail(pl.lit(2)), [None, 2]),
        (pl.col("a").slice(pl.lit(-3), 2), [1, None]),
        (pl.col("a").gather([0, -1, None]), [3, 2, None]),
        (pl.col("a").gather_every(2), [3, None]),
        (pl.col("a").gather_every(2, 1), [1, 2]),
        (pl.col("a").top_k(2), [3, 2]),
        (pl.col("a").bottom_k(2), [1, 2]),
        (pl.col("a").sort_by("b", descending=True), [2, None, 1, 3]),
        (pl.col("b").max_by("a"), [1]),
        (pl.col("a").append(pl.lit(9)), [3, 1, None, 2, 9]),
        (pl.col("a").extend_constant(None, 2), [3, 1, None, 2, None, None]),
        (pl.col("a").arg_sort(), [2, 1, 3, 0]),
        (pl.col("a").shift(1, fill_value=0), [0, 3, 1, None]),
        (pl.col("b").filter(pl.col("a") == 1).item(), [2]),
    ],
)
def test_rows(expr, expected):
    frame = pl.DataFrame({"a": [3, 1, None, 2], "b": [1, 2, 3, 4]})
    assert values(frame.select(expr.alias("x"))["x"]) == expected


def test_distinct():
    series = pl.Series([3, 1, None, 3, None])
    assert values(series.is_unique()) == [False, True, False, False, False]
    assert values(series.is_duplicated()) == [True, False, True, True, True]
    assert values(series.is_first_distinct()) == [True, True, True, False, False]
    assert values(series.is_last_distinct()) == [False, True, False, True, True]
    assert values(series.arg_unique()) == [0, 1, 2]
    assert values(series.unique_counts()) == [2, 1, 2]
    assert values(series.mode(maintain_order=True)) == [3, None]
    assert values(pl.Series([], dtype=pl.Int64).mode()) == []
    assert values(pl.Series([[1], [2], [1]]).is_unique()) == [False, True, False]


def test_search():
    assert pl.Series([1, 3, 3, 5]).search_sorted(3, "left") == 1
    assert pl.Series([1, 3, 3, 5]).search_sorted(3, "right") == 3
    assert pl.Series([None, 1, 3]).search_sorted(None, "right") == 1
    assert pl.Series([5, 3, 1]).search_sorted(3, "right", descending=True) == 2
    assert pl.Series([1, None, 3]).index_of(3) == 2
    assert pl.Series([1, None, 3]).index_of(None) == 1
    assert pl.Series([1, None, 3]).index_of(7) is None
    assert pl.Series([1.0, NAN]).index_of(NAN) == 1
    with pytest.raises(InvalidOperationError):
        pl.Series([1, 2]).index_of("a")
    with pytest.raises(ValueError, match="side"):
        pl.Series([1, 2]).search_sorted(1, "middle")


def test_replace():
    series = pl.Series([1, 2, None])
    assert values(series.replace(1, 10)) == [10, 2, None]
    assert values(series.replace([1, None], [10, 11])) == [10, 2, 11]
    assert values(series.replace([1, 2], 9)) == [9, 9, None]
    assert values(series.replace_strict({1: "a", 2: "b"})) == ["a", "b", None]
    assert values(series.replace_strict({1: "a"}, default="z")) == ["a", "z", "z"]
    assert series.replace_strict({1: 1, 2: 2}, return_dtype=pl.UInt8).dtype == pl.UInt8
    with pytest.raises(InvalidOperationError, match="incomplete"):
        pl.Series([1, 2, 3]).replace_strict({1: "a", 2: "b"})
    with pytest.raises(InvalidOperationError, match="duplicates"):
        pl.Series([1, 1]).replace_strict([1, 1], [3, 4])
    with pytest.raises(InvalidOperationError, match="same length"):
        series.replace([1, 2], [5, 6, 7])


def test_replace_over_many_rows():
    """Batches share one mapping, whatever their number."""
    frame = pl.DataFrame({"a": list(range(20_000))}).with_columns(pl.col("a") % 7)
    got = frame.lazy().select(pl.col("a").replace({i: 10 * i for i in range(7)})).collect()["a"]
    assert values(got) == [10 * (i % 7) for i in range(20_000)]


def test_bits():
    series = pl.Series([6, 3, None], dtype=pl.Int16)
    assert values(series.bitwise_count_ones()) == [2, 2, None]
    assert values(series.bitwise_leading_zeros()) == [13, 14, None]
    assert values(pl.Series([0], dtype=pl.UInt8).bitwise_trailing_zeros()) == [8]
    assert values(pl.Series([True, False]).bitwise_leading_zeros()) == [0, 1]
    assert (series.bitwise_and(), series.bitwise_or(), series.bitwise_xor()) == (2, 7, 5)
    assert pl.Series([], dtype=pl.Int8).bitwise_and() is None
    with pytest.raises(InvalidOperationError):
        pl.Series(["a"]).bitwise_and()


def test_neighbours():
    assert values(pl.Series([1, 3, 2, 5, 5, 4]).peak_max()) == [False, True, False, False, False, False]
    assert values(pl.Series([1, None, 0]).peak_max()) == [None, None, False]
    assert values(pl.Series([1, None, 5]).peak_min()) == [False, None, False]
    assert values(pl.Series([-1]).peak_max()) == [False]
    assert pl.Series([1, 2, None]).is_sorted() is False
    assert pl.Series([1, 2, None]).is_sorted(nulls_last=True) is True
    assert pl.Series([2, 1]).is_sorted(descending=None) is True


def test_moments():
    series = pl.Series([1.0, 2.0, 3.0, 4.0, 9.0])
    assert series.skew() == pytest.approx(1.0391889223704167)
    assert series.skew(bias=False) == pytest.approx(1.5491313812566698)
    assert series.kurtosis() == pytest.approx(-0.33122542246785036)
    assert series.kurtosis(bias=False) == pytest.approx(2.6750983101285986)
    assert series.kurtosis(fisher=False) == pytest.approx(2.6687745775321496)
    assert pl.Series([], dtype=pl.Float64).skew() is None
    assert pl.Series([1.0, 2.0]).skew(bias=False) is None


def test_ranges():
    assert values(pl.int_range(0, 5, 2, eager=True)) == [0, 2, 4]
    assert values(pl.int_range(5, 0, -2, eager=True)) == [5, 3, 1]
    assert pl.int_range(3, dtype=pl.UInt8, eager=True).dtype == pl.UInt8
    assert values(pl.repeat("a", 2, eager=True)) == ["a", "a"]
    assert pl.repeat(1, 3, eager=True).dtype == pl.Int32
    assert values(pl.linear_space(0, 1, 3, eager=True)) == [0.0, 0.5, 1.0]
    assert values(pl.linear_space(0, 1, 2, closed="none", eager=True)) == pytest.approx([1 / 3, 2 / 3])
    with pytest.raises(InvalidOperationError):
        pl.int_range(0, 3, 0, eager=True)
    with pytest.raises(SchemaError):
        pl.int_range(0, 3, dtype=pl.Float64, eager=True)
    with pytest.raises(ComputeError):
        pl.repeat(1, -1, eager=True)


def test_samples():
    series = pl.Series(range(100))
    assert values(series.sample(10, seed=1)) == values(series.sample(10, seed=1))
    assert sorted(series.shuffle(seed=2)) == list(range(100))
    assert len(pl.Series([1, 2]).sample(5, with_replacement=True)) == 5
    pl.set_random_seed(7)
    first = values(series.sample(5))
    pl.set_random_seed(7)
    assert first == values(series.sample(5))
    with pytest.raises(ShapeError):
        pl.Series([1, 2]).sample(3)


def test_bytes_and_integers_of_text():
    series = pl.Series([b"ab", None, b""])
    assert values(series.bin.encode("hex")) == ["6162", None, ""]
    assert values(series.bin.encode("base64")) == ["YWI=", None, ""]
    assert values(pl.Series(["6162", "zz"]).str.decode("hex", strict=False)) == [b"ab", None]
    assert values(pl.Series(["YWI=", "YWI"]).str.decode("base64", strict=False)) == [b"ab", None]
    assert values(series.bin.slice(-1)) == [b"b", None, b""]
    assert values(pl.Series(["ff", "-7f", "x"]).str.to_integer(base=16, strict=False)) == [255, -127, None]
    assert values(pl.Series(["300"]).str.to_integer(dtype=pl.UInt8, strict=False)) == [None]
    with pytest.raises(ComputeError):
        pl.Series(["x"]).str.to_integer()


def test_out_of_bounds():
    with pytest.raises(OutOfBoundsError):
        pl.Series([1, 2]).gather([2])
    assert values(pl.Series([1, 2]).gather([2], null_on_oob=True)) == [None]


def test_functions_that_are_lacking_say_so():
    with pytest.raises(NotImplementedError, match="no_such_function"):
        pl.col("a")._call("no_such_function")
    with pytest.raises(NotImplementedError, match="read_avro"):
        pl.read_avro("x")
    with pytest.raises(AttributeError):
        pl.no_such_name  # noqa: B018


def test_pieces_of_text():
    series = pl.Series(["a,b,,c", ",", "", None])
    assert values(series.str.split(",")) == [["a", "b", "", "c"], ["", ""], [""], None]
    assert values(series.str.split(",", inclusive=True)) == [["a,", "b,", ",", "c"], [","], [], None]
    assert values(pl.Series(["a1b22c"]).str.split(r"\d+", literal=False)) == [["a", "b", "c"]]
    assert values(pl.Series(["éa", ""]).str.split("")) == [["é", "a"], []]
    assert values(pl.Series(["a-b", "c_d"]).str.split(pl.Series(["-", "_"]))) == [["a", "b"], ["c", "d"]]
    assert values(pl.Series(["a1b22c", None, "x"]).str.extract_all(r"\d+")) == [["1", "22"], None, []]
    long = "a" * 30 + "," + "b" * 40
    assert values(pl.Series([long]).str.split(",")) == [["a" * 30, "b" * 40]]
    with pytest.raises(ComputeError):
        pl.Series(["a"]).str.split("(", literal=False)
    assert values(pl.Series(["a"]).str.split("(", literal=False, strict=False)) == [None]
    assert values(pl.Series(["a", None, "b"]).str.join("-")) == ["a-b"]
    assert values(pl.Series(["a", None, "b"]).str.join("-", ignore_nulls=False)) == [None]
    assert values(pl.Series(["o'neil 3rd ÉLAN"]).str.to_titlecase()) == ["O'Neil 3Rd Élan"]
    assert values(pl.Series(["abc", "x.z", None]).str.contains_any(["b", "."])) == [True, True, None]

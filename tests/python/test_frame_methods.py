"""Methods of DataFrame and LazyFrame that change shapes, describe, and combine tables."""

import nanuk as pl
import pytest
from nanuk.exceptions import ComputeError, DuplicateError, InvalidOperationError, SchemaError, ShapeError
from nanuk.testing import assert_frame_equal, assert_frame_not_equal, assert_series_equal


def rows(frame):
    return frame.rows()


def test_describe():
    frame = pl.DataFrame({"i": [1, 2, None], "b": [True, False, None], "s": ["x", None, "y"]})
    found = frame.describe()
    assert found.columns == ["statistic", "i", "b", "s"]
    assert found["statistic"].to_list() == ["count", "null_count", "mean", "std", "min", "25%", "50%", "75%", "max"]
    assert found["i"].to_list() == pytest.approx([2, 1, 1.5, 0.5**0.5, 1, 1, 2, 2, 2])
    assert found["s"].to_list() == ["2", "1", None, None, "x", None, None, None, "y"]
    with pytest.raises(TypeError):
        pl.DataFrame().describe()


def test_pivot():
    frame = pl.DataFrame({"i": [1, 1, 2], "k": ["y", "x", "y"], "v": [1, 2, 3], "w": [4, 5, 6]})
    assert rows(frame.pivot("k", index="i", values="v")) == [(1, 1, 2), (2, 3, None)]
    assert frame.pivot("k", index="i").columns == ["i", "v_y", "v_x", "w_y", "w_x"]
    assert frame.pivot("k", index="i", values="v", sort_columns=True).columns == ["i", "x", "y"]
    twice = pl.DataFrame({"i": [1, 1], "k": ["y", "y"], "v": [1, 2]})
    assert twice.pivot("k", index="i", values="v", aggregate_function="sum")["y"].to_list() == [3]
    with pytest.raises(ComputeError):
        twice.pivot("k", index="i", values="v")
    with pytest.raises(InvalidOperationError):
        frame.pivot("k")


def test_unpivot():
    frame = pl.DataFrame({"a": ["x", "y"], "b": [1, 3], "c": [2.5, 4.0]})
    assert rows(frame.unpivot(index="a")) == [("x", "b", 1.0), ("y", "b", 3.0), ("x", "c", 2.5), ("y", "c", 4.0)]
    assert frame.lazy().unpivot("b", index="a", variable_name="k", value_name="v").collect().columns == ["a", "k", "v"]


def test_transpose():
    frame = pl.DataFrame({"a": [1, 2], "b": [1.5, None]})
    assert frame.transpose(include_header=True).to_dict(as_series=False) == {
        "column": ["a", "b"], "column_0": [1.0, 1.5], "column_1": [2.0, None],
    }  # fmt: skip
    named = pl.DataFrame({"k": ["x", "y"], "v": [1, 2]}).transpose(column_names="k")
    assert named.to_dict(as_series=False) == {"x": [1], "y": [2]}


def test_dummies():
    assert pl.Series("a", [3, 1, None, 3]).to_dummies().to_dict(as_series=False) == {
        "a_1": [0, 1, 0, 0], "a_3": [1, 0, 0, 1], "a_null": [0, 0, 1, 0],
    }  # fmt: skip


def test_update():
    left, right = pl.DataFrame({"k": [1, 2], "v": [10, 20]}), pl.DataFrame({"k": [2, 3], "v": [99, 98]})
    assert rows(left.update(right, on="k")) == [(1, 10), (2, 99)]
    assert rows(left.update(right, on="k", how="full").sort("k")) == [(1, 10), (2, 99), (3, 98)]
    nulls = pl.DataFrame({"k": [1], "v": [None]}, schema_overrides={"v": pl.Int64})
    assert rows(left.update(nulls, on="k"))[0] == (1, 10)
    assert rows(left.update(nulls, on="k", include_nulls=True))[0] == (1, None)


def test_rows_of_groups():
    frame = pl.DataFrame({"g": ["x", "y", "x", "x"], "a": [1, 2, 3, 4]})
    assert rows(frame.group_by("g", maintain_order=True).head(2)) == [("x", 1), ("x", 3), ("y", 2)]
    assert rows(frame.group_by("g", maintain_order=True).tail(1)) == [("x", 4), ("y", 2)]
    counted = frame.group_by("g", maintain_order=True).map_groups(lambda part: part.select("g", pl.len()).head(1))
    assert rows(counted) == [("x", 3), ("y", 1)]


def test_rows_that_repeat():
    frame = pl.DataFrame({"a": [1, 1, 2], "b": ["x", "x", "x"]})
    assert frame.is_duplicated().to_list() == [True, True, False]
    assert frame.is_unique().to_list() == [False, False, True]


def test_aggregations_of_columns_without_one():
    frame = pl.DataFrame({"s": ["a"], "i": [1]})
    assert rows(frame.sum()) == [(None, 1)]
    assert frame.mean().dtypes == [pl.String, pl.Float64]


def test_subscripts():
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
    assert frame[0, "b"] == 4
    assert rows(frame[[0, 2]]) == [(1, 4), (3, 6)]
    assert frame[:, "a":"b"].columns == ["a", "b"]
    assert frame[["b"]].columns == ["b"]
    assert rows(frame[-1]) == [(3, 6)]
    assert frame[:, []].shape == (0, 0)
    with pytest.raises(TypeError, match="boolean mask"):
        frame[[True, False, True]]
    with pytest.raises(TypeError, match="'float'"):
        frame[:, [1.0]]
    with pytest.raises(IndexError):
        frame[3]
    frame[1, "a"] = 9
    assert frame["a"].to_list() == [1, 9, 3]


def test_concat():
    frame = pl.DataFrame({"a": [1]})
    assert rows(pl.concat([pl.DataFrame(), frame])) == [(1,)]
    assert rows(pl.concat([frame, pl.DataFrame({"b": [2]})], how="diagonal")) == [(1, None), (None, 2)]
    with pytest.raises(ValueError, match="must be one of"):
        pl.concat([frame, frame], how="sideways")
    with pytest.raises(SchemaError):
        pl.concat([frame, pl.DataFrame({"a": ["x"]})])
    left, right = pl.DataFrame({"k": [1, 2], "x": [3, 4]}), pl.DataFrame({"k": [2, 3], "y": [5, 6]})
    assert rows(pl.concat([left, right], how="align")) == [(1, 3, None), (2, 4, 5), (3, None, 6)]
    assert rows(pl.concat([left, right], how="align_inner")) == [(2, 4, 5)]
    assert rows(pl.concat([left, pl.DataFrame({"z": [7]})], how="horizontal_extend")) == [(1, 3, 7), (2, 4, None)]
    assert rows(frame.merge_sorted(pl.DataFrame({"a": [0]}), "a")) == [(0,), (1,)]


def test_queries_without_sharing_give_the_same():
    """A node with two readers works when nothing copies or keeps it beforehand."""
    lazy = pl.LazyFrame({"a": [1, 2, 3]})
    both = pl.concat([lazy, lazy.filter(pl.col("a") == 1)])
    for flags in (pl.QueryOptFlags(comm_subplan_elim=False), pl.QueryOptFlags.none(), pl.QueryOptFlags()):
        assert both.collect(optimizations=flags)["a"].to_list() == [1, 2, 3, 1]


def test_statistics():
    frame = pl.DataFrame({"a": [1, 2, 3, 4, None], "b": [2.0, 4.0, 5.0, 9.0, 1.0]})
    found = frame.select(pl.corr("a", "b").alias("r"), pl.cov("a", "b").alias("c"))
    assert found.row(0) == pytest.approx((0.9647638212377322, 3.6666666666666665))


def test_duplicate_names():
    with pytest.raises(DuplicateError):
        pl.Series("count", [1]).value_counts()
    frame = pl.DataFrame({"a": [1]})
    with pytest.raises(ComputeError):
        frame.with_columns(pl.lit(1).alias("z"), pl.lit(2).alias("z"))
    with pytest.raises(DuplicateError):
        frame.select("a", pl.lit(2).alias("a"))


def test_assertions():
    left, right = pl.DataFrame({"a": [1.0, 2.0]}), pl.DataFrame({"a": [1.0, 2.0 + 1e-9]})
    assert_frame_equal(left, right)
    assert_frame_not_equal(left, right, check_exact=True)
    with pytest.raises(AssertionError, match='value mismatch for column "a"'):
        assert_frame_equal(left, right, check_exact=True)
    with pytest.raises(AssertionError, match='columns mismatch: \\["a"\\] in left'):
        assert_frame_equal(left, pl.DataFrame({"b": [1.0, 2.0]}))
    assert_series_equal(left["a"], right["a"])


def test_namespaces_of_ones_own():
    @pl.api.register_expr_namespace("powers")
    class Powers:
        def __init__(self, expr):
            self._expr = expr

        def square(self):
            return self._expr * self._expr

    assert rows(pl.DataFrame({"a": [3]}).select(pl.col("a").powers.square())) == [(9,)]
    with pytest.raises(AttributeError):
        pl.api.register_dataframe_namespace("head")(Powers)


def test_series_within_groups():
    """Every group has all rows of a column that comes with the query."""
    frame = pl.DataFrame({"g": [1, 1, 2], "a": [1, 2, 3]})

    def grouped(expr):
        return frame.group_by("g", maintain_order=True).agg(x=expr)["x"].to_list()

    assert grouped(pl.lit(pl.Series([10, 20, 30]))) == [[10, 20, 30], [10, 20, 30]]
    assert grouped(pl.lit(pl.Series([10, 20])).sum()) == [30, 30]
    assert grouped(pl.col("a").gather([0, 0])) == [[1, 1], [3, 3]]
    assert grouped(pl.col("a").sum() + pl.lit(pl.Series([10, 20]))) == [[13, 23], [13, 23]]
    with pytest.raises(ShapeError):
        grouped(pl.col("a") + pl.lit(pl.Series([10, 20, 30])))


def test_structs_of_literals():
    made = pl.select(pl.struct(a=0, b=[0.0, 1.1], c=None, d=True))
    assert rows(made) == [({"a": 0, "b": [0.0, 1.1], "c": None, "d": True},)]
    assert pl.select(pl.lit({"a": 1, "b": "x"})).schema == {"literal": pl.Struct({"a": pl.Int64, "b": pl.String})}
    frame = pl.DataFrame({"x": [1, 2]}).with_columns(pl.lit({"a": 1}).alias("s"))
    assert rows(frame) == [(1, {"a": 1}), (2, {"a": 1})]


def test_dictionaries_of_other_libraries():
    """Without a note of Polars about its categories, an Arrow dictionary is a Categorical."""
    pa = pytest.importorskip("pyarrow")
    array = pa.array(["b", "a", None, "b"]).dictionary_encode()
    series = pl.from_arrow(array)
    assert series.dtype == pl.Categorical
    assert series.to_list() == ["b", "a", None, "b"]
    assert pl.from_arrow(pa.table({"c": array}))["c"].to_list() == ["b", "a", None, "b"]

"""Python functions inside queries: what slt blocks cannot see, their exceptions and their life."""

import gc
import pickle
import weakref

import pytest

import nanuk as pl


def test_the_exception_itself_comes_out():
    error = KeyError("mine")

    def fail(column):
        raise error

    df = pl.DataFrame({"a": [1]})
    with pytest.raises(KeyError) as caught:
        df.select(pl.col("a").map_batches(fail, return_dtype=pl.Int64))
    assert caught.value is error


def test_a_function_lives_as_long_as_its_expression():
    class Function:
        def __call__(self, column):
            return column

    function = Function()
    alive = weakref.ref(function)
    expr = pl.col("a").map_batches(function, return_dtype=pl.Int64)
    plan = pl.LazyFrame({"a": [1]}).select(expr)
    del function, expr
    gc.collect()
    assert alive() is not None
    assert plan.collect().rows() == [(1,)]
    del plan
    gc.collect()
    assert alive() is None


def test_functions_do_not_leave_the_process():
    expr = pl.col("a").map_batches(lambda column: column, return_dtype=pl.Int64)
    with pytest.raises(pl.exceptions.ComputeError):
        pickle.dumps(expr)
    with pytest.raises(pl.exceptions.ComputeError):
        pickle.dumps(pl.LazyFrame({"a": [1]}).map_batches(lambda df: df))


def test_series_have_the_names_of_their_columns():
    names = []
    df = pl.DataFrame({"a": [1], "b": [2]})
    df.select(
        pl.map_batches(["a", "b"], lambda columns: names.append([c.name for c in columns]) or columns[0], pl.Int64)
    )
    assert names == [["a", "b"]]


def test_functions_may_run_queries():
    df = pl.DataFrame({"a": list(range(10_000))})
    result = df.select(
        pl.col("a").map_batches(lambda s: s.to_frame().lazy().select(pl.col("a") * 2).collect().to_series(), pl.Int64)
    )
    assert result.to_series().sum() == 2 * sum(range(10_000))


def test_plans_of_windows_survive_pickling():
    plan = pl.LazyFrame({"t": [1, 2, 5], "v": [1, 2, 3]})
    for query in (
        plan.rolling("t", period="2i").agg(pl.col("v").sum()),
        plan.group_by_dynamic("t", every="2i", closed="both", label="right", start_by="datapoint").agg(pl.col("v")),
        plan.join_asof(plan, on="t", strategy="nearest", tolerance=1, allow_exact_matches=False),
    ):
        assert pickle.loads(pickle.dumps(query)).collect().equals(query.collect())


def test_function_out_of_memory():
    """Lacking memory is told as that, also while the dtype of a function is tried out."""

    def fail(_):
        raise MemoryError("mine")

    frame = pl.LazyFrame({"a": [1, 2]})
    with pytest.raises(MemoryError):
        frame.select(pl.col("a").map_batches(fail)).collect()
    with pytest.raises(MemoryError):
        frame.select(pl.col("a").map_batches(fail, return_dtype=pl.Int64)).collect()

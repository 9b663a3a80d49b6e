"""SQL: the benchmark's queries, contexts, what messages say, and texts that once were trouble.

What single queries answer is in tests/slt/sql*.slt.
"""

import pathlib
import sys

import nanuk as pl
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
from pdsh import tables  # noqa: E402

SCALE = 0.01
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def context(package, schema):
    tables.ensure(SCALE, schema)
    folder = tables.folder(SCALE, schema)
    return package.SQLContext({name: package.scan_parquet(folder / f"{name}.parquet") for name in TABLES})


def close(left, right):
    return len(left) == len(right) and all(
        a == b or (isinstance(a, float) and isinstance(b, float) and abs(a - b) <= 1e-9 * max(abs(a), abs(b)))
        for row_a, row_b in zip(left, right, strict=True)
        for a, b in zip(row_a, row_b, strict=True)
    )


@pytest.mark.skipif(tables.generator() is None, reason="tpchgen-cli is not installed")
@pytest.mark.parametrize("query", range(1, 23))
@pytest.mark.parametrize("schema", tables.SCHEMAS)
def test_the_benchmark_in_sql_answers_as_polars_sql_does(query, schema):
    """Decimals digit by digit, floats to nine digits, dtypes alike."""
    polars = pytest.importorskip("polars")
    text = (ROOT / "bench" / "pdsh" / "sql" / f"q{query}.sql").read_text().replace("{fraction}", f"{0.0001 / SCALE:g}")
    expected = context(polars, schema).execute(text).collect()
    answer = context(pl, schema).execute(text, eager=True)
    assert answer.columns == expected.columns
    assert [str(dtype) for dtype in answer.dtypes] == [str(dtype) for dtype in expected.dtypes]
    assert close(answer.rows(), expected.rows())


T = pl.DataFrame({"a": [1, 2, None], "g": ["x", "y", "x"]})


def test_contexts_keep_tables_by_name():
    sql = pl.SQLContext({"t": T}, u=T.lazy())
    assert sql.tables() == ["t", "u"]
    assert sql.register("w", pl.Series("s", [1, 2])).execute("select sum(s) from w", eager=True).item() == 3
    assert sql.unregister("w").tables() == ["t", "u"]
    with sql:
        sql.register_many({"x": T}, y=T)
        assert sql.tables() == ["t", "u", "x", "y"]
    assert sql.tables() == ["t", "u"]
    assert isinstance(sql.execute("select a from t"), pl.LazyFrame)
    assert isinstance(pl.SQLContext(t=T, eager=True).execute("select a from t"), pl.DataFrame)
    with pytest.raises(ValueError, match="unrecognised frame type"):
        sql.register("bad", object())


def test_statements_change_the_context():
    sql = pl.SQLContext(t=T)
    assert sql.execute("create table u as select a * 2 as b from t", eager=True).rows() == [("CREATE TABLE u",)]
    assert sql.execute("show tables", eager=True).rows() == [("t",), ("u",)]
    assert sql.execute("select sum(b) from u", eager=True).item() == 6
    with pytest.raises(pl.exceptions.SQLInterfaceError, match="already exists"):
        sql.execute("create table u as select 1")
    assert sql.execute("delete from t where a > 1", eager=True).rows() == [(1, "x"), (None, "x")]
    assert sql.execute("truncate table u", eager=True).shape == (0, 1)
    assert sql.execute("describe t", eager=True).rows() == [("a", "Int64"), ("g", "String")]
    assert sql.execute("drop table u", eager=True).shape == (0, 0)
    assert sql.execute("drop table if exists u", eager=True).shape == (0, 0)
    with pytest.raises(pl.exceptions.SQLInterfaceError, match="does not exist"):
        sql.execute("drop table u")
    assert "scan DataFrame" in sql.execute("explain select a from t", eager=True).item(0, 0)
    assert sql.tables() == ["t"]


def test_frames_are_found_by_their_names_in_python():
    here = T
    assert pl.sql("select sum(a) as s from here", eager=True).rows() == [(3,)]
    assert here.sql("select count(*) from self").item() == 3
    assert here.lazy().sql("select max(a) from it", table_name="it").collect().item() == 2


def test_files_are_tables(tmp_path):
    T.write_parquet(tmp_path / "t.parquet")
    T.write_csv(tmp_path / "t.csv")
    sources = ("'{}/t.parquet'", "read_parquet('{}/t.parquet')", '"{}/t.parquet"', "'{}/t.csv'", "read_csv('{}/t.csv')")
    for source in sources:
        answer = pl.sql(f"select a from {source.format(tmp_path)} order by a", eager=True)
        assert answer.rows() == [(1,), (2,), (None,)]


def test_expressions():
    assert T.select(pl.sql_expr("a * 2 + 1 as b")).rows() == [(3,), (5,), (None,)]
    assert T.select(pl.sql_expr(["upper(g) as u", "coalesce(a, 0)"])).rows() == [("X", 1), ("Y", 2), ("X", 0)]
    with pytest.raises(pl.exceptions.SQLInterfaceError):
        pl.sql_expr("a +")


def test_every_function_of_the_registry_is_callable():
    """By its name in the registry; underscores stand for the dot, options are named."""
    assert T.sql("select str_to_uppercase(g) as a, str.len_chars(g) as b from self").row(0) == ("X", 1)
    assert T.sql("select clip(a, 2, 5) as a, n_unique(g) over () as n from self").row(0) == (2, 2)
    assert T.sql("select quantile(a, quantile => 1.0, interpolation => 'lower') as q from self").item() == 2


@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        (
            "select a from t where\n  g = = 'x'",
            "SQLInterfaceError",
            ["line 2, column 7", "expected an expression, found =", "\n        ^"],
        ),
        (
            "select a b c from t",
            "SQLInterfaceError",
            ["expected the end of the statement, found c", "column 12"],
        ),
        ("select é, from_ from t", "ColumnNotFoundError", ["é", "column 8", '"a", "g"']),
        ("select 'abc", "SQLInterfaceError", ["unterminated string literal", "column 8"]),
        ("select foo(a) from t", "SQLInterfaceError", ["unsupported function 'foo'"]),
        ("select a, count(*) from t", "SQLSyntaxError", ["'a' should participate in the GROUP BY clause"]),
        ("select a from t join t on true", "SQLInterfaceError", ["alias"]),
        ("select " + "(" * 2000 + "1" + ")" * 2000, "SQLInterfaceError", ["nested too deeply"]),
        ("select " + "1 + " * 5000 + "1", "SQLInterfaceError", ["nested too deeply"]),
    ],
)
def test_messages_point_into_the_text(query, error, words):
    with pytest.raises(pl.exceptions.PolarsError) as caught:
        pl.SQLContext(t=T).execute(query)
    assert type(caught.value).__name__ == error
    for word in words:
        assert word in str(caught.value)


def test_long_conditions_are_shallow():
    condition = " or ".join(f"a = {i}" for i in range(3000))
    assert pl.SQLContext(t=T).execute(f"select count(*) from t where {condition}", eager=True).item() == 2


@pytest.mark.parametrize("path", sorted((ROOT / "fuzz" / "corpus" / "sql").iterdir()), ids=lambda path: path.stem)
def test_corpus(path):
    """Whatever the text: an answer, or an error of the API."""
    u = pl.DataFrame({"a": [1, 2, 5], "c": [10, 20, 50], "g": ["x", "q", "y"]})
    text = path.read_bytes().decode("latin-1")
    try:
        answer = pl.SQLContext(t=T.with_columns(b=pl.lit(1.5)), u=u).execute(text)
        answer.collect_schema()
    except (pl.exceptions.PolarsError, ValueError):
        pass

"""The 22 PDS-H queries give the answers of Polars (decimals exactly), and of DuckDB where the tables hold floats.

The tables are generated at scale 0.01 into build/ on first use; NANUK_PDSH_SCALE asks for another scale. Each
setting that changes how the engine runs (threads, spilling, batch size) is read once per process, so those runs
happen in processes of their own.
"""

import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"
sys.path.insert(0, str(BENCH))
from pdsh import answers, queries, sweep, tables, worker  # noqa: E402

SCALE = float(os.environ.get("NANUK_PDSH_SCALE", "0.01"))
SETTINGS = {
    "one_thread": {"NANUK_MAX_THREADS": "1"},
    "four_threads": {"NANUK_MAX_THREADS": "4"},
    "forced_spill": {"NANUK_FORCE_SPILL": "1"},
    "three_row_batches": {"NANUK_BATCH_ROWS": "3"},
}

pytestmark = pytest.mark.skipif(tables.generator() is None, reason="tpchgen-cli is not installed")


@cache
def answers_of(engine, schema):
    tables.ensure(SCALE, schema)
    return sweep.answers_of(engine, SCALE, schema, n_threads=2)


@cache
def answers_under(setting, schema):
    tables.ensure(SCALE, schema)
    path = tables.folder(SCALE).parent / f"answers-{setting}-{schema}-{os.getpid()}.pickle"
    command = [sys.executable, "-m", "pdsh.sweep", "nanuk", f"{SCALE:g}", schema, str(path)]
    search = os.pathsep.join([str(BENCH), *sys.path])
    environment = {**os.environ, **SETTINGS[setting], "PYTHONPATH": search}
    try:
        finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
        if finished.returncode != 0:
            return f"exit {finished.returncode}: {finished.stderr[-2000:]}"
        return pickle.loads(path.read_bytes())
    finally:
        path.unlink(missing_ok=True)


def check(query, expected, found, loose_decimals=False):
    if isinstance(found, str):
        pytest.fail(found, pytrace=False)
    answer = found[query]
    if isinstance(answer, str):
        pytest.fail(answer, pytrace=False)
    differs = answers.difference(query, expected[query], answer, loose_decimals)
    if differs:
        pytest.fail(f"query {query}: {differs}", pytrace=False)


@pytest.mark.parametrize("query", queries.QUERIES)
@pytest.mark.parametrize("schema", tables.SCHEMAS)
def test_same_answer_as_polars(query, schema):
    pytest.importorskip("polars")
    check(query, answers_of("polars", schema), answers_of("nanuk", schema))


@pytest.mark.parametrize("query", queries.QUERIES)
def test_same_answer_as_duckdb(query):
    pytest.importorskip("duckdb")
    check(query, answers_of("duckdb", "float"), answers_of("nanuk", "float"), loose_decimals=True)


@pytest.mark.parametrize("query", queries.QUERIES)
@pytest.mark.parametrize("schema", tables.SCHEMAS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_same_answer_under_setting(query, schema, setting):
    pytest.importorskip("polars")
    check(query, answers_of("polars", schema), answers_under(setting, schema))


@pytest.mark.parametrize("query", queries.QUERIES)
def test_the_other_engines_agree(query):
    """The texts of the queries for the DataFrame and the SQL engines mean the same."""
    pytest.importorskip("polars")
    pytest.importorskip("duckdb")
    check(query, answers_of("polars", "float"), answers_of("duckdb", "float"), loose_decimals=True)


@pytest.mark.parametrize("query", queries.QUERIES)
def test_columns_of_the_decode_floor(query):
    """The floor of a benchmark reads exactly columns that exist, of tables that the query uses."""
    pl = pytest.importorskip("polars")
    tables.ensure(SCALE)
    t = tables.Tables(pl, SCALE)
    used = set()

    class Recorder:
        scale, number = SCALE, t.number

        def __getattr__(self, name):
            used.add(name)
            return getattr(t, name)

    queries.QUERIES[query](Recorder())
    assert used - {"pl"} == set(queries.COLUMNS[query])
    worker.decode_floor(t, query)

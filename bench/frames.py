#!/usr/bin/env python3
"""Compares engines on frames in memory: grouping and joins after db-benchmark's questions, sorts, windows, strings.

    bench/frames.py                                       nanuk, Polars and DuckDB on 1e7 rows
    bench/frames.py --rows 1e6 --cases group,sort --engines nanuk,polars

Groups follow https://github.com/duckdblabs/db-benchmark (K = 100, no nulls). Every engine and case runs in a process of its
own, engines in turn, `--repeat` times; tables are loaded from a Parquet file before the clock starts, and the smallest of
`--runs` runs counts. Answers are compared by what does not depend on the order of rows: height, and of each column the sum or,
of text, the number of distinct values and of bytes.
"""

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
K = 100


def folder(n_rows):
    return ROOT / "build" / "frames" / f"{n_rows:g}"


def make_tables(n_rows):
    """Writes the tables x (facts), small, medium and big (to join with), once."""
    path = folder(n_rows)
    if (path / ".done").exists():
        return
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(108)
    n_wide = max(n_rows // K, 1)

    def text(numbers, width):
        names = np.array([f"id{i:0{width}d}" for i in range(int(numbers.max()) + 1)])
        return names[numbers]

    id1, id2, id4, id5 = (rng.integers(1, K + 1, n_rows) for _ in range(4))
    id3, id6 = (rng.integers(1, n_wide + 1, n_rows) for _ in range(2))
    x = {
        "id1": text(id1, 3), "id2": text(id2, 3), "id3": text(id3, 10), "id4": id4, "id5": id5, "id6": id6,
        "v1": rng.integers(1, 6, n_rows), "v2": rng.integers(1, 16, n_rows), "v3": rng.random(n_rows).round(6) * 100,
        "k_small": rng.integers(0, max(n_rows // 1_000_000, 4), n_rows), "k_medium": rng.integers(0, n_rows // 1000, n_rows),
        "k_big": rng.integers(0, n_rows + n_rows // 10, n_rows),
    }  # fmt: skip
    pq.write_table(pa.table(x), path / "x.parquet")
    for name, n in ("small", max(n_rows // 1_000_000, 4)), ("medium", n_rows // 1000), ("big", n_rows):
        keys = rng.permutation(n + n // 10)[:n]
        table = {f"k_{name}": keys, "w": rng.random(n) * 100, "label": text(keys, 9)}
        pq.write_table(pa.table(table), path / f"{name}.parquet")
    (path / ".done").touch()


CASES = {}


def case(family, sql=None):
    """A function of a module and its tables that gives a frame or a Series; sql: the same for SQL engines."""

    def register(function):
        CASES[function.__name__] = (family, function, sql)
        return function

    return register


def grouped(keys, sql_values):
    names = ", ".join(keys)
    return f"select {names}, {sql_values} from x group by {names}"


@case("group", grouped(["id1"], "sum(v1)"))
def group_1(pl, t):
    return t.x.group_by("id1").agg(pl.col("v1").sum())


@case("group", grouped(["id1", "id2"], "sum(v1)"))
def group_2(pl, t):
    return t.x.group_by("id1", "id2").agg(pl.col("v1").sum())


@case("group", grouped(["id3"], "sum(v1), avg(v3)"))
def group_3(pl, t):
    return t.x.group_by("id3").agg(pl.col("v1").sum(), pl.col("v3").mean())


@case("group", grouped(["id4"], "avg(v1), avg(v2), avg(v3)"))
def group_4(pl, t):
    return t.x.group_by("id4").agg(pl.col("v1", "v2", "v3").mean())


@case("group", grouped(["id6"], "sum(v1), sum(v2), sum(v3)"))
def group_5(pl, t):
    return t.x.group_by("id6").agg(pl.col("v1", "v2", "v3").sum())


@case("group", grouped(["id4", "id5"], "median(v3), stddev(v3)"))
def group_6(pl, t):
    v3 = pl.col("v3")
    return t.x.group_by("id4", "id5").agg(v3.median().alias("median"), v3.std().alias("std"))


@case("group", grouped(["id3"], "max(v1) - min(v2)"))
def group_7(pl, t):
    return t.x.group_by("id3").agg((pl.col("v1").max() - pl.col("v2").min()).alias("range"))


@case("group", "select id6, unnest(max(v3, 2)) from x group by id6")
def group_8(pl, t):
    return t.x.group_by("id6").agg(pl.col("v3").top_k(2)).explode("v3")


@case("group", grouped(["id2", "id4"], "pow(corr(v1, v2), 2)"))
def group_9(pl, t):
    return t.x.group_by("id2", "id4").agg((pl.corr("v1", "v2") ** 2).alias("r2"))


@case("group", grouped(["id1", "id2", "id3", "id4", "id5", "id6"], "sum(v3), count(*)"))
def group_10(pl, t):
    keys = ["id1", "id2", "id3", "id4", "id5", "id6"]
    return t.x.group_by(keys).agg(pl.col("v3").sum(), pl.len().alias("n"))


JOINED = "select x.id1, x.id4, x.v1, x.v3, y.w, y.label from x {how} join {name} y using (k_{name})"


def joined(t, name, how):
    columns = ["id1", "id4", "v1", "v3", f"k_{name}"]
    return t.x.select(columns).join(getattr(t, name), on=f"k_{name}", how=how).drop(f"k_{name}")


@case("join", JOINED.format(name="small", how="inner"))
def join_small(pl, t):
    return joined(t, "small", "inner")


@case("join", JOINED.format(name="medium", how="inner"))
def join_medium(pl, t):
    return joined(t, "medium", "inner")


@case("join", JOINED.format(name="medium", how="left"))
def join_medium_left(pl, t):
    return joined(t, "medium", "left")


@case("join", JOINED.format(name="big", how="inner"))
def join_big(pl, t):
    return joined(t, "big", "inner")


@case("sort", "select id1, id2, id4, v1, v3 from x order by v3")
def sort_float(pl, t):
    return t.x.select("id1", "id2", "id4", "v1", "v3").sort("v3")


@case("sort", "select id3, id4 from x order by id3, id4")
def sort_text_and_integer(pl, t):
    return t.x.select("id3", "id4").sort("id3", "id4")


@case("sort", "select id6 from x order by id6")
def sort_integer(pl, t):
    return t.x["id6"].sort()


@case("distinct", "select distinct id3 from x")
def unique_text(pl, t):
    return t.x["id3"].unique()


@case("distinct", "select distinct id4, id5, v1 from x")
def unique_rows(pl, t):
    return t.x.select("id4", "id5", "v1").unique()


@case("distinct", "select id2, count(*) from x group by id2")
def value_counts(pl, t):
    return t.x["id2"].value_counts()


@case("window", "select rank() over (partition by id4 order by v3) from x")
def rank_over(pl, t):
    return t.x.select(pl.col("v3").rank("min").over("id4"))


@case("window", "select v3 - avg(v3) over (partition by id3) from x")
def mean_over(pl, t):
    return t.x.select((pl.col("v3") - pl.col("v3").mean().over("id3")).alias("d"))


@case("window")
def rolling_mean(pl, t):
    return t.x["v3"].rolling_mean(100)


@case("window")
def cum_sum(pl, t):
    return t.x["v1"].cum_sum()


@case("column", "select quantile_cont(v3, 0.3) from x")
def quantile(pl, t):
    return t.x.select(pl.col("v3").quantile(0.3, "linear"))


@case("column", "select v1 * 2 + v2 from x")
def arithmetic(pl, t):
    return t.x["v1"] * 2 + t.x["v2"]


@case("column", "select id1, id3, v1, v3 from x where v3 > 50")
def filter_half(pl, t):
    return t.x.select("id1", "id3", "v1", "v3").filter(pl.col("v3") > 50)


@case("column")
def gather(pl, t):
    return t.x["v3"].gather(t.x["id6"])


@case("text", "select sum(cast(regexp_matches(id3, '[13579]$') as int)) from x")
def regex_count(pl, t):
    return t.x.select(pl.col("id3").str.contains("[13579]$").sum())


@case("text", "select upper(id3) from x")
def upper(pl, t):
    return t.x.select(pl.col("id3").str.to_uppercase())


@case("text", "select id1 || '-' || id3 as s from x")
def concatenate(pl, t):
    return t.x.select(s=pl.col("id1") + "-" + pl.col("id3"))


# ---- One process ----


class Tables:
    def __init__(self, pl, n_rows):
        for name in "x", "small", "medium", "big":
            setattr(self, name, pl.read_parquet(folder(n_rows) / f"{name}.parquet"))


def digest_frame(pl, answer):
    """[height, [what each column comes to]]"""
    frame = answer.to_frame() if hasattr(answer, "to_frame") else answer
    columns = []
    for column in frame.get_columns():
        if column.dtype == pl.String:
            columns.append([column.n_unique(), int(column.str.len_bytes().sum() or 0)])
        else:
            columns.append(float(column.cast(pl.Float64).fill_nan(None).sum() or 0))
    return [frame.height, columns]


def digest_arrow(table):
    import polars as pl

    return digest_frame(pl, pl.from_arrow(table))


def work(engine, name, n_rows, n_runs):
    _, function, sql = CASES[name]
    if engine == "duckdb":
        import duckdb

        if sql is None:
            return {"skipped": True}
        connection = duckdb.connect()
        connection.execute(f"set threads = {len(os.sched_getaffinity(0))}")
        for table in "x", "small", "medium", "big":
            connection.execute(
                f"create table {table} as select * from read_parquet('{folder(n_rows)}/{table}.parquet')"
            )

        def run():
            return connection.sql(sql).to_arrow_table()

        digest = digest_arrow
    else:
        pl = importlib.import_module(engine)
        t = Tables(pl, n_rows)

        def run():
            return function(pl, t)

        def digest(answer):
            return digest_frame(pl, answer)

    times = []
    for _ in range(n_runs):
        start = time.perf_counter()
        answer = run()
        times.append(time.perf_counter() - start)
    return {"seconds": min(times), "digest": digest(answer)}


# ---- All of them ----


def same(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-3)


def spawn(engine, name, arguments):
    command = [sys.executable, __file__, "--work", name, "--engines", engine, "--rows", f"{arguments.rows:g}"]
    done = subprocess.run([*command, "--runs", str(arguments.runs)], capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:100]}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="nanuk,polars,duckdb")
    parser.add_argument("--cases", default="", help="families or names; all by default")
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        print(json.dumps(work(arguments.engines, arguments.work, int(arguments.rows), arguments.runs)))
        return 0
    make_tables(int(arguments.rows))
    engines = arguments.engines.split(",")
    wanted = set(filter(None, arguments.cases.split(",")))
    print(f"{arguments.rows:g} rows, best of {arguments.repeat} processes x {arguments.runs} runs; ms")
    print(f"{'case':<24}" + "".join(f"{engine:>12}" for engine in engines) + f"{'ratio':>8}", flush=True)
    ratios, n_wrong = [], 0
    for name, (family, _, _) in CASES.items():
        if wanted and not wanted & {family, name}:
            continue
        best, digests, notes = {}, {}, []
        for _ in range(arguments.repeat):
            for engine in engines:
                outcome = spawn(engine, name, arguments)
                if "seconds" in outcome:
                    best[engine] = min(outcome["seconds"], best.get(engine, math.inf))
                    digests[engine] = outcome["digest"]
                elif "error" in outcome:
                    notes.append(f"      {engine}: {outcome['error']}")
        reference = next((digests[engine] for engine in engines[1:] if engine in digests), None)
        if reference and engines[0] in digests and not same(digests[engines[0]], reference):
            notes.append(f"      {engines[0]}: another answer: {digests[engines[0]]} against {reference}")
        others = [best[engine] for engine in engines[1:] if engine in best]
        ratio = best[engines[0]] / min(others) if others and engines[0] in best else None
        ratios += [ratio] if ratio else []
        cells = "".join(f"{best[e] * 1e3:12.1f}" if e in best else f"{'-':>12}" for e in engines)
        print(
            f"{name:<24}{cells}" + (f"{ratio:8.2f}" if ratio else f"{'-':>8}"),
            *sorted(set(notes)),
            sep="\n" if notes else "",
        )
        sys.stdout.flush()
        n_wrong += len(set(notes))
    if ratios:
        print(f"geometric mean of ratios to the best other: {math.prod(ratios) ** (1 / len(ratios)):.2f}")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

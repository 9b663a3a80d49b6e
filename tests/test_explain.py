"""What explain(analyze=True) says each node did: rows that came and went, and time of its own."""

import re

import nanuk as pl

N = 50_000
FRAME = pl.DataFrame({"k": [i % 10 for i in range(N)], "a": list(range(N))})
SMALL = pl.DataFrame({"k": [1, 2, 3], "name": ["x", "y", "z"]})


def counts(query):
    """Of every node, by the first word of its line: (rows in or None, rows out, milliseconds)."""
    found = {}
    for line in query.explain(analyze=True).splitlines():
        did = re.search(r"\[(?:(\d+) -> )?(\d+) rows, ([\d.]+) ms", line)
        assert did, line
        found[line.split()[0]] = (did[1] and int(did[1]), int(did[2]), float(did[3]))
    return found


def test_rows_of_an_aggregation_and_a_sort():
    seen = counts(FRAME.lazy().group_by("k").agg(pl.col("a").sum()).sort("k"))
    assert seen["aggregate"][:2] == (N, 10)
    assert seen["sort"][:2] == (10, 10)
    assert seen["aggregate"][2] > 0


def test_rows_of_a_join_count_both_sides():
    seen = counts(FRAME.lazy().join(SMALL.lazy(), on="k", how="left"))
    assert seen["left"][:2] == (N + 3, N)


def test_rows_of_filters_and_distinct_rows():
    seen = counts(FRAME.lazy().unique("k").filter(pl.col("a") + pl.len() > 3))
    assert seen["unique"][:2] == (N, 10)


def test_time_is_each_node_s_own():
    """Nodes nest while they run; their times do not: together they stay below what the query could have taken."""
    import time

    query = FRAME.lazy().with_columns(b=pl.col("a").cast(pl.String)).group_by("b").agg(pl.col("a").max()).sort("b")
    began = time.perf_counter()
    total = sum(busy for _, _, busy in counts(query).values())
    assert 0 < total <= (time.perf_counter() - began) * 1000 * 4

"""Ends that a query may meet from outside: Ctrl-C, a memory limit, a fork. Each in a process of its own."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

LONG = """
import nanuk as pl

n = 40_000
left = pl.DataFrame({"k": [i % 3 for i in range(n)], "a": list(range(n))}).lazy()
# A third of the square of n: far more pairs than any machine joins while this test lasts.
query = left.join(left, on="k").filter((pl.col("a") * pl.col("a_right")) % 1_000_003 == 7).select(pl.len())
"""


def start(code, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", LONG + textwrap.dedent(code)],
        env=dict(os.environ, **environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_interrupt_ends_a_query_and_the_next_one_runs():
    process = start(
        """
        print("ready", flush=True)
        try:
            while True:
                query.collect()
        except KeyboardInterrupt:
            print("interrupted", pl.DataFrame({"a": [1, 2]}).lazy().select(pl.col("a").sum()).collect().item())
        """
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert out == "interrupted 3\n", err
    assert time.monotonic() - began < 5
    assert process.returncode == 0


def test_memory_limit_refuses_and_the_next_query_runs():
    process = start(
        """
        frame = pl.DataFrame({"k": list(range(200_000))}).lazy()
        try:
            frame.select(pl.col("k"), (pl.col("k") * 2).alias("b"), (pl.col("k") + 1).alias("c")).sort("b").collect()
        except MemoryError as error:
            print("refused", str(error) != "")
        print(pl.DataFrame({"a": [1, 2]}).lazy().select(pl.col("a").sum()).collect().item())
        """,
        NANUK_MEMORY_LIMIT="1000000",
    )
    out, err = process.communicate(timeout=60)
    assert out == "refused True\n3\n", err


SPILLING = {
    "group_by": 'big.group_by("k").agg(pl.col("v").sum()).select(pl.len(), pl.all().sum())',
    "join": 'big.join(big, on="k").select(pl.len(), pl.all().sum())',
    "sort": 'big.sort("v", "k").select(pl.len(), pl.all().first(), v1=pl.col("v").last(), k1=pl.col("k").sum())',
    "unique": 'big.unique("k").select(pl.len(), pl.col("k").sum())',
}


@pytest.mark.parametrize("name", SPILLING)
def test_operators_write_to_disk_when_memory_is_short(name, tmp_path):
    """Less than the rows take: the answer is the same."""
    code = f"""
        import os

        n = 1_000_000
        path = {str(tmp_path / "big.parquet")!r}
        i = pl.int_range(n)
        if not os.path.exists(path):
            pl.select(k=i * 7919 % n, v=i * 40503 % 1_000_003, w=-i).write_parquet(path, row_group_size=10_000)
        big = pl.scan_parquet(path)
        query = {SPILLING[name]}
        print(query.collect().rows())
        """
    answers = []
    for limit in ({}, {"NANUK_MEMORY_LIMIT": str(20 << 20)}):
        out, err = start(code, NANUK_MAX_THREADS="2", NANUK_BATCH_ROWS="1024", **limit).communicate(timeout=300)
        assert out, err
        answers.append(out)
    assert answers[0] == answers[1]


def test_a_forked_child_runs_queries():
    process = start(
        """
        import os

        frame = pl.DataFrame({"k": list(range(300_000))}).lazy().select((pl.col("k") % 7).sum())
        before = frame.collect().item()
        child = os.fork()
        if child == 0:
            os._exit(0 if frame.collect().item() == before else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), frame.collect().item() == before)
        """
    )
    out, err = process.communicate(timeout=60)
    assert out == "0 True\n", err

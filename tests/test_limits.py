"""Ends that a query may meet from outside: Ctrl-C, a memory limit, a fork. Each in a process of its own."""

import os
import signal
import subprocess
import sys
import textwrap
import time

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

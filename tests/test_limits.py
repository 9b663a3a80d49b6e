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


LIMITS = """
import nanuk as pl

frame = pl.select(k=pl.int_range(400_000)).lazy()
wide = frame.select(pl.col("k"), b=pl.col("k") * 2, c=pl.col("k") + 1)

def outcome(run):
    try:
        return run().height
    except (MemoryError, TimeoutError, OSError) as error:
        return f"{type(error).__name__}: {error}"
"""


def answers(code, **environment):
    """The lines that a process prints."""
    process = subprocess.run(
        [sys.executable, "-c", LIMITS + textwrap.dedent(code)],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def test_limits_of_one_query():
    of_query, without, unfit = answers(
        """
        print(outcome(lambda: wide.collect(memory_limit=1_000_000)))
        print(outcome(wide.collect))
        try:
            wide.collect(memory_limit=-1)
        except ValueError as error:
            print(error)
        """
    )
    assert of_query.startswith("MemoryError: the memory limit of the query (memory_limit, NANUK_MEMORY_LIMIT)")
    assert "of 1000000;" in of_query
    assert without == "400000"
    assert "positive number of bytes" in unfit


def test_limits_of_the_process_hold_until_they_are_taken_back():
    code = """
        frame.collect()
        with pl.Config(memory_limit=5_000_000):
            print(outcome(wide.collect))
            print(outcome(lambda: wide.collect(memory_limit=1 << 40)))
        print(outcome(wide.collect))
        pl.Config.set_memory_limit(None)
        print(outcome(wide.collect))
        """
    assert [line[:40] for line in answers(code)] == [
        "MemoryError: the memory limit of the que", "400000", "400000", "400000",
    ]  # fmt: skip
    assert [line[:12] for line in answers(code, NANUK_MEMORY_LIMIT="5000000")] == [
        "MemoryError:", "400000", "MemoryError:", "MemoryError:",
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["config", "environment"])
def test_limit_of_all_frames_and_queries(how):
    limit = 20_000_000
    lines = answers(
        f"""
        kept = []
        def keep(i):
            kept.append(frame.select(pl.col("k") + i).collect())
            return kept[-1]
        if {how == "config"}:
            pl.Config.set_total_memory_limit({limit})
        results = [outcome(lambda i=i: keep(i)) for i in range(8)]
        print(results[0])
        print(results[-1])
        kept.clear()
        print(outcome(lambda: keep(0)))
        """,
        **({"NANUK_TOTAL_MEMORY_LIMIT": str(limit)} if how == "environment" else {}),
    )
    assert lines[0] == lines[2] == "400000"
    assert lines[1].startswith("MemoryError: the memory limit of all frames and queries")


def test_spill_folder(tmp_path):
    folder = tmp_path / "spilled"
    folder.mkdir()
    lines = answers(
        f"""
        import os

        query = frame.sort("k").select(pl.len())
        pl.Config.set_spill_folder({str(folder)!r})
        print(query.collect().item())
        try:
            pl.Config.set_spill_folder({str(folder / "none")!r})
        except FileNotFoundError as error:
            print(error)
        os.rmdir({str(folder)!r})
        print(outcome(query.collect))
        """,
        NANUK_FORCE_SPILL="1",
    )
    assert lines[0] == "400000"
    assert "there is no folder" in lines[1]
    assert lines[2].startswith("OSError: cannot make a file to spill to in")


def test_time_limits(tmp_path):
    process = start(
        f"""
        import time

        path = {str(tmp_path / "never.parquet")!r}

        def outcome(run):
            began = time.monotonic()
            try:
                run()
            except TimeoutError as error:
                return time.monotonic() - began < 30, str(error)

        print(outcome(lambda: query.collect(time_limit=0.2)))
        with pl.Config(time_limit=0.1):
            print(outcome(query.collect))
            print(outcome(lambda: query.sink_parquet(path)))
        print(pl.select(pl.int_range(3).sum()).lazy().collect(time_limit=60).item())
        """
    )
    out, err = process.communicate(timeout=120)
    lines = out.splitlines()
    assert lines[0].startswith("(True, 'the query took longer than its time limit of 0.2 s"), err
    assert lines[1].startswith("(True, 'the query took longer than its time limit of 0.1 s")
    assert lines[2] == lines[1]
    assert lines[3] == "3"
    assert list(tmp_path.iterdir()) == []


def test_forked_workers_run_queries_while_the_parent_does():
    """Children of multiprocessing, made while threads of the parent are in the middle of queries."""
    process = start(
        """
        import multiprocessing
        import threading

        frame = pl.select(k=pl.int_range(300_000)).lazy()

        def work(i):
            result = frame.group_by(pl.col("k") % 1000).agg(pl.len()).sort("k").head(i + 1).collect()
            return result["len"].sum(), result["k"].cast(pl.Datetime("us", "Europe/Paris")).dt.hour().len()

        stop = threading.Event()

        def parent():
            while not stop.is_set():
                work(3)

        threads = [threading.Thread(target=parent) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            with multiprocessing.get_context("fork").Pool(2) as pool:
                print(pool.map(work, range(4)) == [(300 * n, n) for n in range(1, 5)])
        stop.set()
        for thread in threads:
            thread.join()
        """
    )
    out, err = process.communicate(timeout=120)
    assert out == "True\n" * 3, err


INTERRUPTED = {
    "sort": "frame.sort('v', 's').collect()",
    "window": "frame.with_columns(pl.col('v').rank().over('g')).collect()",
    "group_by": "frame.group_by('s').agg(pl.col('v').sort().first()).collect()",
    "unique": "frame.unique(maintain_order=True).collect()",
    "join": "frame.join(frame, on='s').collect()",
    "text": "frame.collect()['s'].str.replace_all('[0-9]', 'xx')",
    "schema": "pl.scan_csv(csv, infer_schema_length=None).collect_schema()",
    "csv": "pl.read_csv(csv)",
    "sql": "pl.sql('select s, count(distinct v) from frame group by s order by 2', eager=True)",
    "sink_parquet": "frame.sink_parquet(folder + '/never.parquet')",
    "sink_csv": "frame.sink_csv(folder + '/never.csv')",
    "sink_ipc": "frame.sink_ipc(folder + '/never.ipc', compression='zstd')",
    "sink_ndjson": "frame.sink_ndjson(folder + '/never.ndjson')",
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_interrupt_at_any_moment(name, tmp_path):
    """The call ends with KeyboardInterrupt or as if nothing had happened, nothing is left, and the next query runs."""
    process = start(
        f"""
        import os, signal, threading, time

        folder = {str(tmp_path)!r}
        csv = folder + "/x.csv"
        i = pl.int_range(300_000)
        frame = pl.select(v=i * 7919 % 300_007, g=i % 100).with_columns(s="text" + pl.col("v").cast(pl.String)).lazy()
        frame.sink_csv(csv)
        began = time.perf_counter()
        {INTERRUPTED[name]}
        took = time.perf_counter() - began
        for file in os.listdir(folder):
            if file != "x.csv":
                os.remove(os.path.join(folder, file))
        n_ended = 0
        for at in range(12):
            def send():
                time.sleep(took * at / 16)
                os.kill(os.getpid(), signal.SIGINT)
            thread = threading.Thread(target=send)
            try:
                thread.start()
                {INTERRUPTED[name]}
                thread.join()
                time.sleep(1)
            except KeyboardInterrupt:
                n_ended += 1
            thread.join()
            left = [file for file in os.listdir(folder) if file not in ("x.csv", "never." + {name!r}[5:])]
            assert left == [], left
            assert pl.select(pl.int_range(10).sum()).item() == 45
        print(n_ended)
        """
    )
    out, err = process.communicate(timeout=300)
    assert out == "12\n", err

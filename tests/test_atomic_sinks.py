"""A process that is killed while it writes a file leaves the file that was there, or the whole new one."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import nanuk as pl

KILLS = 50
N_ROWS = 100_000

# Forks writers that write the file again and again until they are killed. One thread: none is lost in a fork.
SERVER = """
import os, sys, time, nanuk as pl
path = sys.argv[1]
frame = pl.select(i=pl.int_range({n})).with_columns(s=pl.col("i").cast(pl.String)).lazy()
began = time.perf_counter()
frame.sink_{kind}(path)
print(time.perf_counter() - began, flush=True)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        while True:
            frame.sink_{kind}(path)
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("gone", flush=True)
"""

READERS = {"parquet": pl.read_parquet, "csv": pl.read_csv, "ipc": pl.read_ipc, "ndjson": pl.read_ndjson}


@pytest.mark.parametrize("kind", READERS)
def test_killed_writer(kind, tmp_path):
    generator = random.Random(kind)
    path = tmp_path / f"target.{kind}"
    with subprocess.Popen(
        [sys.executable, "-c", SERVER.format(n=N_ROWS, kind=kind), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "NANUK_MAX_THREADS": "1"},
    ) as server:
        took = float(server.stdout.readline())
        n_left = 0
        for _ in range(KILLS):
            path.unlink(missing_ok=True)
            server.stdin.write("next\n")
            server.stdin.flush()
            pid = int(server.stdout.readline())
            time.sleep(generator.random() * 2 * took)
            os.kill(pid, signal.SIGKILL)
            assert server.stdout.readline() == "gone\n"
            if path.exists():
                frame = READERS[kind](path)
                assert frame.height == N_ROWS
                assert frame["i"].sum() == N_ROWS * (N_ROWS - 1) // 2
                assert str(frame["s"][-1]) == str(N_ROWS - 1)
            for left in tmp_path.glob("*.part"):
                n_left += 1
                left.unlink()
        server.stdin.close()
        assert n_left > 0  # some were killed while they wrote


def test_failed_query_leaves_nothing(tmp_path):
    path = tmp_path / "target.csv"
    path.write_text("as it was")
    frame = pl.DataFrame({"a": [1, 2, 3], "b": [b"x", b"y", b"z"]})
    with pytest.raises(pl.exceptions.ComputeError):
        frame.lazy().sink_csv(path)
    assert path.read_text() == "as it was"
    assert [entry.name for entry in tmp_path.iterdir()] == ["target.csv"]


def test_link_is_followed(tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    pl.DataFrame({"a": [1]}).write_csv(link)
    assert link.is_symlink()
    assert target.read_text() == "a\n1\n"

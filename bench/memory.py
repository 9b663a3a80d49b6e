#!/usr/bin/env python3
"""What queries with a memory limit take: peak anonymous memory, time and bytes spilled, each in a process of its own.

    memory.py [--rows 10000000] [--limit 200] [--engine nanuk] [NAME...]

The tables are Parquet files in a temporary folder, so that what is measured is the query's own memory. A query passes
when it gives the right numbers within the limit plus a tenth, counted from what the process held before it.
"""

import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

MIB = 1 << 20


def queries(pl, folder):
    big = pl.scan_parquet(folder / "big.parquet")
    other = pl.scan_parquet(folder / "other.parquet")
    sums = [pl.len(), pl.all().exclude("t").sum()]
    return {
        "group_by": big.group_by("k").agg(pl.col("v").sum(), n=pl.len()).select(sums),
        "group_by_text": big.group_by("t").agg(pl.col("v").sum()).select(sums),
        "join": big.join(other, on="k").select(sums),
        "sort": big.sort("v").select(pl.len(), pl.col("k").sum(), pl.col("v").last()),
        "unique": big.unique(["k", "v"]).select(sums),
        "unique_keep_order": big.unique("k", keep="first", maintain_order=True).select(pl.len()),
        "over": big.with_columns(s=pl.col("v").sum().over("k")).select(pl.len(), pl.col("s").sum()),
    }


def make(folder, n_rows):
    pl = importlib.import_module("polars")
    rows = pl.select(i=pl.int_range(n_rows)).get_column("i")
    key = (rows * 2654435761) % n_rows
    pl.DataFrame(
        {"k": key, "v": (rows * 40503) % 1_000_003, "t": "text of key " + key.cast(pl.String)},
    ).write_parquet(folder / "big.parquet", row_group_size=200_000)
    pl.DataFrame({"k": rows, "w": rows % 1000}).write_parquet(folder / "other.parquet", row_group_size=200_000)


def anonymous():
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def run_one(engine, folder, name):
    pl = importlib.import_module(engine)
    query = queries(pl, folder)[name]
    before, peak, done = anonymous(), 0, threading.Event()

    def watch():
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.monotonic()
    try:
        answer = [list(row) for row in query.collect().rows()]
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - began
    done.set()
    watcher.join()
    print(json.dumps({"answer": answer, "peak": peak - before, "seconds": seconds}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--limit", type=int, default=200, help="in MiB")
    parser.add_argument("--engine", default="nanuk")
    parser.add_argument("--folder", type=pathlib.Path, help="where the tables are, or are made and kept")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(options.engine, options.folder, options.one)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or pathlib.Path(scratch)
        if not (folder / "other.parquet").exists():
            folder.mkdir(exist_ok=True)
            make(folder, options.rows)
        n_failed = 0
        for name in options.names or queries(importlib.import_module(options.engine), folder):
            found = {}
            for limit in (None, options.limit):
                environment = dict(os.environ)
                environment.pop("NANUK_MEMORY_LIMIT", None)
                if limit:
                    environment["NANUK_MEMORY_LIMIT"] = str(limit * MIB)
                command = [sys.executable, __file__, "--engine", options.engine, "--folder", str(folder), "--one", name]
                done = subprocess.run(command, env=environment, capture_output=True, text=True)
                found[limit] = json.loads(done.stdout) if done.returncode == 0 else {"answer": done.stderr[-300:]}
            free, bound = found[None], found[options.limit]
            fits = bound.get("peak", 0) <= options.limit * MIB * 1.1
            good = fits and bound["answer"] == free["answer"]
            n_failed += not good
            print(
                f"{name:18} {free.get('peak', 0) / MIB:7.0f} MiB {free.get('seconds', 0):6.2f} s without a limit, "
                f"{bound.get('peak', 0) / MIB:7.0f} MiB {bound.get('seconds', 0):6.2f} s with {options.limit} MiB"
                f"{'' if good else '  FAILED: ' + str(bound['answer'])[:200]}",
                flush=True,
            )
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Single operations on ten rows in microseconds, and import time: nanuk against Polars in one run.

    bench/latency.py [--engines nanuk,polars] [--repeat 5] [--json FILE]

Every engine runs in a process of its own, engines in turn, `--repeat` times; the smallest figure stays. Inside a
process an operation is timed in five batches sized to about 10 ms each, and the fastest batch counts. Import time
is a fresh interpreter importing the package, less a fresh interpreter importing nothing.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

BATCH_SECONDS = 0.01
BATCHES = 5


def operations(pl):
    """{name: callable} over ten-row frames; what is built outside is not timed."""
    frame = pl.DataFrame(
        {"a": list(range(10)), "b": [x / 2 for x in range(10)], "s": [f"text {x % 3}" for x in range(10)]}
    )
    other = pl.DataFrame({"s": [f"text {x}" for x in range(3)], "c": [1, 2, 3]})
    a, b = frame["a"], frame["b"]
    lazy = frame.lazy()
    col = pl.col
    return {
        "Series + Series": lambda: a + a,
        "Series * scalar": lambda: b * 2.0,
        "Series == scalar": lambda: a == 3,
        "Series.sum": lambda: a.sum(),
        "Series.mean": lambda: b.mean(),
        "Series.item": lambda: a.item(3),
        "Series[i]": lambda: a[3],
        "Series.sort": lambda: a.sort(),
        "Series.to_list": lambda: a.to_list(),
        "df.select": lambda: frame.select(col("a") + 1),
        "df.with_columns": lambda: frame.with_columns((col("a") * col("b")).alias("c")),
        "df.filter": lambda: frame.filter(col("a") > 5),
        "df.sort": lambda: frame.sort("b"),
        "df.group_by.agg": lambda: frame.group_by("s").agg(col("a").sum()),
        "df.join": lambda: frame.join(other, on="s"),
        "df[column]": lambda: frame["a"],
        "df.height": lambda: frame.height,
        "lazy select collect": lambda: lazy.select(col("a") + 1).collect(),
        "lazy filter collect": lambda: lazy.filter(col("a") > 5).collect(),
        "lazy collect": lambda: lazy.collect(),
        "expression": lambda: (col("a") + 1).alias("x"),
        "DataFrame(dict)": lambda: pl.DataFrame({"a": [1, 2, 3]}),
        "str(df)": lambda: str(frame),
    }


# The operations that the project holds itself to, see the summary line.
HELD = ("Series + Series", "Series.sum", "Series.item", "df.select", "df.filter", "lazy select collect")


def microseconds(operation):
    operation()
    n, elapsed = 1, 0.0
    while True:
        start = time.perf_counter()
        for _ in range(n):
            operation()
        elapsed = time.perf_counter() - start
        if elapsed > BATCH_SECONDS / 4:
            break
        n *= 4
    n = max(1, int(n * BATCH_SECONDS / elapsed))
    best = elapsed
    for batch in range(BATCHES):
        start = time.perf_counter()
        for _ in range(n):
            operation()
        elapsed = time.perf_counter() - start
        best = elapsed if batch == 0 else min(best, elapsed)
    return best / n * 1e6


def measure(engine):
    """{name: microseconds, or the error as text} in this process."""
    figures = {}
    for name, operation in operations(importlib.import_module(engine)).items():
        try:
            figures[name] = microseconds(operation)
        except Exception as error:
            figures[name] = f"{type(error).__name__}: {error}"
    return figures


def interpreter_seconds(statement):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, cwd="/", stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def import_microseconds(engine, repeat):
    bare, full = [], []
    for _ in range(repeat):
        bare.append(interpreter_seconds("pass"))
        try:
            full.append(interpreter_seconds(f"import {engine}"))
        except subprocess.CalledProcessError:
            return "does not import"
    return (min(full) - min(bare)) * 1e6


def compare(engines, repeat):
    figures = {engine: {} for engine in engines}
    for _ in range(repeat):
        for engine in engines:
            command = [sys.executable, __file__, "--measure", engine]
            finished = subprocess.run(command, capture_output=True, text=True, env=os.environ)
            if finished.returncode != 0:
                message = (finished.stderr.strip().splitlines() or [f"exit {finished.returncode}"])[-1]
                print(f"{engine}: {message}", file=sys.stderr)
                continue
            for name, figure in json.loads(finished.stdout).items():
                known = figures[engine].get(name)
                if isinstance(figure, str) or isinstance(known, str) or known is None:
                    figures[engine][name] = figure
                else:
                    figures[engine][name] = min(known, figure)
    for engine in engines:
        figures[engine]["import"] = import_microseconds(engine, 2 * repeat)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="nanuk,polars")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--measure", metavar="ENGINE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return 0
    engines = arguments.engines.split(",")
    figures = compare(engines, arguments.repeat)
    print(f"{'operation, us':<22}" + "".join(f"{engine:>12}" for engine in engines) + f"{'ratio':>8}")
    notes, above = [], []
    for name in dict.fromkeys(name for engine in engines for name in figures[engine]):
        values = [figures[engine].get(name) for engine in engines]
        line = f"{name:<22}"
        for engine, value in zip(engines, values):
            line += f"{value:>12.2f}" if isinstance(value, float) else f"{'error':>12}"
            if isinstance(value, str):
                notes.append(f"{engine}, {name}: {value}")
        if len(values) > 1 and all(isinstance(value, float) for value in values[:2]):
            ratio = values[0] / values[1]
            line += f"{ratio:>8.2f}"
            if name in HELD and ratio > 1.5:
                above.append(name)
        print(line)
    for note in notes:
        print(note)
    if len(engines) > 1:
        print(f"above 1.5 times {engines[1]}, of those held to it: {', '.join(above) or 'none'}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main())

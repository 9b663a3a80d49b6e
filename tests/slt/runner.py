#!/usr/bin/env python3
"""Runs files of query and result (*.slt), the first resort for testing what the engine answers.

A file is blocks separated by blank lines; a line that starts with # is a comment:

    frame t                                a DataFrame called t, for the blocks below: a dict of columns,
        {"a": [1, 2], "g": ["x", "y"]}     or any expression that gives a frame

    do                                     statements, for what a query needs to find: files, mostly
        t.write_parquet(tmp / "t.parquet")

    query                                  one expression, over as many lines as it likes
    t.lazy().select(pl.col("a").sum())
    ----
    shape: (1, 1)                          how the result prints; a LazyFrame is collected first,
    ...                                    and what is no frame or Series is shown by repr()

    query sort                             rows come in any order: sorted by all columns, then printed
    t.group_by("g").len()
    ----
    ...

    query
    t.select("b")
    ----
    error: ColumnNotFoundError             only the class of the exception

Names: every frame, pl (the package), cs (its selectors), tmp (an empty folder), date, datetime, time,
timedelta, Decimal, nan, inf.

    runner.py FILE...                      check under every setting below, each in its own process
    runner.py --settings quick FILE...     full (default), quick, threads, or one: rows of a batch, threads, then maybe
                                           spill or an instruction level, as in "3,2,spill"
    runner.py --complete FILE...           write the results in: whatever the target answers
    runner.py --target polars ...          with another package of the same API; its answers are the right ones

The engine reads its settings once, at start: NANUK_BATCH_ROWS, NANUK_MAX_THREADS, NANUK_FORCE_SPILL, NANUK_ISA. Small
batches put a boundary between any two rows, so that state carried from batch to batch is tested by the same
files; forced spill does the same for what grouping, joining and sorting write to disk.
"""

import argparse
import dataclasses
import datetime
import decimal
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import warnings

SETTINGS = {
    "full": [f"{rows},{threads}" for rows in (2048, 3, 1) for threads in (1, 2, 4)]
    + ["2048,2,spill", "3,1,spill", "3,4,spill", "2048,2,baseline", "2048,2,v3"],
    "quick": ["3,2", "2048,1,spill"],
    "threads": ["3,4", "2048,2", "3,4,spill"],
}


@dataclasses.dataclass
class Block:
    line: int  # of its first line, from 1
    kind: str  # frame, do, query or comment
    argument: str  # the rest of the first line
    body: str
    expected: str | None = None
    source: str = ""  # as it stands in the file


def parse(text):
    """The blocks of a file, comments included, so that a file can be written back."""
    blocks = []
    line = 1
    for source in text.split("\n\n"):
        lines = source.split("\n")
        first = line
        line += len(lines) + 1
        while lines and not lines[0].strip():
            lines.pop(0)
            first += 1
        if not lines:
            continue
        source = "\n".join(lines).rstrip("\n")
        if all(row.startswith("#") for row in source.split("\n")):
            blocks.append(Block(first, "comment", "", "", source=source))
            continue
        while lines[0].startswith("#"):
            lines.pop(0)
            first += 1
        kind, _, argument = lines[0].strip().partition(" ")
        if kind not in ("frame", "do", "query") or (kind == "query" and argument not in ("", "sort")):
            raise SyntaxError(f"line {first}: a block begins with frame, do, query or query sort, not {lines[0]!r}")
        rest = "\n".join(lines[1:])
        expected = None
        if kind == "query":
            rest, found, expected = rest.partition("\n----")
            expected = expected.strip("\n") if found else None
        blocks.append(Block(first, kind, argument, textwrap.dedent(rest), expected, source))
    return blocks


def show(value, is_sorted, pl):
    if isinstance(value, pl.LazyFrame):
        value = value.collect()
    if is_sorted:
        value = value.sort(value.columns)
    # A printed blank line would end the block.
    return (str(value) if isinstance(value, (pl.DataFrame, pl.Series)) else repr(value)).replace("\n\n", "\n\\n\n")


def namespace(target, folder):
    pl = importlib.import_module(target)
    names = {
        "pl": pl,
        "tmp": pathlib.Path(folder),
        "date": datetime.date,
        "datetime": datetime.datetime,
        "time": datetime.time,
        "timedelta": datetime.timedelta,
        "Decimal": decimal.Decimal,
        "nan": float("nan"),
        "inf": float("inf"),
    }
    try:
        names["cs"] = importlib.import_module(target + ".selectors")
    except ImportError:
        pass
    return names


def run_block(block, names):
    """What a query gives, as text; None for the other blocks."""
    pl = names["pl"]
    if block.kind == "frame":
        value = eval("(" + block.body + "\n)", names)
        names[block.argument] = pl.DataFrame(value) if isinstance(value, dict) else value
    elif block.kind == "do":
        exec(block.body, names)
    elif block.kind == "query":
        try:
            return show(eval("(" + block.body + "\n)", names), block.argument == "sort", pl)
        except Exception as error:
            return f"error: {type(error).__name__}\n{error}"
    return None


def check_file(path, target):
    """The failures of one file, each a dict with line and text."""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        names = namespace(target, folder)
        for block in parse(path.read_text(encoding="utf-8")):
            try:
                got = run_block(block, names)
            except Exception as error:
                failures.append({"line": block.line, "text": f"{block.source}\n{type(error).__name__}: {error}"})
                continue
            if block.kind != "query":
                continue
            if block.expected is None:
                failures.append({"line": block.line, "text": f"{block.source}\nno result; fill it in with --complete"})
                continue
            if block.expected.startswith("error: ") and got.split("\n")[0] == block.expected:
                continue
            if got != block.expected:
                failures.append(
                    {"line": block.line, "text": f"{block.body}\n-- expected --\n{block.expected}\n-- got --\n{got}"}
                )
    return failures


def complete_file(path, target):
    out = []
    with tempfile.TemporaryDirectory() as folder:
        names = namespace(target, folder)
        for block in parse(path.read_text(encoding="utf-8")):
            got = run_block(block, names)
            if got is None:
                out.append(block.source)
                continue
            if got.startswith("error: "):
                got = got.split("\n")[0]
            out.append(block.source.partition("\n----")[0] + "\n----\n" + got)
    path.write_text("\n\n".join(out) + "\n", encoding="utf-8")


def run_setting(setting, target, paths, timeout=600):
    """Checks all files in a process of its own; gives {path: failures}."""
    rows, threads, *more = setting.split(",")
    environment = dict(os.environ, NANUK_BATCH_ROWS=rows, NANUK_MAX_THREADS=threads)
    for name in ("NANUK_FORCE_SPILL", "NANUK_ISA"):
        environment.pop(name, None)
    for word in more:
        environment.update({"NANUK_FORCE_SPILL": "1"} if word == "spill" else {"NANUK_ISA": word})
    # Results go to a file line by line, so that a crash tells which file it was in.
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as results:
        command = [sys.executable, __file__, "--target", target, "--child", results.name, *map(str, paths)]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
            died = None if done.returncode == 0 else f"the process ended with {done.returncode}\n{done.stderr[-8000:]}"
        except subprocess.TimeoutExpired:
            died = f"no end after {timeout} s"
        found = {}
        for row in results.read().splitlines():
            entry = json.loads(row)
            found[entry["path"]] = entry["failures"]
    for path in map(str, paths):
        if path not in found:
            found[path] = [{"line": 1, "text": died or "not run"}]
            died = died and "not run: the process had ended in an earlier file"
    return found


def run_child(results, target, paths):
    warnings.simplefilter("ignore")
    with open(results, "w", encoding="utf-8") as out:
        for path in paths:
            failures = check_file(path, target)
            out.write(json.dumps({"path": str(path), "failures": failures}) + "\n")
            out.flush()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage="runner.py [options] FILE..."
    )
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="default: every *.slt beside the runner")
    parser.add_argument("--target", default="nanuk")
    parser.add_argument("--settings", default="full")
    parser.add_argument("--complete", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    paths = options.files or sorted(pathlib.Path(__file__).parent.glob("*.slt"))
    if options.child:
        run_child(options.child, options.target, paths)
        return 0
    if options.complete:
        warnings.simplefilter("ignore")
        for path in paths:
            complete_file(path, options.target)
        return 0
    n_failed = 0
    settings = SETTINGS.get(options.settings) or [options.settings]
    for setting in settings if options.target == "nanuk" else settings[:1]:
        for path, failures in run_setting(setting, options.target, paths).items():
            for failure in failures:
                n_failed += 1
                print(f"{path}:{failure['line']}: under {setting}\n{textwrap.indent(failure['text'], '    ')}\n")
    print(f"{n_failed} failed" if n_failed else "all as expected")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())

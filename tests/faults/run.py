#!/usr/bin/env python3
"""Queries of the slt files with one failure each: the Nth allocation, read, write or start of a thread.

What a query must do then: give the right answer, or raise the error that the failure stands for; and give back what it
took. It may not crash, hang or answer wrongly, and the next query must run. The module that is given was linked with
faults.c. Each file runs in a process of its own, which notes every attempt before it makes it.

    run.py MODULE PACKAGE [--every N] [--points N] [FILE...]

--every N takes each Nth query; --points N that many failures of each kind per query, spread over all that it can meet,
or all of them when there are no more.
"""

import argparse
import ctypes
import faulthandler
import gc
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

FOLDER = pathlib.Path(__file__).resolve().parent
SLT = FOLDER.parent / "slt"
KINDS = ["memory", "heap", "read", "write", "thread"]
# What may be raised instead of the answer; a thread that does not start leaves its work to the others.
ALLOWED = {
    "memory": {"MemoryError"},
    "heap": {"MemoryError"},
    "read": {"OSError"},
    "write": {"OSError"},
    "thread": set(),
}
SETTINGS = {"plain": {}, "spill": {"NANUK_FORCE_SPILL": "1"}}
SECONDS = 60  # more than any query takes: a hang

spec = importlib.util.spec_from_file_location("slt_runner", SLT / "runner.py")
slt = importlib.util.module_from_spec(spec)
spec.loader.exec_module(slt)


class Faults:
    def __init__(self, module):
        self.library = ctypes.CDLL(module)
        self.library.nk_faults_arm.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int]
        self.library.nk_faults_live_blocks.restype = ctypes.c_int64
        self.library.nk_faults_live_bytes.restype = ctypes.c_int64
        self.counts = (ctypes.c_int64 * len(KINDS))()

    def run(self, block, names, kind=-1, n=0, for_good=False):
        """What the block gives, and how many calls of each kind it made."""
        self.library.nk_faults_arm(kind, n, for_good)
        try:
            got = slt.run_block(block, names)
        except Exception as error:  # raised outside of the query proper
            got = f"error: {type(error).__name__}\n{error}"
        finally:
            self.library.nk_faults_disarm(self.counts)
        return got, list(self.counts)

    def held(self):
        return self.library.nk_faults_live_blocks(), self.library.nk_faults_live_bytes()


def spread(n_calls, n_points):
    """The first calls and, from there, evenly spaced ones."""
    if n_calls <= n_points:
        return list(range(n_calls))
    head = n_points // 2
    rest = n_points - head
    return list(range(head)) + [head + (n_calls - 1 - head) * (i + 1) // rest for i in range(rest)]


def is_right(got, expected):
    return got == expected or (expected.startswith("error: ") and got.split("\n")[0] == expected.split("\n")[0])


def leaks(faults, block, names, kind, n, for_good):
    """Whether the same failure leaves more behind each time: a cache that filled grows once only."""
    held = []
    for _ in range(4):
        gc.collect()
        held.append(faults.held())
        faults.run(block, names, kind, n, for_good)
    gc.collect()
    held.append(faults.held())
    grown = [tuple(b - a for a, b in zip(x, y)) for x, y in zip(held, held[1:])]
    return grown[-1] if all(any(d > 0 for d in step) for step in grown) else None


def check_query(block, names, faults, n_points, note, report):
    """The number of failures tried."""
    expected, _ = faults.run(block, names)
    if not is_right(expected, block.expected):
        report("without a failure", expected)
        return 0
    again, _ = faults.run(block, names)  # fills caches
    if again != expected:
        return 0  # it uses up what it works on
    _, calls = faults.run(block, names)
    n_tried = 0
    for kind, name in enumerate(KINDS):
        for for_good in (False, True):
            for n in spread(calls[kind], n_points if not for_good else (n_points + 1) // 2):
                what = f"{name} {n} of {calls[kind]}" + (" and all later" if for_good else "")
                note(what)
                before = faults.held()
                got, _ = faults.run(block, names, kind, n, for_good)
                n_tried += 1
                if not is_right(got, expected) and not (
                    got.startswith("error: ") and got.split("\n")[0].removeprefix("error: ") in ALLOWED[name]
                ):
                    report(what, f"-- expected --\n{expected}\n-- got --\n{got}")
                if any(after > was for after, was in zip(faults.held(), before)):
                    left = leaks(faults, block, names, kind, n, for_good)
                    if left:
                        report(what, f"leaks {left[0]} blocks, {left[1]} bytes")
    after, _ = faults.run(block, names)
    if not is_right(after, expected):
        report("after all failures", after)
    return n_tried


def check_file(path, options, notes):
    warnings.simplefilter("ignore")
    failures = []
    n_tried = n_queries = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        names = slt.namespace("nanuk", folder)
        faults = Faults(options.module)
        at = path.stat().st_size  # files begin with different queries
        for block in slt.parse(path.read_text(encoding="utf-8")):
            if block.kind in ("frame", "do"):
                slt.run_block(block, names)
                continue
            if block.kind != "query":
                continue
            at += 1
            if at % options.every or block.line <= options.after:
                continue

            def note(what, block=block):
                notes.seek(0)
                notes.write(json.dumps([block.line, what]).ljust(400) + "\n")
                notes.flush()
                faulthandler.dump_traceback_later(SECONDS, exit=True)

            def report(what, text, block=block):
                failures.append(f"{path}:{block.line}: {what}\n{block.body}\n{text}\n")

            n_queries += 1
            n_tried += check_query(block, names, faults, options.points, note, report)
            faulthandler.cancel_dump_traceback_later()
    print(json.dumps({"failures": failures, "tried": n_tried, "queries": n_queries}))


def run_file(path, setting, site, options):
    environment = dict(os.environ, NANUK_BATCH_ROWS="3", NANUK_MAX_THREADS="2", PYTHONPATH=str(site))
    environment.update(SETTINGS[setting])
    failures, n_tried, n_queries, after = [], 0, 0, 0
    while True:
        with tempfile.NamedTemporaryFile("r+", encoding="utf-8") as notes:
            command = [sys.executable, __file__, "--notes", notes.name, "--every", str(options.every)]
            command += ["--points", str(options.points), "--after", str(after)]
            command += [options.module, str(options.package), str(path)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode == 0:
                found = json.loads(done.stdout.splitlines()[-1])
                return failures + found["failures"], n_tried + found["tried"], n_queries + found["queries"]
            line, what = json.loads(notes.readline() or '[0, "before the first query"]')
        said = done.stderr if len(done.stderr) < 8000 else done.stderr[:5000] + "\n...\n" + done.stderr[-3000:]
        failures.append(f"{path}:{line}: {what}\nthe process ended with {done.returncode}\n{said}\n")
        if line <= after:
            return failures, n_tried, n_queries
        after = line  # the queries behind it are still to be tried


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", help="the Python module linked with faults.c")
    parser.add_argument("package", type=pathlib.Path, help="the folder python/nanuk")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--notes", help=argparse.SUPPRESS)
    parser.add_argument("--after", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if os.environ.get("NANUK_FAULTS") == "full":
        options.every = 1
    paths = options.files or sorted(SLT.glob("*.slt"))
    if options.notes:
        with open(options.notes, "r+", encoding="utf-8") as notes:
            check_file(paths[0], options, notes)
        return 0
    totals = {"tried": 0, "queries": 0, "failures": 0}
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        (site / "nanuk").mkdir()
        for entry in options.package.iterdir():
            (site / "nanuk" / entry.name).symlink_to(entry.resolve())
        (site / "nanuk" / "_nanuk.abi3.so").symlink_to(pathlib.Path(options.module).resolve())
        for path in paths:
            for setting in options.settings.split(","):
                failures, n_tried, n_queries = run_file(path, setting, site, options)
                totals["tried"] += n_tried
                totals["queries"] += n_queries
                totals["failures"] += len(failures)
                for failure in failures:
                    print(f"[{setting}] {failure}", flush=True)
    print("{tried} failures in {queries} queries, {failures} of them wrong".format(**totals))
    return 1 if totals["failures"] or not totals["tried"] else 0


if __name__ == "__main__":
    sys.exit(main())

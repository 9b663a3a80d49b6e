#!/usr/bin/env python3
"""Compares two engines on random plans and prints a small reproducer of each difference.

    tests/differential/fuzz.py --seed 7 --cases 10000          nanuk against Polars
    tests/differential/fuzz.py --seconds 600 --jobs 2          a long run from a random seed
    tests/differential/fuzz.py --engine polars:in-memory       one Polars engine against the other
    tests/differential/fuzz.py --seed 7 --only 123             one case again

Case number n of a seed is always the same plan (for one version of Polars, which types the plans as they grow).
Where Polars disagrees with itself (its streaming engine with the in-memory one, or with itself without optimisations),
the case says nothing and is left out.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from differential import compare  # noqa: E402
from differential.engines import Engine  # noqa: E402
from differential.plans import PlanMaker  # noqa: E402
from differential.shrink import shrink  # noqa: E402


class Comparison:
    """Two engines and the folder through which they read Parquet."""

    def __init__(self, engine="nanuk", reference="polars", environment=None):
        import polars

        self.pl = polars
        self.engine = Engine(engine, environment)
        self.reference = Engine(reference)
        others = [f"{reference}:{way}" for way in ("in-memory", "unoptimized")] if ":" not in reference else []
        self.others = [Engine(other) for other in others if other != engine]
        self.scratch = tempfile.TemporaryDirectory(prefix="nanuk-differential-")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.engine.stop()
        self.reference.stop()
        for other in self.others:
            other.stop()
        self.scratch.cleanup()

    def case(self, seed, number):
        return PlanMaker(random.Random(f"{seed}/{number}"), self.pl).case()

    def request(self, case):
        """What both engines get; Polars writes the files, in row groups small enough to be pruned."""
        from differential.plans import environment

        frames = {}
        for name, source in case.frame_sources().items():
            path = None
            if case.from_files:
                path = str(Path(self.scratch.name) / f"{name}.parquet")
                frame = eval(source, environment(self.pl))
                frame.write_parquet(path, row_group_size=7 if frame.height < 100 else 1000)
            frames[name] = (source, path)
        return {"plan": case.plan.source(), "frames": frames}

    def difference(self, case):
        """(category, description) or None."""
        request = self.request(case)
        expected = self.reference.run(request)
        actual = self.engine.run(request)
        ordered = case.plan.order_of()
        found = compare.difference(expected, actual, ordered)
        if found and any(compare.difference(expected, other.run(request), ordered) for other in self.others):
            return None
        return found

    def shrunk(self, case, category, seconds=20.0):
        def still_fails(candidate):
            try:
                found = self.difference(candidate)
            except Exception:  # Polars cannot even build the frames
                return False
            return found is not None and found[0] == category

        return shrink(case, still_fails, seconds)


def reproducer(case, engine):
    """A text to paste: builds the frames and runs the plan on both engines."""
    lines = ["from datetime import date, datetime, time, timedelta", "from decimal import Decimal"]
    lines += ["import polars", f"import {engine.partition(':')[0]} as pl", "nan, inf = float('nan'), float('inf')"]
    for name, source in case.frame_sources().items():
        if case.from_files:
            source = source.replace("pl.", "polars.")
            lines.append(f"{source}.write_parquet('/tmp/{name}.parquet', row_group_size=7)")
            lines.append(f"{name} = pl.scan_parquet('/tmp/{name}.parquet')")
        else:
            lines.append(f"{name} = {source}.lazy()")
    lines.append(f"print({case.plan.source()}.collect())")
    return "\n".join(lines)


def search(comparison, seed, numbers, report, seconds=None, shrink_seconds=20.0):
    """Runs cases; calls report(number, category, description, case) for each difference. Returns how many ran."""
    deadline = time.monotonic() + seconds if seconds else None
    n_run = 0
    for number in numbers:
        if deadline and time.monotonic() > deadline:
            break
        case = comparison.case(seed, number)
        n_run += 1
        found = comparison.difference(case)
        if found:
            small = comparison.shrunk(case, found[0], shrink_seconds)
            found = comparison.difference(small) or found
            report(number, *found, small)
    return n_run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="nanuk")
    parser.add_argument("--reference", default="polars")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--shrink-seconds", type=float, default=20.0)
    parser.add_argument("--most", type=int, default=20, help="stop after this many differences")
    parser.add_argument("--show", action="store_true", help="print the plans too")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else int.from_bytes(os.urandom(4), "little")
    numbers = range(arguments.start, 10**9 if arguments.seconds else arguments.start + arguments.cases)
    if arguments.only is not None:
        numbers = [arguments.only]
    n_found = {}

    class Enough(Exception):
        pass

    def report(number, category, description, case):
        n_found[category] = n_found.get(category, 0) + 1
        print(f"\n# seed {seed}, case {number}: {category}\n{reproducer(case, arguments.engine)}")
        print("# " + description.replace("\n", "\n# "), flush=True)
        if sum(n_found.values()) >= arguments.most:
            raise Enough

    with Comparison(arguments.engine, arguments.reference) as comparison:
        if arguments.show:
            for number in numbers:
                case = comparison.case(seed, number)
                print(number, case.plan.source(), comparison.reference.run(comparison.request(case))[:2])
            return 0
        start = time.monotonic()
        try:
            n_run = search(comparison, seed, numbers, report, arguments.seconds, arguments.shrink_seconds)
        except Enough:
            n_run = "some"
    print(f"seed {seed}: {n_run} cases in {time.monotonic() - start:.0f} s, differences: {n_found or 'none'}")
    return 1 if n_found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Makes a failing case small: drops steps, expressions, rows and columns while the difference keeps its category."""

import time
from dataclasses import replace

from .frames import Column, Frame
from .plans import Case


def shrink(case, still_fails, seconds=20.0):
    """The smallest case found in the time given. `still_fails(case)` runs both engines."""
    deadline = time.monotonic() + seconds
    progress = True
    while progress:
        progress = False
        for candidate in variants(case):
            if time.monotonic() > deadline:
                return case
            if candidate.plan.valid() and still_fails(candidate):
                case, progress = candidate, True
                break
    return case


def variants(case):
    for plan in case.plan.variants():
        yield replace(case, plan=plan)
    if case.from_files:
        yield replace(case, from_files=False)
    used = case.plan.frames_used()
    for name, frame in case.frames.items():
        if name in used:
            for smaller in frame_variants(frame):
                yield Case({**case.frames, name: smaller}, case.plan, case.from_files)


def frame_variants(frame):
    if frame.repeat > 1:
        yield Frame(frame.columns, 1)
        yield Frame(frame.columns, frame.repeat // 2)
    for name in frame.columns:
        if len(frame.columns) > 1:
            yield Frame({other: column for other, column in frame.columns.items() if other != name}, frame.repeat)
    height = max((len(column.values) for column in frame.columns.values()), default=0)
    pieces = height
    while pieces >= 1:  # drop runs of rows, long ones first
        for start in range(0, height, pieces):
            columns = {
                name: Column(column.dtype, column.values[:start] + column.values[start + pieces :])
                for name, column in frame.columns.items()
            }
            yield Frame(columns, frame.repeat)
        pieces //= 2

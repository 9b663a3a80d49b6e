"""Runs the workers of a benchmark one process at a time and keeps what each reported.

An engine here is a label and the environment its process gets: "polars", "nanuk", or "nanuk@rev" with another
build first on PYTHONPATH. One process of each engine runs before any engine's next, so that a slow spell of the
machine hits all alike. The first round of a query is not timed: it warms the page cache, yields the answer, and its
process is watched for memory, which would disturb a timing.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import worker

BENCH = Path(__file__).resolve().parents[1]
SAMPLE_SECONDS = 0.001


@dataclass
class Engine:
    label: str
    module: str
    environment: dict = field(default_factory=dict)


@dataclass
class Outcome:
    """What is known of one engine on one query."""

    seconds: float | None = None
    peak_bytes: int | None = None
    answer: dict | None = None
    error: str | None = None


def run_worker(engine, query, scale, schema, source, n_threads, runs=1, watch=False, floor=False, limit=300):
    """One process; returns its Outcome. With watch: answer and peak anonymous memory too."""
    command = [sys.executable, "-m", "pdsh.worker", "--engine", engine.module, "--query", str(query)]
    command += ["--scale", f"{scale:g}", "--schema", schema, "--source", source]
    command += ["--threads", str(n_threads), "--runs", str(runs)]
    if floor:
        command.append("--floor")
    environment = {**os.environ, **worker.thread_environment(n_threads), "PYTHONDONTWRITEBYTECODE": "1"}
    paths = [engine.environment.get("PYTHONPATH"), str(BENCH), os.environ.get("PYTHONPATH")]
    environment.update(engine.environment)
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="nanuk-bench-") as scratch:
        answer = Path(scratch) / "answer.pickle"
        if watch and not floor:
            command += ["--answer", str(answer)]
        with open(Path(scratch) / "stdout", "w+") as stdout, open(Path(scratch) / "stderr", "w+") as stderr:
            process = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment, cwd=scratch)
            try:
                outcome.peak_bytes = _wait(process, watch, limit)
            except subprocess.TimeoutExpired:
                outcome.error = f"no answer in {limit} s"
                return outcome
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            stdout.seek(0)
            stderr.seek(0)
            if process.returncode != 0:
                lines = stderr.read().strip().splitlines()
                outcome.error = f"exit {process.returncode}: {lines[-1] if lines else 'no message'}"
                return outcome
            outcome.seconds = min(json.loads(stdout.read().splitlines()[-1])["times"])
        if answer.exists():
            outcome.answer = pickle.loads(answer.read_bytes())
    return outcome


def _wait(process, watch, limit):
    """Waits for a process; with watch returns the largest RssAnon that sampling saw, in bytes."""
    if not watch:
        process.wait(timeout=limit)
        return None
    deadline = time.monotonic() + limit
    peak = 0
    while process.poll() is None:
        if time.monotonic() > deadline:
            raise subprocess.TimeoutExpired(process.args, limit)
        try:
            with open(f"/proc/{process.pid}/status") as status:
                for line in status:
                    if line.startswith("RssAnon:"):
                        peak = max(peak, int(line.split()[1]) * 1024)
                        break
        except OSError:
            pass
        time.sleep(SAMPLE_SECONDS)
    return peak


def compare_engines(engines, query, scale, schema, source, n_threads, repeat, runs):
    """{label: Outcome} of one query: a watched round, then `repeat` timed rounds, engines in turn."""
    common = (query, scale, schema, source, n_threads)
    outcomes = {engine.label: run_worker(engine, *common, watch=True) for engine in engines}
    for outcome in outcomes.values():
        outcome.seconds = None
    for _ in range(repeat):
        for engine in engines:
            outcome = outcomes[engine.label]
            if outcome.error:
                continue
            timed = run_worker(engine, *common, runs=runs)
            outcome.error = timed.error
            if not timed.error:
                outcome.seconds = min(filter(None, (outcome.seconds, timed.seconds)))
    return outcomes

"""The slt files under every setting: a test per setting and file, a process per setting.

NANUK_SLT names the set of settings (full, quick, threads); see slt/runner.py.
"""

import functools
import importlib.util
import os
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).parent / "slt"
FILES = sorted(FOLDER.glob("*.slt"))

spec = importlib.util.spec_from_file_location("slt_runner", FOLDER / "runner.py")
runner = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)


SETTINGS = os.environ.get("NANUK_SLT", "full")


@functools.cache
def results(setting):
    return runner.run_setting(setting, "nanuk", FILES)


@pytest.mark.parametrize("setting", runner.SETTINGS[SETTINGS])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_slt(path, setting):
    failures = results(setting)[str(path)]
    assert not failures, "\n\n".join(f"{path.name}:{failure['line']}\n{failure['text']}" for failure in failures)


@pytest.mark.skipif(SETTINGS != "full", reason="once is enough")
def test_results_are_those_of_polars():
    """Guards the files themselves: what they expect is what the reference answers."""
    pytest.importorskip("polars")
    found = runner.run_setting("2048,1", "polars", FILES)
    wrong = [f"{path}:{failure['line']}\n{failure['text']}" for path, failures in found.items() for failure in failures]
    assert not wrong, "\n\n".join(wrong)

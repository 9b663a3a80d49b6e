"""Random plans with fixed seeds give the answers of Polars; fuzz.py looks further."""

import importlib.util
import os

import pytest

pytest.importorskip("polars")

from differential.compare import difference  # noqa: E402
from differential.fuzz import Comparison, reproducer, search  # noqa: E402

SEED = 20
CASES_PER_TEST = int(os.environ.get("NANUK_DIFFERENTIAL_CASES", "60"))
MOST_SHOWN = 3
SETTINGS = {
    "default": {},
    "tiny_batches_one_thread": {"NANUK_BATCH_ROWS": "3", "NANUK_MAX_THREADS": "1"},
    "forced_spill_four_threads": {"NANUK_FORCE_SPILL": "1", "NANUK_MAX_THREADS": "4"},
}


class Enough(Exception):
    pass


def run(engine, numbers, environment=None):
    found = []

    def report(number, category, description, case):
        found.append(f"case {number} of seed {SEED}: {category}\n{reproducer(case, engine)}\n{description}")
        if len(found) == MOST_SHOWN:
            raise Enough

    with Comparison(engine, environment=environment) as comparison:
        try:
            search(comparison, SEED, numbers, report, shrink_seconds=10)
        except Enough:
            pass
    if found:
        pytest.fail("\n\n".join(found), pytrace=False)


@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("setting", SETTINGS)
def test_same_answers_as_polars(setting, part):
    assert importlib.util.find_spec("nanuk"), "nanuk is not installed"
    first = (list(SETTINGS).index(setting) * 5 + part) * CASES_PER_TEST
    run("nanuk", range(first, first + CASES_PER_TEST), SETTINGS[setting])


def test_polars_agrees_with_itself():
    """The generator leaves nothing free: the reference against a second process of it shows no difference."""
    run("polars", range(100))


def test_the_judge_sees_differences():
    schema = [("a", "Int64"), ("b", "Float64")]
    answer = ("ok", schema, [(1, 0.5), (2, float("nan"))])
    assert difference(answer, answer, True) is None
    assert difference(answer, ("ok", schema, [(2, float("nan")), (1, 0.5)]), False) is None
    assert difference(answer, ("ok", schema, [(2, float("nan")), (1, 0.5)]), True)[0] == "values"
    assert difference(answer, ("ok", schema, [(1, 0.5), (2, None)]), True)[0] == "values"
    assert difference(answer, ("ok", schema, [(1, 0.5)]), True)[0] == "height"
    assert difference(answer, ("ok", [("a", "Int32"), ("b", "Float64")], answer[2]), True)[0] == "schema"
    assert difference(answer, ("error", "ComputeError", ""), True)[0] == "raises ComputeError"
    assert difference(("error", "SchemaError", ""), ("error", "ShapeError", ""), True)[0] == "error class"
    assert difference(("error", "PanicException", ""), answer, True) is None
    assert difference(answer, ("crash", "exit -11", ""), True)[0] == "crash"

"""Says whether two answers of one query are the same, in plain Python, so no engine judges itself.

Rows are compared in the order the query asks for; rows that tie in its sort columns may come in any order. Integers,
text, dates and booleans must be equal. Floats may differ by 1e-9 relative. Decimals must be equal, dtype included,
between engines with Polars' rule (a product keeps the larger scale); SQL's decimals keep every digit of a product,
so against them decimals are only compared loosely.
"""

import math
from decimal import Decimal

from .queries import ORDER

FLOAT_TOLERANCE = 1e-9
LOOSE_TOLERANCE = 1e-2


def difference(query, expected, actual, loose_decimals=False):
    """None if the answers agree, else one line that says where they do not."""
    names = [name for name, _ in expected["columns"]]
    other = [name for name, _ in actual["columns"]]
    if names != other:
        return f"columns {other}, expected {names}"
    if not loose_decimals and expected["columns"] != actual["columns"]:
        wrong = [f"{a}, expected {e[1]}" for e, a in zip(expected["columns"], actual["columns"]) if e != a]
        return f"dtypes: {'; '.join(wrong)}"
    if len(expected["rows"]) != len(actual["rows"]):
        return f"{len(actual['rows'])} rows, expected {len(expected['rows'])}"
    keys = [names.index(name) for name in ORDER[query]]
    for number, (row_e, row_a) in enumerate(zip(expected["rows"], actual["rows"])):
        for key in keys:
            if not same_value(row_e[key], row_a[key], loose_decimals):
                return f"order: row {number}, {names[key]} {row_a[key]!r}, expected {row_e[key]!r}"
    for number, (row_e, row_a) in enumerate(zip(_canonical(expected["rows"]), _canonical(actual["rows"]))):
        for name, value_e, value_a in zip(names, row_e, row_a):
            if not same_value(value_e, value_a, loose_decimals):
                return f"sorted row {number}, {name}: {value_a!r}, expected {value_e!r}"
    return None


def same_value(expected, actual, loose_decimals=False):
    if expected is None or actual is None:
        return expected is actual
    if isinstance(expected, int) and not isinstance(expected, bool):
        # SQL sums integers to wider types, some of which arrive as decimals.
        return isinstance(actual, (int, Decimal)) and expected == actual
    if loose_decimals and (isinstance(expected, Decimal) or isinstance(actual, Decimal)):
        return math.isclose(expected, actual, rel_tol=LOOSE_TOLERANCE, abs_tol=LOOSE_TOLERANCE)
    if isinstance(expected, float) and isinstance(actual, float):
        if math.isnan(expected) or math.isnan(actual):
            return math.isnan(expected) and math.isnan(actual)
        return math.isclose(expected, actual, rel_tol=FLOAT_TOLERANCE)
    return type(expected) is type(actual) and expected == actual


def _canonical(rows):
    """Rows sorted by their exact values: inexact ones cannot decide an order that two engines share."""

    def key(row):
        return [(value is not None, str(value)) for value in row if not isinstance(value, (float, Decimal))]

    return sorted(rows, key=key)

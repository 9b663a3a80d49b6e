"""Says how two outcomes of one plan differ: schema, rows, or the class of the error."""

import math
from decimal import Decimal

TOLERANCE = {"Float32": 2e-5, "Float64": 1e-9}
# An upstream bug shows as a panic; what the other engine does there is not compared.
UNCOMPARED = ("PanicException",)


def difference(expected, actual, ordered):
    """(category, description), or None if the outcomes agree. `ordered`: rows must come in the same order."""
    if expected[0] == "error" and expected[1] in UNCOMPARED:
        return None
    if actual[0] in ("crash", "timeout"):
        return actual[0], f"{actual[0]}: {actual[1]}\n{actual[2]}".strip()
    if expected[0] in ("crash", "timeout"):
        return None
    if expected[0] == "error" or actual[0] == "error":
        if expected[0] == actual[0]:
            if expected[1] == actual[1]:
                return None
            return "error class", f"expected {expected[1]}: {expected[2]}\nbut {actual[1]}: {actual[2]}"
        if actual[0] == "error":
            return f"raises {actual[1]}", f"expected an answer, but {actual[1]}: {actual[2]}"
        return "no error", f"expected {expected[1]}: {expected[2]}\nbut an answer with {len(actual[2])} rows"
    if expected[1] != actual[1]:
        return "schema", f"expected {show_schema(expected[1])}\nbut {show_schema(actual[1])}"
    if len(expected[2]) != len(actual[2]):
        return "height", f"expected {len(expected[2])} rows, but {len(actual[2])}"
    dtypes = [dtype for _, dtype in expected[1]]
    if ordered:
        pairs = zip(expected[2], actual[2])
    else:
        pairs = zip(sorted(expected[2], key=sort_key), sorted(actual[2], key=sort_key))
    for number, (row_e, row_a) in enumerate(pairs):
        if not same_row(row_e, row_a, dtypes):
            if not ordered and same_multiset(expected[2], actual[2], dtypes):
                return None
            where = f"row {number}" + ("" if ordered else " of the sorted rows")
            return "values", f"{where}: expected {row_e!r}\nbut {row_a!r}"
    return None


def show_schema(schema):
    return "{" + ", ".join(f"{name}: {dtype}" for name, dtype in schema) + "}"


def same_row(expected, actual, dtypes):
    return all(same_value(e, a, dtype) for e, a, dtype in zip(expected, actual, dtypes))


def same_value(expected, actual, dtype):
    if expected is None or actual is None:
        return expected is actual
    if isinstance(expected, float) and isinstance(actual, float):
        if math.isnan(expected) or math.isnan(actual):
            return math.isnan(expected) and math.isnan(actual)
        tolerance = TOLERANCE.get(dtype, 1e-9)
        return math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance)
    if isinstance(expected, Decimal) and isinstance(actual, Decimal):
        return expected.as_tuple() == actual.as_tuple()
    return type(expected) is type(actual) and expected == actual


def sort_key(row):
    """Floats by six digits: near-equal ones should sort alike; same_multiset catches where they do not."""
    return [(value is not None, f"{value + 0.0:.6g}" if isinstance(value, float) else repr(value)) for value in row]


def same_multiset(expected, actual, dtypes):
    if len(expected) > 3000:
        return False
    rest = list(actual)
    for row in expected:
        for index, other in enumerate(rest):
            if same_row(row, other, dtypes):
                del rest[index]
                break
        else:
            return False
    return True

"""Several tables together: union, merge_sorted, align_frames; and updates of one by another."""

from __future__ import annotations

from functools import reduce

from nanuk import _nanuk
from nanuk.exceptions import InvalidOperationError
from nanuk.parse import flatten


def union(items, *, how: str = "vertical", strict: bool | None = None):
    """Tables as one, whose rows may come in any order; see concat."""
    from nanuk.functions import concat

    return concat(items, how=how, strict=strict)


def merge_two_sorted(left, right, keys):
    """Two queries that are both in order of some columns as one that is. Nulls stay on the side where they were."""
    flags = [f"__nulls_first_{i}" for i in range(len(keys))]
    first_is_null = [_nanuk.col(key)._call("first")._call("is_null").alias(flag) for key, flag in zip(keys, flags)]
    both = _nanuk.concat([left.with_columns(*first_is_null), right.with_columns(*first_is_null)], "vertical")
    order = []
    for key, flag in zip(keys, flags):
        order += [_nanuk.col(key)._call("is_null")._call("xor", _nanuk.col(flag)._call("any")), _nanuk.col(key)]
    return both._sort(order, False, False, True).drop(flags)


def merge_sorted(items, key, *, maintain_order: bool = False):
    """Tables that are in order of one or more columns as one that is."""
    items = list(items)
    return reduce(lambda left, right: left.merge_sorted(right, key), items)


def align_frames(*frames, on, how: str = "full", select=None, descending=False):
    """Tables with the same rows: each has all values of the `on` columns, in order, with null where it had none.

    Raises TypeError for a mixture, ValueError for keys that repeat.
    """
    from nanuk.dataframe import DataFrame
    from nanuk.lazyframe import LazyFrame

    if len(frames) == 1 and not isinstance(frames[0], (DataFrame, LazyFrame)):
        frames = tuple(frames[0])
    if not frames:
        return []
    if len({type(frame) for frame in frames}) > 1:
        raise TypeError("input frames must be of a consistent class (all LazyFrame or all DataFrame)")
    on = flatten(on)
    keys = reduce(
        lambda left, right: left.join(right, on=on, how=how, coalesce=True, suffix=""),
        (frame.lazy().select(on).unique() for frame in frames),
    ).sort(on, descending=descending)
    aligned = []
    for frame in frames:
        result = keys.join(frame.lazy(), on=on, how="left", nulls_equal=True, maintain_order="left")
        result = result.select(frame.collect_schema().names() if select is None else select)
        aligned.append(result.collect() if isinstance(frame, DataFrame) else result)
    return aligned


def update(plan, other, on, how: str, left_on, right_on, include_nulls: bool, maintain_order):
    """A query with values of another in place of its own, in rows with equal keys, or row by row without keys.

    Raises ValueError for another `how` than "left", "inner" and "full".
    """
    if how not in ("left", "inner", "full"):
        msg = f"`how` must be one of {{'left', 'inner', 'full'}}; found {how!r}"
        raise ValueError(msg)
    row = None
    if on is None and left_on is None and right_on is None:
        row = "__row"
        plan, other = plan._row_index(row, 0), other._row_index(row, 0)
        left_on = right_on = [row]
    elif on is not None:
        left_on = right_on = flatten(on)
    else:
        if left_on is None or right_on is None:
            missing = "left_on" if left_on is None else "right_on"
            msg = f"missing join columns; `{missing}` is required"
            raise ValueError(msg)
        left_on, right_on = flatten(left_on), flatten(right_on)
    mine, theirs = plan.collect_schema().names(), other.collect_schema().names()
    for name in left_on:
        if name not in mine:
            raise ValueError(f"left join column {name!r} not found")
    for name in right_on:
        if name not in theirs:
            raise ValueError(f"right join column {name!r} not found")
    common = [name for name in theirs if name in mine and name not in right_on and name not in left_on]
    marker = "__updated"
    right = other._select([*right_on, *(_nanuk.col(name).alias(f"__new_{name}") for name in common),
                           _nanuk.lit(True).alias(marker)], False)  # fmt: skip
    joined = plan.join(right, left_on=left_on, right_on=right_on, how=how, coalesce=True, maintain_order=maintain_order)
    new = []
    for name in common:
        column, updated = _nanuk.col(f"__new_{name}"), _nanuk.col(marker)._call("eq_missing", True)
        if include_nulls:
            new.append(_nanuk.call("when", updated, column, _nanuk.col(name)).alias(name))
        else:
            new.append(_nanuk.call("coalesce", column, _nanuk.col(name)).alias(name))
    return joined._with_columns(new, False)._select([name for name in mine if name != row], False)


def join_where(plan, other, predicates: tuple, how: str, suffix: str):
    """Pairs of rows for which all predicates are true; the right table's names get the suffix where both have them.

    Raises InvalidOperationError without predicates.
    """
    from nanuk.parse import parse_predicates

    items = parse_predicates(predicates, {}) if predicates else []
    if not items:
        raise InvalidOperationError("expected join keys/predicates")
    if how != "inner":
        raise NotImplementedError(f"`join_where` with how={how!r} is not implemented yet")
    return plan.join(other, how="cross", suffix=suffix)._filter(items)


def align(plans: list, how: str):
    """Queries joined by the columns that all of them have, in order of these.

    Raises InvalidOperationError when there is none.
    """
    names = [plan.collect_schema().names() for plan in plans]
    common = [name for name in names[0] if all(name in more for more in names[1:])]
    if not common:
        raise InvalidOperationError("'align' strategy requires at least one common column")
    kind = "full" if how == "align" else how.removeprefix("align_")
    result = plans[0]
    for i, plan in enumerate(plans[1:]):
        suffix = f":{i}" if kind != "inner" else "_right"
        result = result.join(plan, on=common, how=kind, coalesce=True, suffix=suffix, nulls_equal=True)
        made = result.collect_schema().names()
        doubled = [n.removesuffix(suffix) for n in made if n.endswith(suffix) and n.removesuffix(suffix) in made]
        if doubled:
            merged = [_nanuk.call("coalesce", _nanuk.col(n), _nanuk.col(n + suffix)).alias(n) for n in doubled]
            result = result._with_columns(merged, False)._drop([n + suffix for n in doubled], True)
    order = [*common, *(name for name in dict.fromkeys(sum(names, [])) if name not in common)]
    return result._sort(common, False, False, True)._select(order, False)


def side_by_side(plans: list):
    """Queries side by side; the shorter ones end in nulls."""
    row = "__row"
    result = plans[0]._row_index(row, 0)
    for plan in plans[1:]:
        result = result.join(plan._row_index(row, 0), on=row, how="full", coalesce=True, maintain_order="left_right")
    return result._sort([row], False, False, True)._drop([row], True)

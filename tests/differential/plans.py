"""Random plans: a chain of steps over frames, where joins and concat hold further chains.

A plan knows whether its answer has a fixed row order (`order_of`): sources have one, joins and group_by lose it, a
sort by all columns restores it. Steps and expressions that depend on row order are only made, and only kept by the
shrinker, where the order is fixed, so that every difference between two engines is a difference that counts.

While a plan grows, Polars' collect_schema says which columns exist: the generator has no typing rules of its own.
"""

import os
from dataclasses import dataclass, field, replace

from . import frames
from .expressions import Expr, Grammar, family_of

LARGEST_ESTIMATE = 60_000


class OrderMatters(Exception):
    """A step that depends on row order stands where the order is free."""


@dataclass(frozen=True)
class Step:
    """One method call. `lists` holds its expressions by role, `plans` the chains it takes, `text` how to write it."""

    kind: str
    text: str  # a format with {name} for each role and {0}, {1} for plans
    lists: dict = field(default_factory=dict)
    plans: tuple = ()
    order: str = "keeps"  # keeps, loses, fixes
    needs_order: bool = False

    def source(self, render):
        parts = {role: ", ".join(map(str, expressions)) for role, expressions in self.lists.items()}
        text = self.text
        for role, part in parts.items():
            text = text.replace("{" + role + "}", part)
        for index, plan in enumerate(self.plans):
            text = text.replace("{plan" + str(index) + "}", render(plan))
        return text

    def order_sensitive(self):
        return self.needs_order or any(e.order_sensitive for part in self.lists.values() for e in part)

    def variants(self):
        """The step with fewer or smaller expressions, or smaller plans inside."""
        for role, expressions in self.lists.items():
            if len(expressions) > 1:
                for index in range(len(expressions)):
                    fewer = expressions[:index] + expressions[index + 1 :]
                    yield replace(self, lists={**self.lists, role: fewer})
            for index, expression in enumerate(expressions):
                for smaller in expression.variants():
                    changed = [*expressions[:index], smaller, *expressions[index + 1 :]]
                    yield replace(self, lists={**self.lists, role: changed})
        for index, plan in enumerate(self.plans):
            for smaller in plan.variants():
                yield replace(self, plans=(*self.plans[:index], smaller, *self.plans[index + 1 :]))


@dataclass(frozen=True)
class Plan:
    frame: str
    steps: tuple = ()

    def source(self):
        return self.frame + "".join(step.source(Plan.source) for step in self.steps)

    def order_of(self):
        """True if the answer's row order is fixed; raises OrderMatters where a step may not stand."""
        fixed = True
        for step in self.steps:
            inner = [plan.order_of() for plan in step.plans]
            if step.order_sensitive() and not fixed:
                raise OrderMatters(step.kind)
            if step.order == "loses" or (step.order == "keeps" and not all(inner)):
                fixed = False
            elif step.order == "fixes":
                fixed = True
        return fixed

    def valid(self):
        try:
            self.order_of()
        except OrderMatters:
            return False
        return True

    def frames_used(self):
        used = {self.frame}
        for step in self.steps:
            for plan in step.plans:
                used |= plan.frames_used()
        return used

    def variants(self):
        for index in range(len(self.steps)):
            yield replace(self, steps=self.steps[:index] + self.steps[index + 1 :])
        for step in self.steps:  # a chain inside may show the difference on its own
            yield from step.plans
        for index, step in enumerate(self.steps):
            for smaller in step.variants():
                yield replace(self, steps=(*self.steps[:index], smaller, *self.steps[index + 1 :]))


@dataclass(frozen=True)
class Case:
    """Input frames by name and a plan over them."""

    frames: dict
    plan: Plan
    from_files: bool = False

    def frame_sources(self):
        used = self.plan.frames_used()
        return {name: frame.source() for name, frame in self.frames.items() if name in used}


class PlanMaker:
    """Grows a random case with Polars as the judge of which columns a plan has."""

    def __init__(self, rng, pl):
        self.rng = rng
        self.pl = pl
        self.names = iter(f"x{number}" for number in range(10_000))
        self.frames = {}
        self.environment = {}

    def case(self):
        """A random case. Polars' panics print to stderr while a plan is typed: not here."""
        kept, silent = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 2)
        try:
            return self.random_case()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(silent)

    def random_case(self):
        rng = self.rng
        first = None
        for index in range(rng.choice([1, 2, 2, 3])):
            columns = "abcde"[: rng.choice([1, 2, 3, 4, 5])] if rng.random() < 0.8 else "abklm"
            frame = frames.random_frame(rng, list(columns), like=first)
            first = first or frame
            self.frames[f"f{index}"] = frame
        self.environment = environment(self.pl)
        for name, frame in self.frames.items():
            self.environment[name] = eval(frame.source(), self.environment).lazy()
        plan = self.grow(rng.choice([1, 2, 3, 3, 4, 5, 6]))
        return Case(self.frames, plan, from_files=rng.random() < 0.5)

    def schema(self, plan):
        """{name: dtype}, or None where Polars refuses the plan."""
        try:
            return dict(eval(plan.source(), self.environment).collect_schema())
        except BaseException as error:  # Polars' panics are no Exceptions
            if isinstance(error, (KeyboardInterrupt, MemoryError)):
                raise
            return None

    def grow(self, n_steps, inside=0):
        rng = self.rng
        plan = Plan(rng.choice(list(self.frames)))
        estimate = self.frames[plan.frame].height
        for _ in range(n_steps):
            schema = self.schema(plan)
            if schema is None:
                break  # an error that both engines should raise
            step, rows = self.step(plan, schema, estimate, inside)
            if step is None:
                continue
            longer = replace(plan, steps=(*plan.steps, step))
            if rows > LARGEST_ESTIMATE or not longer.valid():
                continue
            if self.schema(longer) is None and rng.random() < 0.9:
                continue
            plan, estimate = longer, rows
        return plan

    def step(self, plan, schema, estimate, inside):
        ordered = plan.order_of()
        families = {name: family_of(dtype) for name, dtype in schema.items()}
        grammar = Grammar(self.rng, {name: family for name, family in families.items() if family}, ordered)
        makers = [self.filter, self.select, self.with_columns, self.with_columns, self.group_by]
        makers += [self.group_by, self.sort, self.unique, self.columns, self.total_sort]
        if ordered:
            makers += [self.slice, self.slice, self.row_index]
        if inside < 2:
            makers += [self.join, self.join, self.concat]
        return self.rng.choice(makers)(grammar, schema, ordered, estimate, inside)

    def named(self, expression):
        return Expr(expression.family, expression, f".alias({next(self.names)!r})",
                    order_sensitive=expression.order_sensitive)  # fmt: skip

    def expressions(self, grammar, most, one=False):
        made = []
        for _ in range(self.rng.randint(1, most)):
            family = grammar.any_family() if self.rng.random() < 0.7 else self.rng.choice(["bool", "int", "float"])
            made.append(self.named(grammar.make(family, self.rng.choice([0, 1, 1, 2, 3]), one)))
        return made

    def bare_columns(self, schema, n):
        names = self.rng.sample(list(schema), min(len(schema), n))
        return [Expr(None, f"pl.col({name!r})") for name in names]

    def filter(self, grammar, schema, ordered, estimate, inside):
        predicates = [grammar.make("bool", self.rng.choice([1, 1, 2, 3])) for _ in range(self.rng.choice([1, 1, 2]))]
        return Step("filter", ".filter({predicates})", {"predicates": predicates}), estimate

    def select(self, grammar, schema, ordered, estimate, inside):
        one = self.rng.random() < 0.3
        made = self.expressions(grammar, 4, one)
        if not one:
            made += self.bare_columns(schema, self.rng.randint(0, 3))
        return Step("select", ".select({expressions})", {"expressions": made}), 1 if one else estimate

    def with_columns(self, grammar, schema, ordered, estimate, inside):
        made = self.expressions(grammar, 3)
        return Step("with_columns", ".with_columns({expressions})", {"expressions": made}), estimate

    def columns(self, grammar, schema, ordered, estimate, inside):
        rng = self.rng
        names = list(schema)
        choice = rng.choice(["drop", "rename", "drop_nulls", "select"])
        if choice == "drop" and len(names) > 1:
            return Step("drop", f".drop({rng.choice(names)!r})"), estimate
        if choice == "rename" and names:
            return Step("rename", f".rename({{{rng.choice(names)!r}: {next(self.names)!r}}})"), estimate
        if choice == "drop_nulls":
            subset = repr(rng.sample(names, 1)) if names and rng.random() < 0.5 else ""
            return Step("drop_nulls", f".drop_nulls({subset})"), estimate
        if choice == "select" and names:
            rng.shuffle(names)
            return Step("select", f".select({names[: rng.randint(1, len(names))]!r})"), estimate
        return None, estimate

    def group_by(self, grammar, schema, ordered, estimate, inside):
        rng = self.rng
        keys = self.bare_columns(schema, rng.randint(1, 2))
        if not keys or rng.random() < 0.2:
            keys.append(self.named(grammar.make(grammar.any_family(), 1)))
        aggregates = self.expressions(grammar, 4, one=True)
        maintain = ordered and rng.random() < 0.4
        return Step(
            "group_by",
            ".group_by({keys}" + (", maintain_order=True" if maintain else "") + ").agg({aggregates})",
            {"keys": keys, "aggregates": aggregates},
            order="keeps" if maintain else "loses",
            needs_order=maintain,
        ), estimate

    def sort(self, grammar, schema, ordered, estimate, inside):
        rng = self.rng
        if not ordered or not schema:
            return None, estimate  # ties would leave the order free: total_sort is for that
        keys = self.bare_columns(schema, rng.randint(1, 2))
        if rng.random() < 0.2:
            keys[0] = grammar.make(grammar.any_family(), 1)
        options = rng.choice(["", ", descending=True", ", nulls_last=True", ", descending=True, nulls_last=True"])
        text = ".sort({keys}" + options + ", maintain_order=True)"
        return Step("sort", text, {"keys": keys}, needs_order=True), estimate

    def total_sort(self, grammar, schema, ordered, estimate, inside):
        options = self.rng.choice(["", ", descending=True", ", nulls_last=True"])
        return Step("total_sort", f".sort(pl.all(){options})", order="fixes"), estimate

    def unique(self, grammar, schema, ordered, estimate, inside):
        rng = self.rng
        names = list(schema)
        subset = rng.sample(names, rng.randint(1, len(names))) if names and rng.random() < 0.6 else None
        keep = rng.choice(["first", "last", "none"] if ordered else ["none"])
        if subset is None and rng.random() < 0.5:
            return Step("unique", ".unique()", order="loses"), estimate
        maintain = ordered and rng.random() < 0.6
        text = f".unique({subset!r}, keep={keep!r}{', maintain_order=True' if maintain else ''})"
        order = "keeps" if maintain else "loses"
        return Step("unique", text, order=order, needs_order=maintain or keep != "none"), estimate

    def slice(self, grammar, schema, ordered, estimate, inside):
        rng = self.rng
        n = rng.choice([0, 1, 2, 5, 5, 10, 10, 20, 1000])
        start = rng.choice([0, 0, 1, 3, -2, -7, -20, 500])
        text = rng.choice([f".head({n})", f".tail({n})", f".slice({start}, {n})", f".slice({start})", f".limit({n})"])
        return Step("slice", text, needs_order=True), estimate

    def row_index(self, grammar, schema, ordered, estimate, inside):
        offset = self.rng.choice(["", ", 5"])
        return Step("row_index", f".with_row_index({next(self.names)!r}{offset})", needs_order=True), estimate

    def join(self, grammar, schema, ordered, estimate, inside):
        rng = self.rng
        other = self.grow(rng.choice([0, 0, 1, 2]), inside + 1)
        right = self.schema(other)
        if right is None:
            return None, estimate
        rows = estimate * max(1, self.frames[other.frame].height)
        how = rng.choice(["inner", "inner", "left", "right", "full", "semi", "anti", "cross"])
        text, kind = "{plan0}", "join"
        if how == "cross":
            return Step(kind, f".join({text}, how='cross')", plans=(other,), order="loses"), rows
        pairs = [(l, r) for l in schema for r in right if schema[l] == right[r]]
        if rng.random() < 0.1 or not pairs:
            pairs = [(l, r) for l in schema for r in right]
        if not pairs:
            return None, estimate
        chosen = rng.sample(pairs, min(len(pairs), rng.choice([1, 1, 2])))
        left_on, right_on = [l for l, _ in chosen], [r for _, r in chosen]
        keys = f"on={left_on!r}" if left_on == right_on else f"left_on={left_on!r}, right_on={right_on!r}"
        options = rng.choice(["", "", "", ", nulls_equal=True"])
        if how == "full":
            options += rng.choice(["", ", coalesce=True"])
        text = f".join({text}, {keys}, how={how!r}{options})"
        return Step(kind, text, plans=(other,), order="loses"), rows if how not in ("semi", "anti") else estimate

    def concat(self, grammar, schema, ordered, estimate, inside):
        names = list(schema)
        if not names:
            return None, estimate
        other = self.grow(self.rng.choice([0, 1]), inside + 1)
        right = self.schema(other)
        if right is None or not set(names) <= set(right):
            return None, estimate
        text = ".pipe(lambda lf: pl.concat([lf, {plan0}.select(" + repr(names) + ")]"
        if any(schema[name] != right[name] for name in names):
            text += ", how='vertical_relaxed'"
        rows = estimate + self.frames[other.frame].height
        return Step("concat", text + "))", plans=(other,)), rows


def environment(pl):
    """The names that a rendered text may use."""
    import datetime
    from decimal import Decimal

    names = {name: getattr(datetime, name) for name in ("date", "datetime", "time", "timedelta")}
    return {"pl": pl, "nan": float("nan"), "inf": float("inf"), "Decimal": Decimal, **names}

"""Random expressions from a small grammar typed by family (bool, int, float, decimal, text, date, ...).

An expression is a tree of text and sub-trees; it renders to source for any engine with Polars' API, and the shrinker
replaces a tree by one of its parts. Nothing here may have an answer that depends on row order unless the input's
order is known (`ordered`), and nothing may have an answer that is left free.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal

from .frames import TEXTS, literal


class Expr:
    """One node: its family, its pieces (text or Expr), and whether its value depends on row order."""

    __slots__ = ("family", "pieces", "order_sensitive")

    def __init__(self, family, *pieces, order_sensitive=False):
        self.family = family
        self.pieces = pieces
        self.order_sensitive = order_sensitive or any(child.order_sensitive for child in self.children)

    @property
    def children(self):
        return [piece for piece in self.pieces if isinstance(piece, Expr)]

    def __str__(self):
        return "".join(map(str, self.pieces))

    def size(self):
        return 1 + sum(child.size() for child in self.children)

    def descendants(self):
        for child in self.children:
            yield child
            yield from child.descendants()

    def variants(self):
        """Smaller trees that may stand in for this one, the smallest first."""
        same = [node for node in self.descendants() if node.family == self.family]
        yield from sorted(same, key=Expr.size)
        for index, piece in enumerate(self.pieces):
            if isinstance(piece, Expr):
                for smaller in piece.variants():
                    pieces = (*self.pieces[:index], smaller, *self.pieces[index + 1 :])
                    yield Expr(self.family, *pieces, order_sensitive=self.order_sensitive)


def family_of(dtype):
    """The family of a Polars dtype object, None for what the grammar leaves alone."""
    if dtype.is_integer():
        return "int"
    if dtype.is_float():
        return "float"
    if dtype.is_decimal():
        return "decimal"
    names = {"Boolean": "bool", "String": "text", "Binary": "binary", "Date": "date", "Time": "time"}
    names |= {"Datetime": "datetime", "Duration": "duration"}
    return names.get(str(dtype.base_type()))


class Grammar:
    """Makes expressions over columns {name: family}; `ordered` says that the order of the rows is known."""

    def __init__(self, rng, columns, ordered):
        self.rng = rng
        self.columns = columns
        self.ordered = ordered
        self.families = sorted(set(columns.values()) - {None}) or ["int"]

    def any_family(self):
        return self.rng.choice(self.families)

    def column(self, family):
        names = [name for name, have in self.columns.items() if have == family]
        return Expr(family, f"pl.col({self.rng.choice(names)!r})") if names else None

    def constant(self, family):
        rng = self.rng
        value = {
            "bool": lambda: rng.choice([True, False]),
            "int": lambda: rng.choice([0, 1, 2, 3, -1, 5, 127, 300, 2**31]),
            "float": lambda: rng.choice([0.0, 0.5, -1.5, 2.0, float("nan"), float("inf")]),
            "decimal": lambda: rng.choice([Decimal("1"), Decimal("0.5"), Decimal("-1.25"), Decimal("10.00")]),
            "text": lambda: rng.choice(TEXTS),
            "binary": lambda: rng.choice(TEXTS).encode(),
            "date": lambda: rng.choice([date(1970, 1, 1), date(1999, 12, 31), date(2024, 2, 29)]),
            "datetime": lambda: rng.choice([datetime(1970, 1, 1), datetime(2024, 2, 29, 23, 59, 59, 999999)]),
            "duration": lambda: rng.choice([timedelta(0), timedelta(days=1), timedelta(microseconds=-1)]),
            "time": lambda: datetime(2024, 1, 1, rng.randint(0, 23), rng.randint(0, 59)).time(),
        }[family]()
        return Expr(family, f"pl.lit({literal(value)})")

    def leaf(self, family, one):
        if one:
            return self.aggregate(family, 1)
        if self.rng.random() < 0.1:
            return self.constant(family)
        return self.column(family) or self.derived(family) or self.constant(family)

    def derived(self, family):
        """A column of another family brought to this one, so that few expressions are made of literals only."""
        have = self.any_family()
        column = self.column(have)
        if column is None:
            return None
        if family == "bool":
            if self.rng.random() < 0.3:
                return Expr("bool", column, ".is_not_null()")
            return Expr("bool", "(", column, f" {self.rng.choice(['==', '<', '>='])} ", self.constant(have), ")")
        if family == "float" and have in ("int", "bool", "decimal"):
            return Expr("float", column, ".cast(pl.Float64)")
        if family == "int" and have in ("bool", "float"):
            return Expr("int", column, ".cast(pl.Int32, strict=False)")
        if family == "int" and have == "text":
            return Expr("int", column, ".str.len_chars()")
        if family == "int" and have in ("date", "datetime"):
            return Expr("int", column, ".dt.day()")
        if family == "text" and have == "int":
            return Expr("text", column, ".cast(pl.String)")
        return None

    def make(self, family, depth, one=False):
        """An expression of a family; `one`: a single value per frame or group, so no bare column at the top."""
        if depth <= 0:
            return self.leaf(family, one)
        if one and self.rng.random() < 0.5:
            return self.aggregate(family, depth)
        if not one and self.rng.random() < 0.07:
            return self.aggregate(family, depth - 1)
        makers = getattr(self, f"make_{family}")(depth - 1, one)
        return self.rng.choice(makers)() if makers else self.leaf(family, one)

    # What every family can be made of.
    def general(self, family, depth, one):
        def when():
            pieces = ["pl.when(", self.make("bool", depth, one), ").then(", self.make(family, depth, one), ")"]
            if self.rng.random() < 0.8:
                pieces += [".otherwise(", self.make(family, depth, one), ")"]
            return Expr(family, "(", *pieces, ")")

        def fill_null():
            return Expr(family, self.make(family, depth, one), ".fill_null(", self.constant(family), ")")

        def coalesce():
            return Expr(family, "pl.coalesce(", self.make(family, depth, one), ", ", self.make(family, depth, one), ")")

        return [when, fill_null, coalesce, lambda: self.leaf(family, one)]

    def binary_operator(self, family, operators, depth, one):
        def operation():
            left, right = self.make(family, depth, one), self.make(family, depth, one)
            if self.rng.random() < 0.4:
                right = self.constant(family)
            return Expr(family, "(", left, f" {self.rng.choice(operators)} ", right, ")")

        return operation

    def call(self, family, argument_family, methods, depth, one):
        return lambda: Expr(family, self.make(argument_family, depth, one), self.rng.choice(methods))

    def make_bool(self, depth, one):
        rng = self.rng

        def comparison():
            family = self.any_family()
            left = self.make(family, depth, one)
            right = self.constant(family) if rng.random() < 0.5 else self.make(family, depth, one)
            operator = rng.choice(["==", "!=", "<", "<=", ">", ">="])
            if rng.random() < 0.15:
                return Expr("bool", left, rng.choice([".eq_missing(", ".ne_missing("]), right, ")")
            return Expr("bool", "(", left, f" {operator} ", right, ")")

        def logic():
            left, right = self.make("bool", depth, one), self.make("bool", depth, one)
            return Expr("bool", "(", left, f" {rng.choice('&|^')} ", right, ")")

        def negation():
            return Expr("bool", "(~", self.make("bool", depth, one), ")")

        def null_test():
            return Expr("bool", self.make(self.any_family(), depth, one), rng.choice([".is_null()", ".is_not_null()"]))

        def between():
            family = rng.choice([f for f in self.families if f not in ("bool", "binary")] or ["int"])
            low, high = self.constant(family), self.constant(family)
            closed = rng.choice(["", ", closed='left'", ", closed='right'", ", closed='none'"])
            return Expr("bool", self.make(family, depth, one), ".is_between(", low, ", ", high, f"{closed})")

        def membership():
            family = rng.choice([f for f in self.families if f in ("int", "text", "date")] or ["int"])
            pool = {"int": [0, 1, 2, 5, -1, None], "text": [*TEXTS[:8], None], "date": [date(1970, 1, 1), None]}[family]
            values = rng.sample(pool, rng.randint(1, min(3, len(pool))))
            if values == [None]:
                values = [pool[0]]
            options = rng.choice(["", "", ", nulls_equal=True"])
            text = f".is_in([{', '.join(map(literal, values))}]{options})"
            return Expr("bool", self.make(family, depth, one), text)

        def text_test():
            needle = rng.choice(["'a'", "''", "'é'", "'longer'", "'%_'", "'13'"])
            method = rng.choice(["starts_with({})", "ends_with({})", "contains({}, literal=True)"])
            pattern = rng.choice(["'a.*b'", "'^a'", "'[A-Z]'", "'t+e'", "'.'"])
            text = method.format(needle) if rng.random() < 0.7 else f"contains({pattern})"
            return Expr("bool", self.make("text", depth, one), f".str.{text}")

        makers = [comparison, comparison, comparison, logic, logic, negation, null_test, between, membership]
        makers += self.general("bool", depth, one)
        if "text" in self.families:
            makers.append(text_test)
        if "float" in self.families:
            makers.append(self.call("bool", "float", [".is_nan()", ".is_not_nan()", ".is_finite()"], depth, one))
        return makers

    def make_int(self, depth, one):
        makers = self.general("int", depth, one)
        makers += [self.binary_operator("int", ["+", "-", "*", "//", "%"], depth, one)] * 3
        casts = [f".cast(pl.{name}, strict=False)" for name in ("Int8", "Int32", "Int64", "UInt8", "UInt64")]
        makers.append(self.call("int", self.rng.choice(["int", "float", "bool"]), casts, depth, one))
        makers.append(self.call("int", "int", [".abs()"], depth, one))
        if "text" in self.families:
            makers.append(self.call("int", "text", [".str.len_bytes()", ".str.len_chars()"], depth, one))
        if "date" in self.families:
            parts = [f".dt.{part}()" for part in ("year", "month", "day", "weekday", "ordinal_day", "quarter")]
            makers.append(self.call("int", "date", parts, depth, one))
        if "datetime" in self.families:
            parts = [f".dt.{part}()" for part in ("year", "month", "day", "hour", "minute", "second")]
            makers.append(self.call("int", "datetime", parts, depth, one))
        return makers

    def make_float(self, depth, one):
        makers = self.general("float", depth, one)
        makers += [self.binary_operator("float", ["+", "-", "*", "/"], depth, one)] * 2

        def quotient():
            return Expr("float", "(", self.make("int", depth, one), " / ", self.make("int", depth, one), ")")

        def mixed():
            other = self.make("int", depth, one)
            return Expr("float", "(", self.make("float", depth, one), f" {self.rng.choice('+-*')} ", other, ")")

        makers += [quotient, mixed, self.call("float", "float", [".abs()", ".fill_nan(0.5)"], depth, one)]
        casts = [".cast(pl.Float64)", ".cast(pl.Float32)"]
        makers.append(self.call("float", self.rng.choice(["int", "float", "bool"]), casts, depth, one))
        return makers

    def make_decimal(self, depth, one):
        makers = self.general("decimal", depth, one)
        return makers + [self.binary_operator("decimal", ["+", "-", "*"], depth, one)] * 2

    def make_text(self, depth, one):
        makers = self.general("text", depth, one)
        methods = [".str.to_uppercase()", ".str.to_lowercase()", ".str.slice(1, 2)", ".str.slice(0, 1)"]
        methods += [".str.slice(-2)", ".str.strip_chars()", ".str.head(2)"]
        makers += [self.call("text", "text", methods, depth, one)] * 2
        makers.append(self.binary_operator("text", ["+"], depth, one))
        makers.append(self.call("text", "int", [".cast(pl.String)"], depth, one))
        return makers

    def make_binary(self, depth, one):
        return self.general("binary", depth, one)

    def make_date(self, depth, one):
        makers = self.general("date", depth, one)
        if "datetime" in self.families:
            makers.append(self.call("date", "datetime", [".cast(pl.Date)", ".dt.date()"], depth, one))
        return makers

    def make_datetime(self, depth, one):
        makers = self.general("datetime", depth, one)
        makers.append(self.call("datetime", "date", [".cast(pl.Datetime('us'))"], depth, one))

        def moved():
            amount = self.constant("duration")
            return Expr("datetime", "(", self.make("datetime", depth, one), f" {self.rng.choice('+-')} ", amount, ")")

        return [*makers, moved]

    def make_duration(self, depth, one):
        makers = self.general("duration", depth, one)

        def difference():
            family = self.rng.choice(["date", "datetime"])
            return Expr("duration", "(", self.make(family, depth, one), " - ", self.make(family, depth, one), ")")

        return [*makers, difference, self.binary_operator("duration", ["+", "-"], depth, one)]

    def make_time(self, depth, one):
        return self.general("time", depth, one)

    def aggregate(self, family, depth):
        """A reduction that yields one value of a family."""
        rng = self.rng
        choices = []

        def of(argument_family, method, order_sensitive=False):
            def reduction():
                argument = self.make(argument_family, depth - 1)
                return Expr(family, argument, method, order_sensitive=order_sensitive)

            choices.append(reduction)

        if family not in ("binary",):
            of(family, ".min()")
            of(family, ".max()")
        if self.ordered or family == "binary" and self.ordered:
            of(family, ".first()", order_sensitive=True)
            of(family, ".last()", order_sensitive=True)
        if family in ("int", "float", "decimal", "duration"):
            of(family, ".sum()")
            of(family, ".sum()")
        if family == "int":
            choices.append(lambda: Expr("int", "pl.len()"))
            of("bool", ".sum()")
            for method in (".count()", ".len()", ".n_unique()", ".null_count()"):
                of(self.any_family(), method)
        if family == "float":
            of(rng.choice(["int", "float"]), ".mean()")
            of("float", ".mean()")
            of("int", ".std()")
            of("float", ".var()")
        if family == "bool":
            of("bool", ".any()")
            of("bool", ".all()")
        if not choices:
            return self.constant(family)
        return rng.choice(choices)()

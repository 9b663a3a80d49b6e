"""GroupBy and LazyGroupBy: what to compute for groups of rows with equal keys."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.exceptions import Removed
from nanuk.parse import parse_exprs, parse_predicates


class LazyGroupBy:
    """Groups of a query's rows, from LazyFrame.group_by."""

    def __init__(self, plan, keys: list, maintain_order: bool, predicates: list | None = None) -> None:
        self._plan = plan
        self._keys = keys
        self._maintain_order = maintain_order
        self._predicates = predicates or []

    def having(self, *predicates) -> LazyGroupBy:
        """Only groups for which all predicates, which are aggregations, are true."""
        return type(self)(
            self._plan, self._keys, self._maintain_order, [*self._predicates, *parse_predicates(predicates, {})]
        )

    def agg(self, *aggs, **named_aggs):
        """One row for each group: its keys and these expressions.

        An expression that does not aggregate gives a list for each group.
        """
        items = parse_exprs(aggs, named_aggs)
        if not self._predicates:
            return self._finish(self._plan._group_by(self._keys, items, self._maintain_order))
        names = [f"__having_{i}" for i in range(len(self._predicates))]
        tests = [_nanuk.parse(test).alias(name) for test, name in zip(self._predicates, names)]
        plan = self._plan._group_by(self._keys, items + tests, self._maintain_order)
        return self._finish(plan._filter(names)._drop(names, True))

    def map_groups(self, function, schema=None):
        """A Python function of the table of each group; the tables that it gives, one after the other.

        `schema` is that of the result, by default that of the rows. Raises ComputeError when the function fails.
        """
        from nanuk.host import map_parts, map_table

        keys, maintain_order = self._keys, self._maintain_order

        def call(frame):
            return map_parts(function, (part for _, part in GroupBy(frame._plan(), keys, maintain_order, df=frame)))

        return map_table(self._plan, call, schema, False)

    def _finish(self, plan):
        return plan

    def _all(self, function: str, *args, **options):
        return self.agg(_nanuk.col("*")._call(function, *args, **options))

    def all(self):
        """The values of each group as lists."""
        return self.agg(_nanuk.col("*"))

    def len(self, name: str | None = None):
        """How many rows each group has, in a column "len" or of another name."""
        expr = _nanuk.call("len")
        return self.agg(expr if name is None else expr.alias(name))

    def sum(self):
        """Sums of all columns."""
        return self._all("sum")

    def mean(self):
        """Means of all columns."""
        return self._all("mean")

    def min(self):
        """Smallest values of all columns."""
        return self._all("min")

    def max(self):
        """Largest values of all columns."""
        return self._all("max")

    def median(self):
        """Medians of all columns."""
        return self._all("median")

    def first(self, *, ignore_nulls: bool = False):
        """First values of all columns."""
        return self.agg(_nanuk.col("*").first(ignore_nulls=ignore_nulls))

    def last(self, *, ignore_nulls: bool = False):
        """Last values of all columns."""
        return self.agg(_nanuk.col("*").last(ignore_nulls=ignore_nulls))

    def n_unique(self):
        """How many different values all columns have."""
        return self._all("n_unique")

    def quantile(self, quantile, interpolation: str = "nearest"):
        """A quantile of all columns."""
        return self.agg(_nanuk.col("*").quantile(quantile, interpolation))

    def head(self, n: int = 5):
        """The first n rows of each group, groups one after the other."""
        return self._rows(lambda row, size: row._call("lt", n))

    def tail(self, n: int = 5):
        """The last n rows of each group, groups one after the other."""
        return self._rows(lambda row, size: row._call("ge", size._call("sub", n)))

    def _rows(self, keeps):
        """Rows of each group for which a test of their number within the group and its size holds."""
        keys = [_nanuk.parse(key) for key in self._keys]
        names = [key._output_name() for key in keys]
        if None in names:
            raise NotImplementedError("`head` and `tail` of groups by patterns or dtypes are not implemented yet")
        plan = self._plan._with_columns(keys, False)
        rest = [name for name in plan.collect_schema() if name not in names]
        size = _nanuk.call("len")._call("cast", dtype=_Int64).over(names)
        place = _nanuk.call("int_range", 0, _nanuk.call("len")).over(names)
        plan = plan._row_index("__row", 0)._with_columns(
            [_nanuk.col("__row")._call("min").over(names).alias("__group"), keeps(place, size).alias("__kept")], False
        )
        plan = plan._filter([_nanuk.col("__kept")])
        plan = plan._sort(["__group", "__row"], False, False, True)
        return self._finish(plan._select([*names, *rest], False))

    count = Removed("`len`")


class _Int64:
    _text = "Int64"


class GroupBy(LazyGroupBy):
    """Groups of a DataFrame's rows, from DataFrame.group_by. Iterates over pairs of a key, a tuple, and its rows."""

    def __init__(self, plan, keys: list, maintain_order: bool, predicates: list | None = None, df=None) -> None:
        super().__init__(plan, keys, maintain_order, predicates)
        self.df = df

    def having(self, *predicates) -> GroupBy:
        """Only groups for which all predicates, which are aggregations, are true."""
        groups = super().having(*predicates)
        groups.df = self.df
        return groups

    def map_groups(self, function):
        """A Python function of the table of each group; the tables that it gives, one after the other.

        Raises ComputeError when the function fails.
        """
        from nanuk.host import map_parts

        return map_parts(function, (part for _, part in self))

    def _finish(self, plan):
        return plan._collect()

    def __iter__(self):
        rows_of = {}
        for row, key in enumerate(self._plan._select(self._keys, True)._collect().rows()):
            rows_of.setdefault(key, []).append(row)
        for key, rows in rows_of.items():
            yield key, self.df._take(rows)

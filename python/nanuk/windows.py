"""Windows over an index: rolling, group_by_dynamic and upsample; joins by nearness; what their groups offer."""

from __future__ import annotations

from datetime import timedelta

from nanuk import _nanuk
from nanuk.group_by import LazyGroupBy
from nanuk.parse import duration_text, flatten, parse_exprs


def _duration(value) -> str | None:
    return None if value is None else duration_text(value)


class LazyWindowGroupBy(LazyGroupBy):
    """Windows of a query's rows, from LazyFrame.rolling or LazyFrame.group_by_dynamic."""

    def __init__(
        self, plan, keys: list, maintain_order: bool = True, predicates=None, *, index=None, options=None
    ) -> None:
        super().__init__(plan, keys, maintain_order, predicates)
        self._index = index
        self._options = options

    def _same(self, predicates: list):
        return type(self)(
            self._plan, self._keys, self._maintain_order, predicates, index=self._index, options=self._options
        )

    def having(self, *predicates):
        """Only windows for which all predicates, which are aggregations, are true."""
        from nanuk.parse import parse_predicates

        return self._same([*self._predicates, *parse_predicates(predicates, {})])

    def _windows(self, items: list):
        return _nanuk.windows(self._plan, [self._index], self._keys, items, *self._options)

    def agg(self, *aggs, **named_aggs):
        """One row for each window: its keys, its place on the index and these expressions.

        Raises InvalidOperationError when the index is not in order, ComputeError when it has nulls or is no integer,
        Date or Datetime.
        """
        items = parse_exprs(aggs, named_aggs)
        if not self._predicates:
            return self._finish(self._windows(items))
        names = [f"__having_{i}" for i in range(len(self._predicates))]
        tests = [_nanuk.parse(test).alias(name) for test, name in zip(self._predicates, names)]
        return self._finish(self._windows(items + tests)._filter(names)._drop(names, True))

    def map_groups(self, function, schema=None):
        """A Python function of the table of each window; the tables that it gives, one after the other."""
        from nanuk.host import map_parts, map_table

        index, keys, options, plan = self._index, self._keys, self._options, self._plan

        def call(frame):
            groups = WindowGroupBy(frame._plan(), keys, index=index, options=options)
            groups.df = frame
            return map_parts(function, (part for _, part in groups))

        return map_table(plan, call, schema, False)


class WindowGroupBy(LazyWindowGroupBy):
    """Windows of a DataFrame's rows. Iterates over pairs of a key, a tuple, and the window's rows."""

    df = None

    def _same(self, predicates: list):
        made = super()._same(predicates)
        made.df = self.df
        return made

    def _finish(self, plan):
        return plan._collect()

    def map_groups(self, function, schema=None):
        """A Python function of the table of each window; the tables that it gives, one after the other."""
        from nanuk.host import map_parts

        return map_parts(function, (part for _, part in self))

    def __iter__(self):
        plan = self._plan._row_index("__row", 0)
        made = _nanuk.windows(plan, [self._index], self._keys, [_nanuk.col("__row")], *self._options)._collect()
        rows = made.get_column("__row").to_list()
        for key, places in zip(made.drop("__row").rows(), rows):
            yield key, self.df._take(places)


def _keys_of(group_by) -> list:
    return [] if group_by is None else parse_exprs(tuple(flatten(group_by)), {})


def rolling(cls, plan, index_column, period, offset, closed: str, group_by):
    """The windows of LazyFrame.rolling and DataFrame.rolling."""
    options = (None, _duration(period), _duration(offset), closed, None, None, False)
    return cls(plan, _keys_of(group_by), index=index_column, options=options)


def group_by_dynamic(
    cls, plan, index_column, every, period, offset, include_boundaries, closed, label, group_by, start_by
):
    """The windows of LazyFrame.group_by_dynamic and DataFrame.group_by_dynamic."""
    options = (_duration(every), _duration(period), _duration(offset), closed, label, start_by, include_boundaries)
    return cls(plan, _keys_of(group_by), index=index_column, options=options)


def join_asof(
    left, right, left_on, right_on, on, by_left, by_right, by, strategy, suffix, tolerance, coalesce, allow_exact_matches,
    check_sortedness,
):  # fmt: skip
    """LazyFrame.join_asof."""
    if on is not None:
        left_on = right_on = on
    if left_on is None or right_on is None:
        raise ValueError("you should pass the column to join on as an argument")
    if by is not None:
        by_left = by_right = by
    if (by_left is None) != (by_right is None):
        raise ValueError("you should pass both `by_left` and `by_right` or neither")
    keys = [[] if keys is None else flatten(keys) for keys in (by_left, by_right)]
    if isinstance(tolerance, timedelta):
        tolerance = duration_text(tolerance)
    elif tolerance is not None:
        tolerance = str(tolerance)
    return _nanuk.join_asof(
        left, right, [left_on, right_on], *keys, strategy, tolerance, suffix, not coalesce, not allow_exact_matches,
        not check_sortedness,
    )  # fmt: skip


def upsample(df, time_column: str, every, group_by, maintain_order: bool):
    """DataFrame.upsample: rows for every step between the first and the last time, null where there was none."""
    from nanuk.functions import concat
    from nanuk.ranges import int_range
    from nanuk.temporal import datetime_range

    keys = [] if group_by is None else flatten(group_by)
    every = duration_text(every)
    dtype = df.schema[time_column]
    parts = df.partition_by(keys, maintain_order=True) if keys else [df]
    made = []
    for part in parts:
        times = part.get_column(time_column)
        if len(times) == 0:
            made.append(part)
            continue
        first, last = times[0], times[-1]
        if every.endswith("i"):
            grid = int_range(first, last + 1, int(every[:-1]), dtype=dtype, eager=True).alias(time_column)
        else:
            grid = datetime_range(first, last, every, eager=True).alias(time_column).cast(dtype)
        grid = grid.to_frame()
        if keys:
            grid = grid.with_columns(
                _nanuk.lit(part.get_column(key)[0])._call("cast", dtype=df.schema[key]).alias(key) for key in keys
            )
        made.append(grid.join(part, on=[time_column, *keys], how="left", maintain_order="left").select(df.columns))
    return concat(made)

"""QueryOptFlags: which optimisations a query runs with."""

from __future__ import annotations

# What each flag turns off in the engine; flags of rules that this optimiser does not have are kept and do nothing.
_SKIPS = {
    "predicate_pushdown": 1,
    "projection_pushdown": 2,
    "simplify_expression": 8,
    "slice_pushdown": 4,
    "comm_subplan_elim": 16,
    "comm_subexpr_elim": 0,
    "cluster_with_columns": 0,
    "check_order_observe": 0,
    "fast_projection": 0,
    "sort_collapse": 0,
    "pre_partition_hive": 0,
    "join_order": 32,
    "row_estimate": 64,
}


class QueryOptFlags:
    """Which optimisations a query runs with; all by default. Each flag is an attribute that may be set."""

    __slots__ = ("_off",)

    def __init__(
        self, *, predicate_pushdown: bool | None = None, projection_pushdown: bool | None = None,
        simplify_expression: bool | None = None, slice_pushdown: bool | None = None,
        comm_subplan_elim: bool | None = None, comm_subexpr_elim: bool | None = None,
        cluster_with_columns: bool | None = None, check_order_observe: bool | None = None,
        fast_projection: bool | None = None, sort_collapse: bool | None = None, pre_partition_hive: bool | None = None,
        join_order: bool | None = None, row_estimate: bool | None = None,
    ) -> None:  # fmt: skip
        options = dict(locals())
        del options["self"]
        self._off: set[str] = set()
        self.update(**options)

    @classmethod
    def none(
        cls, *, predicate_pushdown: bool | None = None, projection_pushdown: bool | None = None,
        simplify_expression: bool | None = None, slice_pushdown: bool | None = None,
        comm_subplan_elim: bool | None = None, comm_subexpr_elim: bool | None = None,
        cluster_with_columns: bool | None = None, check_order_observe: bool | None = None,
        fast_projection: bool | None = None, sort_collapse: bool | None = None, pre_partition_hive: bool | None = None,
        join_order: bool | None = None, row_estimate: bool | None = None,
    ) -> QueryOptFlags:  # fmt: skip
        """No optimisation, save those given."""
        options = dict(locals())
        del options["cls"]
        return cls().no_optimizations().update(**options)

    def update(
        self, *, predicate_pushdown: bool | None = None, projection_pushdown: bool | None = None,
        simplify_expression: bool | None = None, slice_pushdown: bool | None = None,
        comm_subplan_elim: bool | None = None, comm_subexpr_elim: bool | None = None,
        cluster_with_columns: bool | None = None, check_order_observe: bool | None = None,
        fast_projection: bool | None = None, sort_collapse: bool | None = None, pre_partition_hive: bool | None = None,
        join_order: bool | None = None, row_estimate: bool | None = None,
    ) -> QueryOptFlags:  # fmt: skip
        """Set the flags given and return the object."""
        options = dict(locals())
        del options["self"]
        for name, value in options.items():
            if value is not None:
                setattr(self, name, value)
        return self

    def no_optimizations(self) -> QueryOptFlags:
        """Turn all optimisations off and return the object."""
        self._off = set(_SKIPS)
        return self

    def __copy__(self) -> QueryOptFlags:
        copy = type(self)()
        copy._off = set(self._off)
        return copy

    def __deepcopy__(self, memo=None) -> QueryOptFlags:
        return self.__copy__()

    @property
    def _skip(self) -> int:
        skip = 0
        for name in self._off:
            skip |= _SKIPS[name]
        return skip

    def __str__(self) -> str:
        return "QueryOptFlags(" + ", ".join(f"{name}={getattr(self, name)}" for name in _SKIPS) + ")"

    __repr__ = __str__


def _flag(name: str) -> property:
    def read(self) -> bool:
        return name not in self._off

    def write(self, value: bool) -> None:
        self._off.discard(name) if value else self._off.add(name)

    return property(read, write, doc=f"Whether queries use {name.replace('_', ' ')}.")


for _name in _SKIPS:
    setattr(QueryOptFlags, _name, _flag(_name))

DEFAULT_QUERY_OPT_FLAGS = QueryOptFlags()

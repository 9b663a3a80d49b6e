"""Engines as objects, where "auto", "in-memory" or "streaming" would do: all of them are the one engine here."""

from __future__ import annotations

from nanuk.opt_flags import DEFAULT_QUERY_OPT_FLAGS


class Engine:
    """What runs queries: its methods do what those of LazyFrame do."""

    name = "auto"

    @property
    def plan_engine(self) -> str:
        """The engine that plans are made for."""
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def collect(self, lf, *, optimizations=DEFAULT_QUERY_OPT_FLAGS, background: bool = False, post_opt_callback=None):
        """Run a query."""
        return lf.collect(optimizations=optimizations)

    def collect_async(self, lf, *, optimizations=DEFAULT_QUERY_OPT_FLAGS, gevent: bool = False):
        """An awaitable that runs a query."""
        return lf.collect_async(optimizations=optimizations, gevent=gevent)

    def collect_batches(self, lf, *, optimizations=DEFAULT_QUERY_OPT_FLAGS, maintain_order: bool = True,
                        chunk_size: int | None = None, lazy: bool = False):  # fmt: skip
        """The result of a query in pieces."""
        return lf.collect_batches(chunk_size=chunk_size, optimizations=optimizations)

    def collect_all(self, lfs, *, optimizations=DEFAULT_QUERY_OPT_FLAGS) -> list:
        """Run several queries."""
        return [lf.collect(optimizations=optimizations) for lf in lfs]


class InMemoryEngine(Engine):
    """The engine under the name that Polars has for the one that keeps intermediate results in memory."""

    name = "in-memory"

    def __init__(self, *, monitoring=None) -> None:
        self.monitoring = monitoring


class StreamingEngine(Engine):
    """The engine under the name that Polars has for the one that works in batches."""

    name = "streaming"

    def __init__(self, *, monitoring=None) -> None:
        self.monitoring = monitoring

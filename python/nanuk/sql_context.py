"""SQL over frames: `sql` finds them by their names in Python, an SQLContext keeps a list of them."""

from __future__ import annotations

import inspect
import re
import sys
import types

from nanuk import _nanuk
from nanuk.dataframe import DataFrame
from nanuk.lazyframe import LazyFrame
from nanuk.series import Series


def _is_foreign_frame(obj) -> bool:
    """Tables of pandas and pyarrow, without importing either."""
    pandas, pyarrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    return (pandas is not None and isinstance(obj, (pandas.DataFrame, pandas.Series))) or (
        pyarrow is not None and isinstance(obj, (pyarrow.Table, pyarrow.RecordBatch))
    )


def _is_frame(obj) -> bool:
    return isinstance(obj, (DataFrame, LazyFrame, Series)) or _is_foreign_frame(obj)


def _lazy(obj) -> LazyFrame:
    if isinstance(obj, LazyFrame):
        return obj
    if isinstance(obj, DataFrame):
        return obj.lazy()
    if isinstance(obj, Series):
        return obj.to_frame().lazy()
    if _is_foreign_frame(obj):
        from nanuk.convert import from_arrow, from_pandas

        pandas = sys.modules.get("pandas")
        is_pandas = pandas is not None and isinstance(obj, (pandas.DataFrame, pandas.Series))
        return _lazy(from_pandas(obj) if is_pandas else from_arrow(obj))
    msg = f"unrecognised frame type: {type(obj).__module__}.{type(obj).__qualname__}"
    raise ValueError(msg)


def _frames_of_callers(is_wanted, n: int | None = None, names=None) -> dict:
    """Frames among the variables of the callers outside this package, the nearest and latest ones first."""
    found: dict = {}
    frame = inspect.currentframe()
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith("nanuk."):
            for scope in (frame.f_locals, frame.f_globals):
                for name, obj in reversed(list(scope.items())):
                    if n is not None and len(found) >= n:
                        return found
                    if name not in found and (names is None or name in names) and is_wanted(obj):
                        found[name] = obj
        frame = frame.f_back
    return found


class SQLContext:
    """Tables by name, and queries over them.

    Tables are DataFrames, LazyFrames, Series, and tables of pandas and pyarrow. Files are tables too:
    `select * from 'x.parquet'`. With `eager`, `execute` gives a DataFrame.
    """

    def __init__(
        self, frames=None, *, register_globals: bool | int = False, eager: bool = False, **named_frames
    ) -> None:
        self._context = _nanuk.sql_context()
        self._eager = eager
        self._scopes: list[set[str]] = []
        frames = dict(frames or {})
        if register_globals:
            n = None if register_globals is True else register_globals
            for name, obj in _frames_of_callers(_is_frame, n).items():
                if name not in frames and name not in named_frames:
                    named_frames[name] = obj
        self.register_many(frames, **named_frames)

    @classmethod
    def execute_global(cls, query: str, *, eager: bool = False):
        """Run a query over the frames among the caller's variables that it names."""
        words = set(re.findall(r"\w+", query))
        with cls(_frames_of_callers(_is_frame, names=words)) as context:
            return context.execute(query, eager=eager)

    __class_getitem__ = classmethod(types.GenericAlias)

    def __enter__(self) -> SQLContext:
        self._scopes.append(set(self.tables()))
        return self

    def __exit__(
        self, exc_type: type | None, exc_val: BaseException | None, exc_tb: types.TracebackType | None
    ) -> None:
        self.unregister(set(self.tables()) - self._scopes.pop())

    def __repr__(self) -> str:
        return f"<SQLContext [tables:{len(self.tables())}] at 0x{id(self):x}>"

    def execute(self, query: str, *, eager: bool | None = None):
        """The answer to one statement: a LazyFrame, or a DataFrame when eager.

        Raises SQLInterfaceError for text that is not understood and for unknown tables and functions,
        SQLSyntaxError for text that breaks a rule, ColumnNotFoundError for unknown columns; messages point to the
        place in the text.
        """
        answer = _nanuk.sql_execute(self._context, query)
        return answer.collect() if (self._eager if eager is None else eager) else answer

    def register(self, name: str, frame) -> SQLContext:
        """Add a table, or replace the one of this name. None is a table without columns."""
        _nanuk.sql_register(self._context, name, _lazy(DataFrame() if frame is None else frame))
        return self

    def register_globals(self, n: int | None = None, *, all_compatible: bool = True) -> SQLContext:
        """Add the frames among the caller's variables, at most n; other libraries' tables too if `all_compatible`."""
        is_wanted = _is_frame if all_compatible else lambda obj: isinstance(obj, (DataFrame, LazyFrame, Series))
        return self.register_many(_frames_of_callers(is_wanted, n))

    def register_many(self, frames=None, **named_frames) -> SQLContext:
        """Add tables by name."""
        for name, frame in {**(frames or {}), **named_frames}.items():
            self.register(name, frame)
        return self

    def unregister(self, names) -> SQLContext:
        """Drop a table, or several; names that are unknown do nothing."""
        for name in [names] if isinstance(names, str) else names:
            _nanuk.sql_unregister(self._context, name)
        return self

    def tables(self) -> list[str]:
        """Names of the tables, sorted."""
        return sorted(_nanuk.sql_tables(self._context))


def sql(query: str, *, eager: bool = False):
    """The answer to a query in SQL over the frames among the caller's variables, and over files in quotes.

    A LazyFrame, or a DataFrame when `eager`. Raises what `SQLContext.execute` raises.
    """
    return SQLContext.execute_global(query, eager=eager)


def sql_expr(sql):
    """Expressions from SQL, one or a list as they are given. Raises SQLInterfaceError for text that is none."""
    return _nanuk.sql_expr(sql) if isinstance(sql, str) else [_nanuk.sql_expr(text) for text in sql]

"""Expr.name and Expr.meta: output names, and questions about an expression."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.exceptions import ComputeError, Removed


class ExprName:
    """Functions of output names."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    def keep(self):
        """The name of the leftmost column, whatever aliases say."""
        return self._expr._rename("keep")

    def prefix(self, prefix: str):
        """Something before the column's name."""
        return self._expr._rename("prefix", prefix)

    def suffix(self, suffix: str):
        """Something behind the column's name."""
        return self._expr._rename("suffix", suffix)

    def prefix_fields(self, prefix: str):
        """Something before the names of a Struct's fields."""
        return self._expr._call("struct.affix_fields", prefix=prefix)

    def suffix_fields(self, suffix: str):
        """Something behind the names of a Struct's fields."""
        return self._expr._call("struct.affix_fields", suffix=suffix)

    def to_lowercase(self):
        """The column's name in small letters."""
        return self._expr._rename("to_lowercase")

    def to_uppercase(self):
        """The column's name in capital letters."""
        return self._expr._rename("to_uppercase")

    def map(self, function):
        """The name that a Python function makes of the column's name.

        Raises NotImplementedError for expressions that stand for columns that only the schema knows.
        """
        name = self._expr._rename("keep")._output_name()
        if name is None:
            raise NotImplementedError("`name.map` of columns that only the schema knows is not implemented yet")
        return self._expr.alias(function(name))

    def strip_prefix(self, prefix: str):
        """The column's name without a prefix, where it has it."""
        return self.map(lambda name: name.removeprefix(prefix))

    def strip_suffix(self, suffix: str):
        """The column's name without a suffix, where it has it."""
        return self.map(lambda name: name.removesuffix(suffix))

    def replace(self, pattern: str, value: str, *, literal: bool = False):
        """The column's name with what matches a pattern replaced."""
        from nanuk.series import Series

        return self.map(lambda name: Series("", [name]).str.replace_all(pattern, value, literal=literal).item())


class ExprMeta:
    """Questions about an expression."""

    __slots__ = ("_expr",)

    def __init__(self, expr) -> None:
        self._expr = expr

    def __str__(self) -> str:
        return str(self._expr)

    __repr__ = __str__

    def __hash__(self) -> int:
        return hash(self._expr._serialise())

    def __eq__(self, other) -> bool:
        return self.eq(other._expr if isinstance(other, ExprMeta) else other)

    def __ne__(self, other) -> bool:
        return not self == other

    def eq(self, other) -> bool:
        """Whether both expressions are the same."""
        return self._expr._serialise() == other._serialise()

    def ne(self, other) -> bool:
        """Whether the expressions differ."""
        return not self.eq(other)

    def output_name(self, *, raise_if_undetermined: bool = True) -> str | None:
        """The name of the result.

        Raises ComputeError when only the schema decides, or returns None.
        """
        name = self._expr._output_name()
        if name is None and raise_if_undetermined:
            raise ComputeError("unable to find root column name for expression: the schema decides its names")
        return name

    def root_names(self) -> list[str]:
        """Names of the columns that occur."""
        return self._expr._root_names()

    def has_multiple_outputs(self) -> bool:
        """Whether the expression may stand for several columns."""
        return self._expr._output_name() is None

    def is_column_selection(self, *, allow_aliasing: bool = False) -> bool:
        """Whether the expression only chooses columns."""
        expr = self.undo_aliases() if allow_aliasing else self._expr
        return expr._is_selector() or ExprMeta(expr).is_column()

    def is_column(self) -> bool:
        """Whether the expression is a column."""
        name = self._expr._output_name()
        return name is not None and self.eq(_nanuk.col(name))

    def is_regex_projection(self) -> bool:
        """Whether the expression chooses columns by a pattern."""
        return str(self._expr).startswith(("cs.matches(", 'col("^'))

    def is_literal(self, *, allow_aliasing: bool = False) -> bool:
        """Whether the expression is a value, not computed of anything."""
        expr = self.undo_aliases() if allow_aliasing else self._expr
        return expr._form() in ("literal", "series")

    def undo_aliases(self):
        """The expression without the names that were given to its result."""
        expr = self._expr
        while expr._form() in ("alias", "rename"):
            expr = expr._inputs()[0]
        return expr

    def pop(self, *, schema=None) -> list:
        """The expressions that this one is computed of, last one first."""
        return self._expr._inputs()[::-1]

    def as_selector(self):
        """The expression, which only chooses columns, as a selector.

        Raises InvalidOperationError when it does more.
        """
        from nanuk.exceptions import InvalidOperationError
        from nanuk.selectors import Selector, by_name

        if self._expr._is_selector():
            return Selector._of(self._expr)
        if self.is_column():
            return by_name(self._expr._output_name())
        msg = f"cannot turn `{self._expr}` into selector"
        raise InvalidOperationError(msg)

    def as_expression(self):
        """A selector as an ordinary expression."""
        from nanuk.expr import Expr

        expr = Expr.__new__(Expr)
        expr._set(self._expr)
        return expr

    def serialize(self, file=None, *, format: str = "binary"):
        """Write to a file or path, or return bytes, for Expr.deserialize."""
        from nanuk.files import write_bytes

        return write_bytes(self._expr._serialise(), file)

    write_json = Removed("`serialize`")

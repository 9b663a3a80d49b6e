"""when / then / otherwise: the expression that chooses by conditions."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.expr import Expr
from nanuk.parse import parse_predicates


def condition(predicates: tuple, constraints: dict) -> _nanuk.Expr:
    """All predicates as one expression."""
    items = parse_predicates(predicates, constraints)
    result = _nanuk.parse(items[0]) if items else _nanuk.lit(True)
    for item in items[1:]:
        result = result._call("and", _nanuk.parse(item))
    return result


class When:
    """A condition that waits for its value; see `when`."""

    __slots__ = ("_cases", "_predicate")

    def __init__(self, cases: tuple, predicate: _nanuk.Expr) -> None:
        self._cases = cases
        self._predicate = predicate

    def then(self, statement) -> Then:
        """The value where the condition is true; text means a column."""
        return Then._of((*self._cases, (self._predicate, _nanuk.parse(statement))))


class Then(Expr):
    """Conditions with their values, null where none is true; an expression that can go on with `when` or `otherwise`."""

    __slots__ = ("_cases",)
    __hash__ = None

    @classmethod
    def _of(cls, cases: tuple) -> Then:
        then = cls.__new__(cls)
        then._cases = cases
        then._set(_chain(cases, _nanuk.lit(None)))
        return then

    def when(self, *predicates, **constraints) -> When:
        """A further condition, for rows where none before is true."""
        return When(self._cases, condition(predicates, constraints))

    def otherwise(self, statement) -> Expr:
        """The value where no condition is true; text means a column."""
        return _chain(self._cases, _nanuk.parse(statement))

    def __reduce__(self):
        from nanuk.expr import _restore

        return (_restore, (Expr, self._serialise()))


def _chain(cases: tuple, otherwise: _nanuk.Expr) -> _nanuk.Expr:
    for predicate, statement in reversed(cases):
        otherwise = _nanuk.call("when", predicate, statement, otherwise)
    return otherwise


def when(*predicates, **constraints) -> When:
    """Choose values by a condition: `when(predicate).then(value).otherwise(other)`.

    Several predicates must all be true; keyword arguments are columns and the values they must equal. Where a
    predicate is null the next condition is tried.
    """
    return When((), condition(predicates, constraints))

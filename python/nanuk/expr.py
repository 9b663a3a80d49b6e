"""Expr: an expression over columns. Operators live in the extension module; methods build calls of engine functions by
name, with the positional arguments as expressions and the keyword arguments as options."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.exceptions import Removed
from nanuk.expr_math import ExprMath
from nanuk.expr_rows import ExprRows
from nanuk.expr_stats import ExprStats
from nanuk.expr_windows import ExprWindows
from nanuk.parse import dtype_text, flatten, is_several


class Expr(_nanuk.Expr, ExprRows, ExprMath, ExprStats, ExprWindows):
    """An expression: what to compute, to be used in select, with_columns, filter, agg and the like.

    Made by `col`, `lit` and other functions; operators and methods make new ones. Immutable. Comparison makes an
    expression, so `bool(expr)` raises TypeError.
    """

    __slots__ = ()
    __hash__ = None

    # ---- Namespaces ----

    @property
    def str(self):
        """Functions of text."""
        from nanuk.expr_str import ExprStr

        return ExprStr(self)

    @property
    def dt(self):
        """Functions of dates, times and durations."""
        from nanuk.expr_dt import ExprDt

        return ExprDt(self)

    @property
    def name(self):
        """Functions of output names."""
        from nanuk.expr_name import ExprName

        return ExprName(self)

    @property
    def list(self):
        """Functions of lists."""
        from nanuk.expr_list import ExprList

        return ExprList(self)

    @property
    def arr(self):
        """Functions of Arrays."""
        from nanuk.expr_arr import ExprArr

        return ExprArr(self)

    @property
    def struct(self):
        """Functions of Structs."""
        from nanuk.expr_struct import ExprStruct

        return ExprStruct(self)

    @property
    def bin(self):
        """Functions of Binary."""
        from nanuk.expr_bin import ExprBin

        return ExprBin(self)

    @property
    def cat(self):
        """Functions of Categoricals and Enums."""
        from nanuk.expr_cat import ExprCat

        return ExprCat(self)

    @property
    def map(self):
        """Functions of Maps."""
        from nanuk.expr_cat import ExprMap

        return ExprMap(self)

    @property
    def ext(self):
        """Functions of extension dtypes."""
        from nanuk.expr_cat import ExprExt

        return ExprExt(self)

    @property
    def meta(self):
        """Questions about the expression itself."""
        from nanuk.expr_name import ExprMeta

        return ExprMeta(self)

    # ---- Copies and pickles ----

    def __reduce__(self):
        return (_restore, (type(self), self._serialise()))

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo=None) -> Expr:
        return self

    def __getstate__(self) -> bytes:
        return self._serialise()

    def __setstate__(self, state: bytes) -> None:
        self._set(_nanuk.expr_deserialise(state))

    @classmethod
    def deserialize(cls, source, *, format: str = "binary") -> Expr:
        """An expression from what `Expr.meta.serialize` wrote: a path, an open file or bytes.

        Raises ComputeError when it is no such thing.
        """
        from nanuk.files import read_bytes

        return _nanuk.expr_deserialise(read_bytes(source))

    def _repr_html_(self) -> str:
        return repr(self)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        known = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or known is None or kwargs:
            msg = f"the NumPy function {ufunc.__name__!r} cannot be applied to an expression"
            raise TypeError(msg)
        return _nanuk.call(known, *(_nanuk.lit(i) if isinstance(i, str) else i for i in inputs))

    # ---- Operators as methods ----

    def add(self, other) -> Expr:
        """Sum; text is concatenated."""
        return self._call("add", other)

    def sub(self, other) -> Expr:
        """Difference."""
        return self._call("sub", other)

    def mul(self, other) -> Expr:
        """Product."""
        return self._call("mul", other)

    def truediv(self, other) -> Expr:
        """Quotient as a float; by zero it is inf or NaN."""
        return self._call("truediv", other)

    def floordiv(self, other) -> Expr:
        """Quotient rounded towards minus infinity; an integer by zero is null."""
        return self._call("floordiv", other)

    def truncdiv(self, other) -> Expr:
        """Quotient rounded towards zero."""
        return self._call("truncdiv", other)

    def mod(self, other) -> Expr:
        """Remainder of floordiv."""
        return self._call("mod", other)

    def pow(self, exponent) -> Expr:
        """Power. An integer base keeps its dtype."""
        return self._call("pow", exponent)

    def neg(self) -> Expr:
        """Negation."""
        return self._call("neg")

    def abs(self) -> Expr:
        """Absolute value."""
        return self._call("abs")

    def sign(self) -> Expr:
        """-1, 0 or 1."""
        return self._call("sign")

    def eq(self, other) -> Expr:
        """Equality; null beside null gives null. NaN equals NaN."""
        return self._call("eq", other)

    def ne(self, other) -> Expr:
        """Inequality; null beside null gives null."""
        return self._call("ne", other)

    def lt(self, other) -> Expr:
        """Less than."""
        return self._call("lt", other)

    def le(self, other) -> Expr:
        """Less than or equal."""
        return self._call("le", other)

    def gt(self, other) -> Expr:
        """Greater than."""
        return self._call("gt", other)

    def ge(self, other) -> Expr:
        """Greater than or equal."""
        return self._call("ge", other)

    def eq_missing(self, other) -> Expr:
        """Equality where null equals null."""
        return self._call("eq_missing", other)

    def ne_missing(self, other) -> Expr:
        """Inequality where null equals null."""
        return self._call("ne_missing", other)

    def and_(self, *others) -> Expr:
        """Conjunction with all of the others."""
        result = self
        for other in others:
            result = result._call("and", other)
        return result

    def or_(self, *others) -> Expr:
        """Disjunction with all of the others."""
        result = self
        for other in others:
            result = result._call("or", other)
        return result

    def xor(self, other) -> Expr:
        """Exclusive or."""
        return self._call("xor", other)

    def not_(self) -> Expr:
        """Negation of Booleans; of integers, of all bits."""
        return self._call("not")

    # ---- Values ----

    def cast(self, dtype, *, strict: bool = True, wrap_numerical: bool = False) -> Expr:
        """Another dtype.

        A value that does not fit raises InvalidOperationError; with `strict=False` it becomes null, with
        `wrap_numerical` an integer is cut to its lowest bits.
        """
        return self._call("cast", dtype=_Dtype(dtype), strict=strict, wrap_numerical=wrap_numerical)

    def is_between(self, lower_bound, upper_bound, closed: str = "both") -> Expr:
        """Whether values lie between two bounds; text means columns. `closed`: "both", "left", "right" or "none"."""
        return self._call_columns("is_between", lower_bound, upper_bound, closed=closed)

    def is_in(self, other, *, nulls_equal: bool = False) -> Expr:
        """Whether values are among those of a list, set, Series or List expression.

        Null gives null unless `nulls_equal`.
        """
        if isinstance(other, _nanuk.Series):
            other = _nanuk.lit(other)._call("implode")
        elif not isinstance(other, (_nanuk.Expr, str)) and hasattr(other, "__iter__"):
            other = list(other)
        elif not isinstance(other, _nanuk.Expr):
            other = _nanuk.col(other) if isinstance(other, str) else _nanuk.lit(other)
        return self._call("is_in", other, nulls_equal=nulls_equal)

    def is_null(self) -> Expr:
        """Whether values are null."""
        return self._call("is_null")

    def is_not_null(self) -> Expr:
        """Whether values are not null."""
        return self._call("is_not_null")

    def is_nan(self) -> Expr:
        """Whether values are NaN."""
        return self._call("is_nan")

    def is_not_nan(self) -> Expr:
        """Whether values are not NaN."""
        return self._call("is_not_nan")

    def is_finite(self) -> Expr:
        """Whether values are finite."""
        return self._call("is_finite")

    def is_infinite(self) -> Expr:
        """Whether values are infinite."""
        return self._call("is_infinite")

    def fill_null(self, value=None, strategy: str | None = None, limit: int | None = None) -> Expr:
        """A value, or by a strategy another of the column, in place of nulls.

        Strategies: "forward", "backward", "min", "max", "mean", "zero", "one". Raises ValueError unless one of value
            and
        strategy is given, or for a limit of another strategy than the first two.
        """
        if value is not None and strategy is not None:
            raise ValueError("cannot specify both `value` and `strategy`")
        if value is None and strategy is None:
            raise ValueError("must specify either a fill `value` or `strategy`")
        if strategy not in ("forward", "backward") and limit is not None:
            raise ValueError("can only specify `limit` when strategy is set to 'backward' or 'forward'")
        if strategy == "forward":
            return self._call("forward_fill", limit=limit)
        if strategy == "backward":
            return self._call("backward_fill", limit=limit)
        if strategy in ("min", "max", "mean"):
            value = self._call(strategy)
        elif strategy in ("zero", "one"):
            value = _nanuk.lit(0 if strategy == "zero" else 1)
        elif strategy is not None:
            msg = f"strategy {strategy!r} is not supported"
            raise ValueError(msg)
        return self._call("fill_null", value)

    def fill_nan(self, value) -> Expr:
        """A value in place of NaN; None makes it null."""
        return self._call_columns("fill_nan", value)

    def drop_nulls(self) -> Expr:
        """The values that are not null."""
        return self._call("drop_nulls")

    # ---- Aggregations ----

    def sum(self) -> Expr:
        """Sum; 0 when there is nothing to add. 8 and 16-bit integers sum as Int64."""
        return self._call("sum")

    def mean(self) -> Expr:
        """Mean; null when there are no values."""
        return self._call("mean")

    def min(self) -> Expr:
        """Smallest value; NaN only when there is nothing else."""
        return self._call("min")

    def max(self) -> Expr:
        """Largest value; NaN only when there is nothing else."""
        return self._call("max")

    def nan_min(self) -> Expr:
        """Smallest value; NaN when there is one."""
        return self._call("nan_min")

    def nan_max(self) -> Expr:
        """Largest value; NaN when there is one."""
        return self._call("nan_max")

    def count(self) -> Expr:
        """How many values are not null."""
        return self._call("count")

    def len(self) -> Expr:
        """How many values there are, nulls included."""
        return self._call("len")

    def null_count(self) -> Expr:
        """How many values are null."""
        return self._call("null_count")

    def has_nulls(self) -> Expr:
        """Whether any value is null."""
        return self._call("null_count")._call("gt", 0)

    def product(self) -> Expr:
        """Product; 1 when there are no values."""
        return self._call("product")

    def std(self, ddof: int = 1) -> Expr:
        """Standard deviation with divisor n - ddof; null when that is not positive."""
        return self._call("std", ddof=ddof)

    def var(self, ddof: int = 1) -> Expr:
        """Variance with divisor n - ddof; null when that is not positive."""
        return self._call("var", ddof=ddof)

    def any(self, *, ignore_nulls: bool = True) -> Expr:
        """Whether any value is true; Kleene logic when nulls are not ignored."""
        return self._call("any", ignore_nulls=ignore_nulls)

    def all(self, *, ignore_nulls: bool = True) -> Expr:
        """Whether all values are true; Kleene logic when nulls are not ignored."""
        return self._call("all", ignore_nulls=ignore_nulls)

    def first(self, *, ignore_nulls: bool = False) -> Expr:
        """The first value."""
        return self._call("first", ignore_nulls=ignore_nulls) if ignore_nulls else self._call("first")

    def last(self, *, ignore_nulls: bool = False) -> Expr:
        """The last value."""
        return self._call("last", ignore_nulls=ignore_nulls) if ignore_nulls else self._call("last")

    def median(self) -> Expr:
        """Median; null when there are no values."""
        return self._call("median")

    def quantile(self, quantile, interpolation: str = "nearest") -> Expr:
        """A quantile: "nearest", "lower", "higher", "midpoint", "linear" or "equiprobable"."""
        if isinstance(quantile, _nanuk.Expr):
            raise NotImplementedError("an expression as `quantile` is not implemented yet")
        return self._call("quantile", quantile=float(quantile), interpolation=interpolation)

    def implode(self, *, maintain_order: bool = True) -> Expr:
        """All values as one list."""
        return self._call("implode")

    # ---- Windows ----

    def over(
        self,
        partition_by=None,
        *more_exprs,
        order_by=None,
        descending: bool = False,
        nulls_last: bool = False,
        mapping_strategy: str = "group_to_rows",
    ) -> Expr:
        """The expression within groups of rows with equal keys, brought back to the rows; text means columns.

        `order_by` orders the rows of a group beforehand. `mapping_strategy`: "group_to_rows" puts each result at its
        row,
        "join" gives every row the List of its group's results, "explode" strings the groups' results together; one
        value a group is repeated.

        Raises InvalidOperationError without keys and order, ShapeError where a group has another number of results than
        rows, ValueError for another strategy.
        """
        keys = [] if partition_by is None and not more_exprs else flatten(partition_by, more_exprs)
        if partition_by is None and not keys:
            if order_by is None:
                from nanuk.exceptions import InvalidOperationError

                raise InvalidOperationError("at least one of `partition_by` and `order_by` must be specified in `over`")
            keys = [_nanuk.lit(1)]
        order = [] if order_by is None else flatten(order_by)
        return _nanuk.over(self, keys, order, descending, nulls_last, mapping_strategy)

    # ---- The rest ----

    def pipe(self, function, *args, **kwargs):
        """`function(self, *args, **kwargs)`."""
        return function(self, *args, **kwargs)

    def pipe_with_dtype(self, function) -> Expr:
        """`function(self, dtype)`, once the dtype is known."""
        raise NotImplementedError("`pipe_with_dtype` is not implemented yet")

    def map_batches(
        self, function, return_dtype=None, *, is_elementwise: bool = False, returns_scalar: bool = False
    ) -> Expr:
        """A Python function of the whole column, as a Series.

        It gives a Series, an array or a list; one value with `returns_scalar`. Without `return_dtype` it is called once
        more, on two rows, when the query is planned; InvalidOperationError when that fails. With `is_elementwise` it
        sees the column piece by piece. What it raises comes out of the query; SchemaError when the dtype differs.
        """
        from nanuk.host import map_batches_of

        return map_batches_of(self, function, return_dtype, is_elementwise, returns_scalar)

    def map_elements(self, function, return_dtype=None, *, skip_nulls: bool = True, pass_name: bool = False,
                     strategy: str = "thread_local") -> Expr:  # fmt: skip
        """A Python function of each value; of nulls too when `skip_nulls` is False.

        Without `return_dtype` it is called on a value when the query is planned; InvalidOperationError when that fails.
        """
        from nanuk.host import map_elements_of

        return map_elements_of(self, function, return_dtype, skip_nulls, pass_name)

    def exclude(self, columns, *more_columns) -> Expr:
        """A choice of columns without some of them, given by name or dtype.

        Raises TypeError for anything else.
        """
        from nanuk.selectors import of_columns

        columns = flatten(columns, more_columns)
        return _nanuk.combine("except", self, of_columns(columns, strict=False))

    agg_groups = Removed("`int_range` and `len`")
    rechunk = Removed()
    where = Removed("`filter`")
    flatten = Removed("`explode`")
    shrink_dtype = Removed("`Series.shrink_dtype`")
    register_plugin = Removed("`plugins.register_plugin_function`")
    from_json = Removed("`Expr.deserialize`")


class _Dtype:
    """A dtype as an option of a function."""

    __slots__ = ("_text",)

    def __init__(self, dtype) -> None:
        self._text = dtype_text(dtype)


_UFUNCS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv",
    "floor_divide": "floordiv", "remainder": "mod", "mod": "mod", "power": "pow", "negative": "neg", "abs": "abs",
    "absolute": "abs", "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "isnan": "is_nan", "isfinite": "is_finite", "isinf": "is_infinite", "sign": "sign",
    "logical_and": "and", "logical_or": "or", "logical_not": "not", "bitwise_and": "and", "bitwise_or": "or",
    "sqrt": "sqrt", "exp": "exp", "floor": "floor", "ceil": "ceil", "sin": "sin", "cos": "cos", "tan": "tan",
}  # fmt: skip


def _restore(cls: type, data: bytes) -> Expr:
    expr = cls.__new__(cls)
    expr._set(_nanuk.expr_deserialise(data))
    return expr


__all__ = ["Expr", "is_several"]

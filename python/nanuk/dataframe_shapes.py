"""DataFrame in other shapes: pivots, transposes, dummies; descriptions; rows chosen; tables put together."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.parse import flatten


class DataFrameShapes:
    """Methods of DataFrame that make tables of another shape."""

    __slots__ = ()

    def pivot(self, on, on_columns=None, *, index=None, values=None, aggregate_function=None, maintain_order: bool = True,
              sort_columns: bool = False, separator: str = "_", column_naming: str = "auto") -> DataFrameShapes:  # fmt: skip
        """A column for each value of the `on` columns, a row for each value of the index columns.

        aggregate_function: "min", "max", "first", "last", "sum", "mean", "median", "len" or "item". Raises ComputeError
        when several values meet and none is given, InvalidOperationError when neither index nor values are.
        """
        from nanuk.reshape import names_of, pivot

        plan = self._plan()
        if on_columns is None:
            names = names_of(plan, on)
            on_columns = plan._select(names, True)._unique([], "first", True)
            on_columns = (on_columns._sort(names, False, False, True) if sort_columns else on_columns)._collect()
        elif isinstance(on_columns, _nanuk.Series):
            on_columns = on_columns.to_frame()
        elif not isinstance(on_columns, _nanuk.Frame):
            on_columns = type(self)({"": list(on_columns)})
        return pivot(
            plan, on, on_columns, index, values, aggregate_function, maintain_order, separator, column_naming
        )._collect()  # fmt: skip

    def transpose(
        self, *, include_header: bool = False, header_name: str = "column", column_names=None
    ) -> DataFrameShapes:
        """Rows as columns, in the common dtype of all columns; named by an iterable or by the values of a column."""
        from nanuk.reshape import transpose

        return transpose(self, include_header, header_name, column_names)

    def unstack(self, *, step: int, how: str = "vertical", columns=None, fill_values=None) -> DataFrameShapes:
        """Columns cut into several: of `step` rows, or `step` of them with how="horizontal"."""
        from nanuk.reshape import unstack

        return unstack(self, step, how, columns, fill_values)

    def to_dummies(self, columns=None, *, separator: str = "_", drop_first: bool = False,
                   drop_nulls: bool = False) -> DataFrameShapes:  # fmt: skip
        """Columns of 0 and 1, as UInt8, for each value of some columns, all by default."""
        from nanuk.reshape import dummies, names_of

        chosen = self._names if columns is None else names_of(self._plan(), columns)
        made = []
        for column in self.get_columns():
            made += dummies(column, separator, drop_first, drop_nulls) if column.name in chosen else [column]
        frame = type(self).__new__(type(self))
        frame._set(made, self.height)
        return frame

    def to_struct(self, name: str = ""):
        """The columns as one Series of Structs."""
        expr = _nanuk.call("struct", _nanuk.col("*"))
        return self._plan()._select([expr], True)._collect()._column(0)._rename(name)

    def glimpse(self, *, max_items_per_column: int = 10, max_colname_length: int = 50, return_type: str | None = None):
        """Print one line for each column: its name, dtype and first values; or return it as "string" or "frame"."""
        from nanuk.describe import glimpse

        return glimpse(self, max_items_per_column, max_colname_length, return_type)

    def describe(self, percentiles=(0.25, 0.50, 0.75), *, interpolation: str = "nearest") -> DataFrameShapes:
        """Count, nulls, mean, deviation, extremes and percentiles of each column.

        Raises TypeError without columns.
        """
        from nanuk.describe import describe

        return describe(self._plan(), percentiles, interpolation)

    def to_init_repr(self, n: int = 1000) -> str:
        """Python that makes the first n rows anew."""
        from nanuk.describe import code_of_frame

        return code_of_frame(self, n)

    def sample(self, n=None, *, fraction=None, with_replacement: bool = False, shuffle: bool | None = None,
               seed: int | None = None) -> DataFrameShapes:  # fmt: skip
        """Rows chosen at random: n of them, or a fraction, one by default.

        Raises ShapeError for more than there are, unless `with_replacement`; ValueError for both n and fraction.
        """
        if n is not None and fraction is not None:
            raise ValueError("cannot specify both `n` and `fraction`")
        if isinstance(n, _nanuk.Series):
            n = n.item()
        if isinstance(fraction, _nanuk.Series):
            fraction = fraction.item()
        rows = _nanuk.call("int_range", 0, self.height).sample(
            n, fraction=fraction, with_replacement=with_replacement, shuffle=shuffle, seed=seed
        )
        chosen = type(self)()._plan()._select([rows], True)._collect()._column(0)
        return self.gather(chosen)

    def gather(self, indices, *, null_on_oob: bool = False) -> DataFrameShapes:
        """Rows by position; see Expr.gather."""
        return self._plan()._select([_nanuk.col("*").gather(indices, null_on_oob=null_on_oob)], True)._collect()

    def is_duplicated(self):
        """Whether a row occurs more than once, as a Series."""
        return self._occurs("gt")

    def is_unique(self):
        """Whether a row occurs once, as a Series."""
        return self._occurs("eq")

    def _occurs(self, test: str):
        if not self.width:
            return _nanuk.series_from_list("", [], "Boolean", True)
        count = _nanuk.call("len").over(self._names)
        return self._plan()._select([count._call(test, 1).alias("")], True)._collect()._column(0)

    def is_sorted(self, by, *more_by, descending=False, nulls_last=False) -> bool:
        """Whether rows are in order of columns."""
        keys = self.select(flatten(by, more_by))
        ordered = keys.sort(keys._names, descending=descending, nulls_last=nulls_last, maintain_order=True)
        return keys.equals(ordered)

    def hash_rows(self, seed: int = 0, *more_seeds):
        """A hash of each row, as a UInt64 Series; it differs from one version to another."""
        expr = None
        for name in self._names:
            hashed = _nanuk.col(name)._call("hash", seed=seed)
            expr = hashed if expr is None else expr._call("xor", hashed)._call("hash", seed=seed)
        return self._plan()._select([expr.alias("")], True)._collect()._column(0)

    def corr(self, *, label: str | None = None, **kwargs) -> DataFrameShapes:
        """Pearson's correlation of each two columns."""
        from nanuk.statistics import corr

        names = self._names
        rows = [self._plan()._select([corr(a, b).alias(b) for b in names], True)._collect() for a in names]
        result = rows[0]
        for row in rows[1:]:
            result = result.vstack(row)
        if label is not None:
            from nanuk.series import Series

            result = result.insert_column(0, Series(label, names))
        return result

    def map_rows(self, function, return_dtype=None, *, inference_size: int = 256) -> DataFrameShapes:
        """A Python function of each row, a tuple; its results are rows, tuples or single values."""
        results = [function(row) for row in self._rows(False)]
        if results and isinstance(next((r for r in results if r is not None), None), tuple):
            return type(self)(results, orient="row", infer_schema_length=inference_size)
        from nanuk.series import Series

        return Series("map", results, return_dtype, strict=False).to_frame()

    def map_columns(self, column_names, function, *args, **kwargs) -> DataFrameShapes:
        """A Python function of some columns, each a Series, in their place."""
        from nanuk.reshape import names_of

        names = names_of(self._plan(), column_names)
        return self.with_columns([function(self.get_column(name), *args, **kwargs)._rename(name) for name in names])

    def shrink_to_fit(self, *, in_place: bool = False) -> DataFrameShapes:
        """The table; memory beyond its values is not kept anyway."""
        return self if in_place else self.clone()

    def explode(self, columns, *more_columns, empty_as_null: bool = False, keep_nulls: bool = True) -> DataFrameShapes:
        """A row for each item of lists, beside the values of the other columns; see LazyFrame.explode."""
        plan = self._plan()
        return plan.explode(columns, *more_columns, empty_as_null=empty_as_null, keep_nulls=keep_nulls)._collect()

    def _other(self, other):
        if not isinstance(other, _nanuk.Frame):
            msg = f"expected `other` to be a DataFrame, not {type(other).__name__!r}"
            raise TypeError(msg)
        return other._plan()

    def merge_sorted(self, other, key, *, maintain_order: bool = False) -> DataFrameShapes:
        """The rows of two tables that are both in order of a column, in that order."""
        return self._plan().merge_sorted(self._other(other), key)._collect()

    def update(self, other, on=None, how: str = "left", *, left_on=None, right_on=None, include_nulls: bool = False,
               maintain_order: str | None = "left") -> DataFrameShapes:  # fmt: skip
        """Values of another table in place of this one's, in rows with equal keys, or row by row without keys."""
        return self._plan().update(
            self._other(other), on, how, left_on=left_on, right_on=right_on, include_nulls=include_nulls,
            maintain_order=maintain_order,
        )._collect()  # fmt: skip

    def join_where(self, other, *predicates, how: str = "inner", suffix: str = "_right") -> DataFrameShapes:
        """Pairs of rows of two tables for which all predicates are true."""
        return self._plan().join_where(self._other(other), *predicates, how=how, suffix=suffix)._collect()

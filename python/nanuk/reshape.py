"""Tables in another shape: unpivot, pivot, transpose, dummies, unstack."""

from __future__ import annotations

from nanuk import _nanuk
from nanuk.exceptions import ComputeError, DuplicateError, InvalidOperationError
from nanuk.parse import flatten


def names_of(plan, columns) -> list[str]:
    """The names that names, dtypes and selectors stand for in a query."""
    from nanuk.selectors import of_columns

    return plan._select([of_columns(flatten(columns)).as_expr()], False).collect_schema().names()


def unpivot(plan, on, index, variable_name: str | None, value_name: str | None):
    """One row for each value of some columns, beside its column's name and the index columns.

    Raises InvalidOperationError for columns without a common dtype.
    """
    schema = plan.collect_schema()
    index = [] if index is None else names_of(plan, index)
    on = [name for name in schema if name not in index] if on is None else names_of(plan, on)
    variable, value = variable_name or "variable", value_name or "value"
    kept = [_nanuk.col(name) for name in index]
    if not on:
        empty = [_nanuk.lit("").alias(variable), _nanuk.lit(None).alias(value)]
        return plan._slice(0, 0)._select([*kept, *empty], False)
    texts = {schema[name]._text for name in on}
    if len(texts) > 1:
        from nanuk.parse import supertype

        dtype = supertype([schema[name] for name in on])
        cast = lambda column: column.cast(dtype)  # noqa: E731
    else:
        cast = lambda column: column  # noqa: E731
    parts = [
        plan._select([*kept, _nanuk.lit(name).alias(variable), cast(_nanuk.col(name)).alias(value)], False)
        for name in on
    ]
    return parts[0] if len(parts) == 1 else _nanuk.concat(parts, "vertical")


_AGGREGATES = ("min", "max", "first", "last", "sum", "mean", "median", "len", "item")


def _value_text(value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _tuple_text(values: tuple) -> str:
    inner = ",".join(f'"{v}"' if isinstance(v, str) else _value_text(v) for v in values)
    return "{" + inner + "}"


def pivot(plan, on, on_columns, index, values, aggregate_function, maintain_order: bool, separator: str,
          column_naming: str):  # fmt: skip
    """A column for each value of the `on` columns, a row for each of the index columns.

    on_columns: a table with the values of `on` that become columns. Raises InvalidOperationError when neither index
    nor values are given, ComputeError when several values meet and no aggregate is given.
    """
    names = plan.collect_schema().names()
    on = names_of(plan, on)
    if index is None and values is None:
        raise InvalidOperationError("`pivot` needs either `index` or `values` to be specified")
    index = None if index is None else names_of(plan, index)
    values = [n for n in names if n not in on and n not in index] if values is None else names_of(plan, values)
    if index is None:
        index = [name for name in names if name not in on and name not in values]
    if aggregate_function is None:
        aggregate_function = "item"
    if isinstance(aggregate_function, str) and aggregate_function not in _AGGREGATES:
        msg = f"invalid input for `aggregate_function` argument: {aggregate_function!r}"
        raise ValueError(msg)
    if isinstance(aggregate_function, _nanuk.Expr):
        raise NotImplementedError("an expression as `aggregate_function` is not implemented yet")
    aggregates, made = [], set(index)
    combine = column_naming == "combine" or (column_naming == "auto" and len(values) > 1)
    for value in values:
        for row in on_columns._rows(False):
            chosen = None
            for name, item in zip(on, row):
                test = _nanuk.col(name)._call("eq_missing", _nanuk.lit(item))
                chosen = test if chosen is None else chosen._call("and", test)
            column = _nanuk.col(value)._call("filter", chosen)
            if aggregate_function == "item":
                column = column._call("item", allow_empty=True)
            elif aggregate_function == "len":
                column = column._call("len")
            else:
                column = column._call(aggregate_function)
            text = _value_text(row[0]) if len(on) == 1 else _tuple_text(row)
            name = f"{value}{separator}{text}" if combine else text
            if name in made:
                msg = f"column with name '{name}' has more than one occurrence"
                raise DuplicateError(msg)
            made.add(name)
            aggregates.append(column.alias(name))
    if not index:
        return plan._select(aggregates, False)
    return plan._group_by([_nanuk.col(name) for name in index], aggregates, maintain_order)


def transpose(frame, include_header: bool, header_name: str, column_names):
    """Rows as columns: of a common dtype, named column_0 and so on, or by names given, or by a column's values.

    Raises InvalidOperationError for columns without a common dtype.
    """
    from nanuk.dataframe import DataFrame
    from nanuk.series import Series

    names = None
    if isinstance(column_names, str):
        names = [_value_text(value) for value in frame.get_column(column_names).to_list()]
        frame = frame.drop(column_names)
    elif column_names is not None:
        source = iter(column_names)
        names = [next(source, None) for _ in range(frame.height)]
        names = [f"column_{i}" if name is None else name for i, name in enumerate(names)]
    height, columns = frame.height, frame.get_columns()
    if names is None:
        names = [f"column_{i}" for i in range(height)]
    made = [Series(header_name, frame.columns)] if include_header else []
    if columns:
        from nanuk.parse import supertype

        dtype = supertype([column.dtype for column in columns])
        stacked = None
        for column in columns:
            column = column.cast(dtype)
            stacked = column if stacked is None else stacked._append(column)
        made += [stacked.gather_every(height, i)._rename(name) for i, name in enumerate(names)]
    result = DataFrame.__new__(DataFrame)
    result._set(made, len(columns))
    return result


def dummies(series, separator: str, drop_first: bool, drop_nulls: bool) -> list:
    """A UInt8 column of 0 and 1 for each different value, in order of their names."""
    found = series.drop_nulls().unique(maintain_order=True)
    texts = [_value_text(value) for value in found.to_list()]
    columns = []
    for value, text in zip(found.to_list(), texts):
        flags = _equal(series, value)
        columns.append(flags._rename(f"{series.name}{separator}{text}"))
    columns.sort(key=lambda column: column.name)
    if drop_first:
        columns = columns[1:]
    if series.null_count() and not drop_nulls:
        columns.append(series.is_null().cast(_uint8())._rename(f"{series.name}{separator}null"))
        columns.sort(key=lambda column: column.name)
    return columns


def _uint8():
    from nanuk.datatypes import UInt8

    return UInt8()


def _equal(series, value):
    from nanuk.series import _evaluate

    return _evaluate(_nanuk.lit(series)._call("eq_missing", _nanuk.lit(value)).cast(_uint8()))


def unstack(frame, step: int, how: str, columns, fill_values):
    """One long column as several of `step` rows (or rows of `step` columns with how="horizontal")."""
    from math import ceil

    from nanuk.dataframe import DataFrame

    chosen = frame if columns is None else frame.select(columns)
    height = chosen.height
    if how == "vertical":
        n_rows, n_columns = step, ceil(height / step)
    else:
        n_columns, n_rows = step, ceil(height / step)
    missing = n_rows * n_columns - height
    width = len(str(n_columns - 1))
    made = []
    for at, column in enumerate(chosen.get_columns()):
        if missing:
            fill = fill_values[at] if isinstance(fill_values, (list, tuple)) else fill_values
            column = column.extend_constant(fill, missing)
        for i in range(n_columns):
            part = column.slice(i * n_rows, n_rows) if how == "vertical" else column.gather_every(n_columns, i)
            made.append(part._rename(f"{column.name}_{i:0{width}d}"))
    result = DataFrame.__new__(DataFrame)
    result._set(made, n_rows if made else 0)
    return result


__all__ = ["ComputeError", "dummies", "pivot", "transpose", "unpivot", "unstack"]

"""Tables at a glance: describe, glimpse, and code that makes a table anew."""

from __future__ import annotations

from nanuk import _nanuk


def _quantile_names(percentiles) -> list[tuple[float, str]]:
    """Percentiles in order, with their names.

    Raises ValueError outside of [0, 1].
    """
    if percentiles is None:
        return []
    percentiles = [percentiles] if isinstance(percentiles, (int, float)) else sorted(percentiles)
    if any(not 0 <= p <= 1 for p in percentiles):
        raise ValueError("`percentiles` must all be in the range [0, 1]")
    return [(p, f"{p * 100:g}%") for p in percentiles]


def describe(plan, percentiles, interpolation: str):
    """Count, nulls, mean, deviation, extremes and percentiles of each column of a query.

    Raises TypeError for a table without columns.
    """
    from nanuk.dataframe import DataFrame
    from nanuk.datatypes import Boolean, Categorical, Date, Enum, Null

    schema = plan.collect_schema()
    if not schema:
        raise TypeError("cannot describe a DataFrame that has no columns")
    quantiles = _quantile_names(percentiles)
    names = ["count", "null_count", "mean", "std", "min", *(name for _, name in quantiles), "max"]
    exprs = []
    for at, (name, dtype) in enumerate(schema.items()):
        column = _nanuk.col(name)
        is_number, has_order = dtype.is_numeric(), not (dtype.is_nested() or dtype.is_object())
        has_order = has_order and dtype not in (Null, Categorical, Enum)
        is_between = is_number or dtype.is_temporal()
        values = [column.count(), column.null_count()]
        values.append(column.mean() if is_between or dtype == Boolean else None)
        values.append(column.std() if is_number else None)
        values.append(column.min() if has_order else None)
        picks_value = dtype == Date and interpolation in ("nearest", "lower", "higher")
        for p, _ in quantiles:
            quantile = column.quantile(p, interpolation)
            values.append(None if not is_between else quantile.cast(dtype) if picks_value else quantile)
        values.append(column.max() if has_order else None)
        exprs += [value.alias(f"{at}:{i}") for i, value in enumerate(values) if value is not None]
    found = plan._select(exprs, False)._collect()._rows(True)[0]
    columns = {"statistic": names}
    for at, (name, dtype) in enumerate(schema.items()):
        values = [found.get(f"{at}:{i}") for i in range(len(names))]
        if dtype.is_numeric() or dtype == Boolean or dtype.is_nested() or dtype == Null:
            columns[name] = [None if value is None else float(value) for value in values]
        else:
            columns[name] = [None if value is None else str(value) for value in values]
    return DataFrame(columns, strict=False)


def describe_series(series, percentiles, interpolation: str):
    """As describe, of one column; what does not apply to its dtype is left out, and all but counts without values."""
    table = describe(series.to_frame("value")._plan(), percentiles, interpolation)
    from nanuk.datatypes import Boolean, Categorical, Enum

    if series.null_count() == len(series):
        return table.head(2)
    dtype = series.dtype
    left_out = set()
    if not (dtype.is_numeric() or dtype.is_temporal()):
        left_out |= {name for _, name in _quantile_names(percentiles)}
    if not dtype.is_numeric():
        left_out.add("std")
    if not (dtype.is_numeric() or dtype.is_temporal() or dtype == Boolean):
        left_out.add("mean")
    if dtype.is_nested() or dtype in (Categorical, Enum):
        left_out |= {"min", "max"}
    return table.filter(_nanuk.col("statistic").is_in(list(left_out)).not_()) if left_out else table


def glimpse(frame, max_items: int, max_name: int, return_type: str | None):
    """One line for each column: its name, dtype and first values. Printed, or returned as "string" or "frame".

    Raises ValueError for another return type.
    """
    if return_type not in (None, "self", "string", "frame"):
        msg = f"invalid `return_type`; found {return_type!r}, expected one of 'string', 'frame', 'self', or None"
        raise ValueError(msg)

    def shown(value) -> str:
        return "null" if value is None else repr(value) if isinstance(value, str) else str(value)

    lines = []
    for column in frame.get_columns():
        values = column.head(max_items).to_list()
        name = column.name if len(column.name) <= max_name else column.name[: max_name - 1] + "…"
        lines.append((name, f"<{_nanuk.dtype_short(column._dtype_text)}>", [shown(value) for value in values]))
    if return_type == "frame":
        from nanuk.dataframe import DataFrame
        from nanuk.datatypes import List, String

        return DataFrame(
            {"column": [line[0] for line in lines], "dtype": [line[1].strip("<>") for line in lines],
             "values": [line[2] for line in lines]},
            schema={"column": String, "dtype": String, "values": List(String)},
        )  # fmt: skip
    width = max((len(name) for name, _, _ in lines), default=0)
    dtype_width = max((len(dtype) for _, dtype, _ in lines), default=0)
    text = f"Rows: {frame.height}\nColumns: {frame.width}\n"
    text += "".join(f"$ {name:<{width}} {dtype:>{dtype_width}} {', '.join(values)}\n" for name, dtype, values in lines)
    if return_type == "string":
        return text
    print(text)
    return frame if return_type == "self" else None


def code_of_series(series, n: int) -> str:
    """Python that makes the first n values of a column anew."""
    values = series.head(n).to_list()
    return f"pl.Series({series.name!r}, {values!r}, dtype=pl.{series.dtype!r})"


def code_of_frame(frame, n: int) -> str:
    """Python that makes the first n rows of a table anew."""
    columns = "".join(f"        {code_of_series(column, n)},\n" for column in frame.get_columns())
    return f"pl.DataFrame(\n    [\n{columns}    ]\n)\n"

"""Tables as HTML, for notebooks."""

from __future__ import annotations

import html
import os

_STYLE = """<style>
.dataframe > thead > tr, .dataframe > tbody > tr { text-align: right; white-space: pre-wrap; }
</style>"""


def _limit(variable: str, otherwise: int) -> int:
    try:
        return int(os.environ[variable])
    except (KeyError, ValueError):
        return otherwise


def _cell(value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return html.escape(f'"{value}"' if isinstance(value, str) else str(value))


def table(frame) -> str:
    """A DataFrame as an HTML table, cut in the middle as printed ones are."""
    from nanuk import _nanuk

    max_rows, max_columns = _limit("POLARS_FMT_MAX_ROWS", 10), _limit("POLARS_FMT_MAX_COLS", 75)
    height, width = frame.shape
    columns = list(range(width))
    if 0 <= max_columns < width:
        columns = [*range((max_columns + 1) // 2), None, *range(width - max_columns // 2, width)]
    rows = frame.rows()
    if 0 <= max_rows < height:
        rows = [*rows[: (max_rows + 1) // 2], None, *rows[height - max_rows // 2 :]]
    names = ["&hellip;" if i is None else html.escape(frame.columns[i]) for i in columns]
    dtypes = ["&hellip;" if i is None else html.escape(_nanuk.dtype_short(frame.dtypes[i]._text)) for i in columns]
    lines = ["<div>", _STYLE, f"<small>shape: ({height:_}, {width:_})</small>", '<table border="1" class="dataframe">']
    lines.append("<thead><tr>" + "".join(f"<th>{name}</th>" for name in names) + "</tr>")
    lines.append("<tr>" + "".join(f"<td>{dtype}</td>" for dtype in dtypes) + "</tr></thead><tbody>")
    for row in rows:
        cells = ["&hellip;" if row is None or i is None else _cell(row[i]) for i in columns]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "\n".join([*lines, "</tbody></table></div>"])

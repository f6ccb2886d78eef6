"""Previews of tables, for people: the first rows as text, or as a table of a page."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = 10
"""Rows of a table that a notebook shows."""
PLAN = "plan"
"""The column of EXPLAIN: lines of a text, of which none is left out."""


def _cells(table: pa.Table) -> list[list[str]]:
    rows = table.slice(0, _shown(table)).to_pydict()
    columns = [["NULL" if one is None else str(one) for one in values] for values in rows.values()]
    return [list(row) for row in zip(*columns, strict=True)]


def _more(table: pa.Table) -> list[str]:
    left = len(table) - _shown(table)
    return [f"... and {left} more"] if left > 0 else []


def _shown(table: pa.Table) -> int:
    return len(table) if table.column_names == [PLAN] else SHOWN


def as_text(table: pa.Table) -> str:
    """The first rows in columns, under the names."""
    lines = [list(table.column_names), *_cells(table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([*padded, *_more(table)])


def as_html(table: pa.Table) -> str:
    """The first rows as a table of a page; a plan as the lines that it is."""
    if table.column_names == [PLAN]:
        return f"<pre>{html.escape(chr(10).join(table[PLAN].to_pylist()))}</pre>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.column_names)
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in _cells(table)]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    more = "".join(f"<p>{line}</p>" for line in _more(table))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

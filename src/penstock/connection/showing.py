"""Results as tables: columns under their names, instants as people read them, small tables."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.algebra.types import Schema
    from penstock.catalog.definitions import Definition
    from penstock.operators.block import Block
    from penstock.state.arrays import Ints, Signs

SHOWN = 10
"""Rows of a table that a notebook shows."""


def instants(values: Ints, unit: TimeUnit) -> pa.Array:
    """Instants as a column; NULL is before all input (a beginning), or never (an end)."""
    outside = (values == BEGINNING) | (values == INFINITY)
    column = pa.array(values, mask=outside)
    return column.cast(pa.timestamp("us")) if unit is TimeUnit.TIMESTAMP else column


def signs(values: Signs) -> pa.Array:
    """`+` for a row that enters, `-` for one that leaves."""
    return pa.array(["-", "+"]).take(pa.array((values > 0).astype(np.int8)))


def results_table(schema: Schema, block: Block, marks: Sequence[tuple[str, pa.Array]]) -> pa.Table:
    """The rows of a block, and what marks them."""
    names = [*schema.names, *(name for name, _ in marks)]
    return pa.table([*block.columns, *(column for _, column in marks)], names=names)


def overview(catalog: Iterable[Definition]) -> pa.Table:
    """What is declared, but for sinks."""
    declared = [one for one in catalog if one.kind != "sink"]
    return pa.table(
        {
            "kind": pa.array([one.kind for one in declared], pa.string()),
            "name": pa.array([one.name for one in declared], pa.string()),
        }
    )


def _cells(table: pa.Table) -> list[list[str]]:
    rows = table.slice(0, SHOWN).to_pydict()
    columns = [["NULL" if one is None else str(one) for one in values] for values in rows.values()]
    return [list(row) for row in zip(*columns, strict=True)]


def _more(table: pa.Table) -> list[str]:
    return [f"... and {len(table) - SHOWN} more"] if len(table) > SHOWN else []


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
    """The first rows as a table of a page."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.column_names)
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in _cells(table)]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    more = "".join(f"<p>{line}</p>" for line in _more(table))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

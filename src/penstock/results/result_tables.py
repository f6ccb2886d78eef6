"""Tables that people and sinks read: rows under their names, and what marks them.

Of a content that changes, each net change has its instant `_at` and its `_sign`; of ISTREAM and
its kin, each row has its instant `_at`; elements have their validity, `_ts` to before `_te`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit
from penstock.results.answer_kind import kind_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.results.answer_kind import Kind
    from penstock.state.arrays import Ints, Signs

MARKS = ("_at", "_sign", "_ts", "_te")
"""Columns that are added to those of a query."""


def changes_table(plan: Plan, block: Block) -> pa.Table:
    """Net changes, each with its instant `_at` and its `_sign`."""
    return _marked(plan.schema.names, block, _changes(unit_of(plan), block))


def emissions_table(plan: Plan, block: Block) -> pa.Table:
    """Rows that were sent out, each with its instant `_at`."""
    return _marked(plan.schema.names, block, [_at(unit_of(plan), block)])


def elements_table(plan: Plan, block: Block) -> pa.Table:
    """Elements: rows valid from `_ts` to before `_te`; with a `_sign`."""
    marks = [*_validity(unit_of(plan), block), ("_sign", signs(block.signs))]
    return _marked(plan.schema.names, block, marks)


def validity_table(plan: Plan, block: Block) -> pa.Table:
    """Rows, valid from `_ts` to before `_te`, none of which is withdrawn."""
    return _marked(plan.schema.names, block, _validity(unit_of(plan), block))


def results_table(plan: Plan, block: Block) -> pa.Table:
    """The table of a query, as its fold gives it: net changes, rows sent out, or rows ended."""
    return table_of(kind_of(plan), plan.schema.names, unit_of(plan), block)


def table_of(kind: Kind, names: Sequence[str], unit: TimeUnit, block: Block) -> pa.Table:
    """The same for results of a kind, whose columns have names."""
    if kind == "sent":
        return _marked(names, block, [_at(unit, block)])
    marks = _validity(unit, block) if kind == "ended" else _changes(unit, block)
    return _marked(names, block, marks)


def _marked(names: Sequence[str], block: Block, marks: Sequence[tuple[str, pa.Array]]) -> pa.Table:
    all_names = [*names, *(name for name, _ in marks)]
    return pa.table([*block.columns, *(column for _, column in marks)], names=all_names)


def _at(unit: TimeUnit, block: Block) -> tuple[str, pa.Array]:
    return "_at", instants(block.ts, unit)


def _changes(unit: TimeUnit, block: Block) -> list[tuple[str, pa.Array]]:
    return [_at(unit, block), ("_sign", signs(block.signs))]


def _validity(unit: TimeUnit, block: Block) -> list[tuple[str, pa.Array]]:
    return [("_ts", instants(block.ts, unit)), ("_te", instants(block.te, unit))]


def instants(values: Ints, unit: TimeUnit) -> pa.Array:
    """Instants as a column; NULL is before all input (a beginning), or never (an end)."""
    outside = (values == BEGINNING) | (values == INFINITY)
    column = pa.array(values, mask=outside)
    return column.cast(pa.timestamp("us")) if unit is TimeUnit.TIMESTAMP else column


def signs(values: Signs) -> pa.Array:
    """`+` for a row that enters, `-` for one that leaves."""
    return pa.array(["-", "+"]).take(pa.array((values > 0).astype(np.int8)))

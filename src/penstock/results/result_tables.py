"""Tables that people and sinks read: rows under their names, and what marks them.

Of a content that changes, each net change has its instant `_at` and its `_sign`; of ISTREAM and
its kin, each row has its instant `_at`; elements have their validity, `_ts` to before `_te`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.operators import Final
from penstock.algebra.streams import RelationToStream
from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit
from penstock.results.answer_kind import unit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.state.arrays import Ints, Signs

MARKS = ("_at", "_sign", "_ts", "_te")
"""Columns that are added to those of a query."""


def changes_table(plan: Plan, block: Block) -> pa.Table:
    """Net changes, each with its instant `_at` and its `_sign`."""
    marks = [("_at", instants(block.ts, unit_of(plan))), ("_sign", signs(block.signs))]
    return _marked(plan, block, marks)


def emissions_table(plan: Plan, block: Block) -> pa.Table:
    """Rows that were sent out, each with its instant `_at`."""
    return _marked(plan, block, [("_at", instants(block.ts, unit_of(plan)))])


def elements_table(plan: Plan, block: Block) -> pa.Table:
    """Elements: rows valid from `_ts` to before `_te`; with a `_sign`."""
    return _marked(plan, block, [*_validity(plan, block), ("_sign", signs(block.signs))])


def validity_table(plan: Plan, block: Block) -> pa.Table:
    """Rows, valid from `_ts` to before `_te`, none of which is withdrawn."""
    return _marked(plan, block, _validity(plan, block))


def results_table(plan: Plan, block: Block) -> pa.Table:
    """The table of a query, as its fold gives it: net changes, rows sent out, or rows ended."""
    if isinstance(plan, RelationToStream):
        return emissions_table(plan, block)
    return validity_table(plan, block) if isinstance(plan, Final) else changes_table(plan, block)


def _marked(plan: Plan, block: Block, marks: Sequence[tuple[str, pa.Array]]) -> pa.Table:
    names = [*plan.schema.names, *(name for name, _ in marks)]
    return pa.table([*block.columns, *(column for _, column in marks)], names=names)


def _validity(plan: Plan, block: Block) -> list[tuple[str, pa.Array]]:
    unit = unit_of(plan)
    return [("_ts", instants(block.ts, unit)), ("_te", instants(block.te, unit))]


def instants(values: Ints, unit: TimeUnit) -> pa.Array:
    """Instants as a column; NULL is before all input (a beginning), or never (an end)."""
    outside = (values == BEGINNING) | (values == INFINITY)
    column = pa.array(values, mask=outside)
    return column.cast(pa.timestamp("us")) if unit is TimeUnit.TIMESTAMP else column


def signs(values: Signs) -> pa.Array:
    """`+` for a row that enters, `-` for one that leaves."""
    return pa.array(["-", "+"]).take(pa.array((values > 0).astype(np.int8)))

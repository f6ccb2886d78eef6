"""The answers of queries at single instants, and how they differ from those of the oracle."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra import streams as st
from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit
from penstock.cql.syntax import Moment
from penstock.errors import Span
from penstock.operators.block import arriving
from penstock.operators.saved_tables import arrays_of
from penstock.reference.compare import DEFAULT_TOLERANCE, unmatched
from penstock.reference.inputs import Inputs, arrivals_of
from penstock.testing.inline import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.reference.compare import Tolerance
    from penstock.reference.oracle import Oracle
    from penstock.reference.timeline import Row


def instants_worth_asking(oracle: Oracle, plan: Plan, most: int, seed: str) -> list[int]:
    """Instants at which the result changes, and those beside them."""
    if isinstance(plan, st.RelationToStream):
        known = {one.at for one in oracle.emissions(plan)}
    else:
        known = {at for at in oracle.steps(plan).starts if at > BEGINNING}
    beside = sorted({at + step for at in known for step in (-1, 0, 1)})
    found = [at for at in beside if BEGINNING < at < INFINITY]
    return sorted(Random(seed).sample(found, min(most, len(found))))


def moment_of(instant: int, unit: TimeUnit) -> Moment:
    """An instant as a statement has it."""
    shown = unit.format(instant)
    return Moment(shown if unit is TimeUnit.TIMESTAMP else instant, Span(0, 0))


def difference(
    oracle: Oracle,
    plan: Plan,
    instant: int,
    table: pa.Table,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    *,
    in_order: bool = True,
) -> str | None:
    """The place where an answer differs from that of the oracle; None if nowhere."""
    wanted = oracle.answer(plan, instant)
    found = rows_of(arriving(tuple(arrays_of(table)), np.zeros(len(table), np.int64)))
    if in_order and st.is_ordered(plan):
        pairs = zip(wanted, found, strict=False)
        is_same = all(tolerance.same_rows(*one) for one in pairs)
        is_whole = is_same and len(wanted) == len(found)
        return None if is_whole else f"at {instant}: {wanted!r} and not {found!r}"
    missing, unexpected = unmatched(wanted, found, tolerance.same_rows)
    if not missing and not unexpected:
        return None
    return f"at {instant}: missing {missing}, unexpected {unexpected}"


def in_time_order(inputs: Inputs, streams: Sequence[st.Stream]) -> dict[str, list[Row]]:
    """The rows of streams as the oracle takes them, so that none of them is late."""
    return {one.name: [arrival.row for arrival in arrivals_of(one, inputs)] for one in streams}

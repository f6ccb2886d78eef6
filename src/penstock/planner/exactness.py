"""Exactness: from when on a query that was given some rows answers as if it had always run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import streams as st
from penstock.algebra.operators import OnArrival
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit
from penstock.planner.reach import needs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.algebra.plan import Plan
    from penstock.planner.reach import StreamNeed

_LOOKS_BACK = (OnArrival, st.RelationToStream, st.Internal)
"""Parts of a plan for which it matters what relations held before."""


@dataclass(frozen=True)
class GivenRows:
    """The rows that a query was given.

    Args:
        since: Of each stream, all rows from this instant on; BEGINNING: all that ever came.
        relations: From when on it is known what each relation held.
        instant_of: The instant of the n-th row of a stream that was given; None: there are less.
    """

    since: Mapping[str, int]
    relations: Mapping[str, int]
    instant_of: Callable[[str, int], int | None]


def exact_from(plan: Plan, given: GivenRows) -> int:
    """The instant from which on answers are exact; BEGINNING: all are, INFINITY: not known."""
    found = needs(plan, 0)
    instants = [_of_need(one, given) for one in found]
    if given.relations and max(given.relations.values()) > BEGINNING:
        looks_back = any(isinstance(one, _LOOKS_BACK) for one in different_nodes(plan))
        starts = [one.start for one in found if one.moves] if looks_back else []
        back = -min(starts, default=0)
        known = max(given.relations.values())
        instants.append(INFINITY if back >= -BEGINNING else known + max(back, 0))
    return max(instants, default=BEGINNING)


def _of_need(need: StreamNeed, given: GivenRows) -> int:
    """The instant from which on all rows are there that a part of the query needs."""
    since = given.since[need.stream]
    if since == BEGINNING:
        return BEGINNING
    if need.rows is not None:
        last = given.instant_of(need.stream, need.rows)
        return INFINITY if last is None else last - need.end
    if not need.what:
        # Without a window all rows stay.
        return INFINITY
    if not need.moves:
        return BEGINNING if since <= need.start else INFINITY
    return INFINITY if need.start == BEGINNING else since - need.start


def described_exactness(exact: int | None, unit: TimeUnit) -> str:
    """The instant from which on answers are exact, for people; empty if all are."""
    if exact is None or exact == BEGINNING:
        return ""
    if exact == INFINITY:
        return "not exact as far as is known"
    return f"exact from {unit.format(exact)}"


def explained_exactness(plan: Plan, exact: int) -> list[str]:
    """The line of EXPLAIN on it; none if all answers are exact."""
    if exact == BEGINNING:
        return []
    unit = plan.unit or TimeUnit.TICK
    if exact == INFINITY:
        return ["Exact: not as far as is known, as it needs rows that were not kept"]
    return [f"Exact: from {unit.format(exact)}, as it was created when rows had come"]

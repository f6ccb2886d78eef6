"""The clock of a query, and which queries may share a relation: those that go by the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Exchanged, Relation, Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.algebra.plan import Plan


def has_clock(plan: Plan) -> bool:
    """Something that a plan reads tells it of time; relations do not."""
    return any(isinstance(node, Stream | Exchanged) for node in different_nodes(plan))


def streams_of(plan: Plan) -> frozenset[str]:
    """The streams whose least watermark is the clock of a query."""
    return frozenset(one.name for one in different_nodes(plan) if isinstance(one, Stream))


def relations_of(plan: Plan) -> frozenset[str]:
    """The relations that a query reads."""
    return frozenset(one.name for one in different_nodes(plan) if isinstance(one, Relation))


def may_share(plan: Plan, others: Iterable[Plan]) -> bool:
    """A query that may run on one graph with others.

    A relation enters a graph once, and a change of it that is overdue is dated by the clock of
    the query that reads it: queries that read the same relation have to have the same clock. One
    of relations only has its own.
    """
    streams, relations = streams_of(plan), relations_of(plan)
    return bool(streams) and all(
        streams_of(other) and (streams_of(other) == streams or not relations & relations_of(other))
        for other in others
    )


def sharing(plans: Mapping[str, Plan]) -> list[tuple[str, ...]]:
    """The queries that run on each graph, if as many as may share one."""
    found: list[list[str]] = []
    for name, plan in plans.items():
        for names in found:
            if may_share(plan, [plans[one] for one in names]):
                names.append(name)
                break
        else:
            found.append([name])
    return [tuple(names) for names in found]

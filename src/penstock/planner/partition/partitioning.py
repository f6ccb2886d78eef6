"""The key that lets a plan run on several lanes, or the reason why there is none.

A lane is one instance of a plan that is fed its share of the input rows. Routed as found here,
the results of any number of lanes add up, as bags, to the result of the one plan.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import Column, Expression
from penstock.algebra.plan import different_nodes
from penstock.planner.partition.partition_keys import columns, substituted
from penstock.planner.partition.partition_reasons import NoKey, sources_of
from penstock.planner.partition.partition_routes import key_tuples
from penstock.planner.partition.partition_search import Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.algebra.plan import Plan

MOST_RELATIONS = 5
"""Up to so many relations every way to broadcast some is tried; with more, none, one or all."""


@dataclass(frozen=True)
class Route:
    """The lanes that get a row of a source: the one its keys hash to, or all.

    `keys` are expressions over the source's columns; None means every lane. Rows whose keys are
    not distinct (NULL equals NULL, NaN equals NaN, -0.0 equals 0.0) must get the same lane.
    """

    keys: tuple[Expression, ...] | None


@dataclass(frozen=True)
class Partitioning:
    """The routes of all sources by name, or none; and the reason, to be shown to people.

    If `is_free`, any other routes would do as well.
    """

    reason: str
    routes: Mapping[str, Route] = field(default_factory=dict)
    is_free: bool = field(default=False, compare=False)

    @property
    def is_partitioned(self) -> bool:
        """A plan that runs on any number of lanes; else on one, which gets every row."""
        return bool(self.routes)

    @property
    def whole(self) -> frozenset[str]:
        """The sources of which every lane gets all rows."""
        return frozenset(name for name, route in self.routes.items() if route.keys is None)

    def __str__(self) -> str:
        """The words of EXPLAIN about lanes."""
        return self.reason if self.is_partitioned else f"one, because {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """For programs: each source's keys as texts, None where every lane gets all rows."""
        routes = {
            name: None if route.keys is None else [str(key) for key in route.keys]
            for name, route in self.routes.items()
        }
        return {"partitioned": self.is_partitioned, "reason": self.reason, "routes": routes}


def partitioning_of(plan: Plan) -> Partitioning:
    """The routes of the inputs of a plan to lanes.

    >>> from penstock.builder import stream
    >>> cars = stream("cars", "at BIGINT, lane INT, speed DOUBLE", time="at").range(10)
    >>> print(partitioning_of(cars.aggregate(by=["lane"], top="MAX(speed)").plan))
    by cars.lane (GROUP BY lane)
    >>> print(partitioning_of(cars.aggregate(top="MAX(speed)").plan))
    one, because MAX over all rows has one group, which needs one lane
    """
    return common_partitioning([plan])


def common_partitioning(plans: Sequence[Plan]) -> Partitioning:
    """One routing that is right for each of several plans over the same sources."""
    nodes = {id(node): node for plan in plans for node in different_nodes(plan)}
    reason: NoKey | None = None
    for broadcast in _broadcasts(list(nodes.values())):
        search = Search(broadcast)
        try:
            keys = key_tuples(search.common(tuple(plans)))
        except NoKey as found:
            reason = reason or found
            continue
        names = [one.name for one in nodes.values() if isinstance(one, st.Source)]
        routes = {name: Route(None if name in broadcast else keys[name]) for name in names}
        decided = list(search.decided)
        text = _reason(routes, decided, list(nodes.values()))
        return Partitioning(text, routes, is_free=not decided)
    return Partitioning(str(reason) if reason else "there is no input to divide")


def _broadcasts(nodes: Sequence[Plan]) -> Iterator[frozenset[str]]:
    """Sets of sources for every lane to get whole, the smallest first.

    What a scalar subquery reads must be among them; relations may be, streams are too large.
    """
    scalars = (node.right for node in nodes if isinstance(node, op.ScalarProduct))
    always = frozenset[str]().union(*map(sources_of, scalars))
    relations = sorted({node.name for node in nodes if isinstance(node, st.Relation)} - always)
    sizes = {*range(len(relations) + 1)}
    if len(relations) > MOST_RELATIONS:
        sizes = {0, 1, len(relations)}
    for size in sorted(sizes):
        for some in itertools.combinations(relations, size):
            yield always | set(some)


def _reason(routes: Mapping[str, Route], because: Sequence[str], nodes: Sequence[Plan]) -> str:
    """The keys as columns of their sources, and the operators that decided them."""
    sources = {node.name: node for node in nodes if isinstance(node, st.Source)}
    keyed = [
        _key_text(sources[name], route.keys)
        for name, route in routes.items()
        if route.keys is not None
    ]
    whole = [name for name, route in routes.items() if route.keys is None]
    every = f", {' and '.join(whole)} to every lane" if whole else ""
    return f"by {' and '.join(keyed)}{every} ({', '.join(because) or 'any key would do'})"


def _key_text(source: st.Source, keys: tuple[Expression, ...]) -> str:
    if set(keys) >= set(columns(source.schema)):
        return f"the whole row of {source.name}"
    named = {one.name: Column(f"{source.name}.{one.name}", one.type) for one in source.schema}
    texts = [str(substituted(key, named)) for key in keys]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

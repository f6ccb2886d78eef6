"""The physical plan of queries that run together: graphs of specs, as data.

The planner makes it once. EXPLAIN prints it, the home of a pipeline stores it, and whoever runs a
part of it makes the operators of its lanes from it, without parsing, binding or planning anything.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock.algebra import expressions, patterns, streams, time, types, windows
from penstock.errors import DataError
from penstock.operators import source_specs
from penstock.operators.aggregate import aggregate_specs
from penstock.operators.join import join_specs
from penstock.operators.output import output_specs
from penstock.operators.set import set_specs
from penstock.operators.set.counted import Target
from penstock.operators.spec import Edge
from penstock.operators.window import window_specs
from penstock.planner.cost.join_model import ConditionEstimate, JoinModel, Side, Weights
from penstock.planner.partition.partitioning import Partitioning, Route
from penstock.planner.physical import multi_join_spec
from penstock.planner.physical.agreements import Condition
from penstock.planner.physical.codec import Codec
from penstock.planner.physical.graph import Estimate, Graph, MatchCondition, Node, Predicate

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from types import ModuleType

VERSION = 1
"""Of the way in which plans are written down, and of what specs mean."""

_MODULES: tuple[ModuleType, ...] = (
    aggregate_specs,
    join_specs,
    multi_join_spec,
    output_specs,
    set_specs,
    source_specs,
    window_specs,
    windows,
)
"""Where the specs are, and what they are made of."""
_PARTS = (
    *(expressions.Column, expressions.Literal, expressions.Call, expressions.Cast),
    *(expressions.Case, expressions.AggregateCall),
    *(types.Type, types.Field, types.Schema, patterns.Pattern, time.TimeUnit, Target),
    *(streams.Stream, streams.Relation, streams.Exchanged),
    *(JoinModel, Side, ConditionEstimate, Weights, Condition),
    *(Edge, Node, Estimate, Predicate, MatchCondition, Partitioning, Route),
)


def _classes() -> list[type]:
    found = [
        one
        for module in _MODULES
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__ == module.__name__
    ]
    return [*found, *_PARTS]


CODEC = Codec(_classes())


@dataclass(frozen=True)
class Fragment:
    """A part of the plan of queries that runs on lanes of its own.

    Args:
        graph: Its operators; inputs may be what earlier fragments send.
        partitioning: How its inputs are divided among its lanes.
        is_divided: Whether it has several lanes at all.
        stage: It reads only what fragments of earlier stages send; in stage 0, streams.
        name: What it sends, as others read it; None for the last one, which has the results.
    """

    graph: Graph
    partitioning: Partitioning
    is_divided: bool
    stage: int
    name: str | None = None


@dataclass(frozen=True)
class PhysicalPlan:
    """The plan that queries run by that run together.

    Args:
        fragments: Their operators, inputs before what reads them.
        columns: The names of the columns of each query, by its name.
    """

    fragments: tuple[Fragment, ...]
    columns: Mapping[str, tuple[str, ...]]

    @cached_property
    def text(self) -> str:
        """As it is written down."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "version": VERSION,
            "columns": {name: list(names) for name, names in self.columns.items()},
            "fragments": [_fragment_json(one) for one in self.fragments],
        }

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> PhysicalPlan:
        """The plan that was written down.

        Raises:
            DataError: Another version of Penstock wrote it.
        """
        if values["version"] != VERSION:
            msg = f"a physical plan of version {values['version']}, this Penstock has {VERSION}"
            raise DataError(msg, hint="Go on with the version of Penstock that wrote it.")
        columns = {name: tuple(names) for name, names in values["columns"].items()}
        return PhysicalPlan(tuple(map(_fragment_of, values["fragments"])), columns)

    @cached_property
    def identity(self) -> tuple[object, ...]:
        """The identity of its state: the operators, by content, and how rows are divided."""
        return tuple(
            (
                one.name,
                tuple((name, one.graph.identities[n]) for name, n in one.graph.results.items()),
                tuple(sorted(one.partitioning.routes.items(), key=lambda route: route[0])),
            )
            for one in self.fragments
        )

    def only(self, queries: Collection[str]) -> PhysicalPlan:
        """The same for some of the queries; operators that only others need are gone."""
        kept = {name: names for name, names in self.columns.items() if name in queries}
        *before, last = self.fragments
        rest = replace(last, graph=last.graph.only(queries))
        return PhysicalPlan((*before, rest), kept)

    def called(self, names: Mapping[str, str]) -> PhysicalPlan:
        """The same with other names for queries."""
        *before, last = self.fragments
        results = {names.get(name, name): n for name, n in last.graph.results.items()}
        columns = {names.get(name, name): one for name, one in self.columns.items()}
        graph = replace(last.graph, results=results)
        return PhysicalPlan((*before, replace(last, graph=graph)), columns)

    def on_lanes(self, lanes: int) -> PhysicalPlan:
        """The same on another number of lanes."""
        return replace(self, fragments=tuple(_on_lanes(one, lanes) for one in self.fragments))


def _fragment_json(fragment: Fragment) -> dict[str, Any]:
    graph = fragment.graph
    return {
        "name": fragment.name,
        "stage": fragment.stage,
        "is_divided": fragment.is_divided,
        "partitioning": CODEC.encoded(fragment.partitioning),
        "nodes": [CODEC.encoded(one) for one in graph.nodes],
        "results": graph.results,
        "beside": sorted(graph.beside),
    }


def _fragment_of(values: Mapping[str, Any]) -> Fragment:
    graph = Graph(beside=frozenset(values["beside"]))
    for one in values["nodes"]:
        graph.add(CODEC.decoded(one))
    graph.results = dict(values["results"])
    partitioning = CODEC.decoded(values["partitioning"])
    return Fragment(graph, partitioning, values["is_divided"], values["stage"], values["name"])


def _on_lanes(fragment: Fragment, lanes: int) -> Fragment:
    if not fragment.is_divided:
        return fragment
    made = Graph(beside=fragment.graph.beside)
    for node in fragment.graph.nodes:
        made.add(replace(node, spec=node.spec.on_lanes(lanes)))
    made.results = fragment.graph.results
    return replace(fragment, graph=made)

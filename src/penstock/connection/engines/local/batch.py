"""Queries that were registered together: one operator graph, fed with what their streams bring."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from penstock.connection.answers import is_relation
from penstock.connection.engines.local.element_log import ElementLog
from penstock.operators.block import Block
from penstock.planner.optimizing import plans_to_run
from penstock.planner.partition.partitioning import common_partitioning
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.shape import shape_of
from penstock.results.settling import Content
from penstock.runtime.jumps import periodic_parts
from penstock.runtime.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.algebra.tactics import Tactics
    from penstock.compute.failures import Failures
    from penstock.planner.physical.building import Choices
    from penstock.runtime.lane import Results


@dataclass(frozen=True)
class Options:
    """How the queries of a connection run, and how many of their results wait to be read."""

    lanes: int
    choices: Choices
    keep: int

    def under(self, tactics: Tactics) -> Options:
        """The same with what was set for a query."""
        return replace(self, choices=self.choices.under(tactics))


class Batch:
    """A graph of queries, its lanes, and the results of each query that is not dropped yet.

    State that is saved belongs to a graph of the same `shape`.
    """

    def __init__(self, plans: Mapping[str, Plan], options: Options) -> None:
        self.plans = plans
        self.choices = options.choices
        running = plans_to_run(plans, choices=options.choices)
        partitioning = common_partitioning(list(running.values()))
        lanes = options.lanes if partitioning.is_partitioned else 1
        self.graph = operator_graph(running, options.choices, lanes=lanes)
        self.shape = shape_of([(self.graph, partitioning)])
        self.lanes = Lanes(self.graph, partitioning, options.lanes)
        self.periodic = periodic_parts(plans.values())
        self.outcomes = {
            name: ElementLog(options.keep, has_content=is_relation(plan))
            for name, plan in plans.items()
        }

    @property
    def sources(self) -> set[str]:
        """The streams and relations that the queries read which are not dropped."""
        numbers = (self.graph.below(self.graph.results[query]) for query in self.outcomes)
        read: set[int] = set().union(*numbers)
        entries = {**self.graph.streams, **self.graph.relations}
        return {name for name, (_, number) in entries.items() if number in read}

    def feed(self, blocks: Mapping[str, Block], watermarks: Mapping[str, int]) -> None:
        """Pass on rows, and of the watermarks of a connection those of the streams read here."""
        read = self.sources
        own = {name: watermarks[name] for name in self.graph.streams if name in read}
        rows = {name: self._due(name, block) for name, block in blocks.items() if name in read}
        self._take_in(self.lanes.feed(rows, own))

    def _due(self, name: str, block: Block) -> Block:
        """Rows of a stream as they are; changes of a relation none before the clock.

        All queries are told the same dates, so no row leaves a relation before it came to it.
        """
        if name in self.graph.streams:
            return block
        ts = np.maximum(block.ts, self.relation_clock(name))
        return Block(block.columns, ts, block.te, block.sign)

    def relation_clock(self, name: str) -> int:
        """A change of a relation takes effect here not before this instant."""
        return max(lane.relation_clock(name) for lane in self.lanes.lanes)

    def finish(self) -> None:
        """The input has come to its end."""
        self._take_in(self.lanes.finish())

    def _take_in(self, results: Results) -> None:
        for name, outcomes in self.outcomes.items():
            outcomes.add(results.blocks.get(name, []), self.clock(name))

    def clock(self, query: str) -> int:
        """The results of a query for instants before this are final."""
        return min(lane.clock(query) for lane in self.lanes.lanes)

    def content(self, query: str) -> Content:
        """An empty content of a query whose result is a relation."""
        node = self.graph.nodes[self.graph.results[query]]
        return Content(node.arrow_types, node.span, self.choices.queue_partitions)

    def failures(self, query: str) -> Failures:
        """How many expressions failed in what a query computes."""
        return self.lanes.failures(query)

    def segments(self) -> dict[str, pa.Table]:
        """The state of the lanes and of the results, as Arrow."""
        parts: dict[str, Mapping[str, pa.Table]] = {
            f"lane/{number}": lane for number, lane in enumerate(self.lanes.segments())
        }
        parts |= {f"query/{name}": one.segments() for name, one in self.outcomes.items()}
        return joined(parts)

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new, and of the same plans."""
        count = len(self.lanes.lanes)
        self.lanes.restore([within(segments, f"lane/{number}") for number in range(count)])
        for name, one in self.outcomes.items():
            one.restore(within(segments, f"query/{name}"))


def joined(parts: Mapping[str, Mapping[str, pa.Table]]) -> dict[str, pa.Table]:
    """The tables of several parts under one roof, each under its part's name."""
    return {
        f"{part}/{name}": table for part, tables in parts.items() for name, table in tables.items()
    }


def within(tables: Mapping[str, pa.Table], part: str) -> dict[str, pa.Table]:
    """The tables of one part, as `joined` was given them."""
    start = f"{part}/"
    return {name[len(start) :]: one for name, one in tables.items() if name.startswith(start)}

"""Queries that were registered together: one operator graph, fed with what their streams bring."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.connection.engines.local.element_log import ElementLog
from penstock.planner.optimizing import plans_to_run
from penstock.planner.partition.partitioning import common_partitioning
from penstock.planner.physical.codec import content_hash
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.physical_plan import Fragment, PhysicalPlan
from penstock.planner.statistics.statistics import Statistics
from penstock.results.answer_kind import is_relation
from penstock.results.settling import ChangingContent
from penstock.runtime.changes import due_from, told_by
from penstock.runtime.jumps import periodic_parts
from penstock.runtime.lanes import Lanes
from penstock.scheduling.work_rules import WorkRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from penstock.algebra.failures import Failures
    from penstock.algebra.plan import Plan
    from penstock.algebra.tactics import Tactics
    from penstock.operators.block import Block
    from penstock.planner.physical.building import Choices
    from penstock.runtime.lane_output import LaneOutput

Shape = tuple[list["pa.DataType"], int, int]
"""Types and span of rows, and into how many parts that time is divided."""


@dataclass(frozen=True)
class Options:
    """Options that the queries of a connection run by, and how many results wait to be read."""

    lanes: int
    choices: Choices
    keep: int

    def under(self, tactics: Tactics) -> Options:
        """The same with what was set for a query."""
        return replace(self, choices=self.choices.under(tactics))


class Batch:
    """A graph of queries, its lanes, and the results of each query that is not dropped yet.

    State that is saved belongs to a graph of the same `shape`.

    Attributes:
        shed: By query and stream, how many rows were shed.
        known: What the plan was chosen by: rates that streams state.
        exact: By query, the instant from which on it answers as if it had always run.
    """

    def __init__(
        self, plans: Mapping[str, Plan], options: Options, known: Statistics | None = None
    ) -> None:
        self.plans = plans
        self.known = known or Statistics()
        self.exact: dict[str, int] = {}
        self.choices = options.choices
        self._options = options
        running = plans_to_run(plans, self.known, options.choices)
        self._partitioning = common_partitioning(list(running.values()))
        lanes = options.lanes if self._partitioning.is_partitioned else 1
        self.graph = operator_graph(running, options.choices, statistics=self.known, lanes=lanes)
        fragment = Fragment(self.graph, self._partitioning, True, 0)
        self.shape = content_hash(PhysicalPlan((fragment,), {}).identity)
        self.periodic = periodic_parts(plans.values())
        self._rules = WorkRules()
        self.begin_anew()

    def follow(self, rules: WorkRules) -> None:
        """Let lanes work by these rules from now on."""
        self._rules = rules
        self.lanes.follow(rules)

    def go_on(self) -> None:
        """Let lanes do some of what was left undone, for as long as they have in a call."""
        if self.lanes.is_behind:
            self._take_in(self.lanes.feed({}, {}))

    def work_off(self) -> None:
        """Let lanes do what the time for earlier calls has left undone."""
        if self.lanes.is_behind:
            self._take_in(self.lanes.work_off())

    def count_shed(self, stream: str, rows: int) -> None:
        """Rows of a stream were shed, for those queries that read it."""
        if stream not in self.graph.streams:
            return
        number = self.graph.streams[stream][1]
        for query in self.outcomes:
            if number in self.graph.below(self.graph.results[query]):
                self.shed.setdefault(query, Counter())[stream] += rows

    def begin_anew(self) -> None:
        """Be as if nothing had come; what was planned stays, and to plan takes longest."""
        self.lanes = Lanes(self.graph, self._partitioning, self._options.lanes, rules=self._rules)
        self.shed: dict[str, Counter[str]] = {}
        self.exact = {}
        self.outcomes = {
            name: ElementLog(self._options.keep, has_content=is_relation(plan))
            for name, plan in self.plans.items()
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
        rows = {name: block for name, block in blocks.items() if name in read}
        changes = {
            name: due_from(block, self.relation_clock(name))
            for name, block in rows.items()
            if name in self.graph.relations
        }
        self._take_in(self.lanes.feed(rows | changes, own | told_by(changes)))

    def look(self) -> None:
        """The results are about to be read, and what has been read is final.

        No stream tells a query of relations only that an instant is over. Until someone looks,
        more changes may come at the last.
        """
        lanes = self.lanes.lanes
        if self.graph.streams or not any(lane.holds_changes for lane in lanes):
            return
        over = {name: instant + 1 for name, instant in lanes[0].told.items()}
        self._take_in(self.lanes.feed({}, over))

    def relation_clock(self, name: str) -> int:
        """A change of a relation takes effect here not before this instant."""
        return max(lane.relation_clock(name) for lane in self.lanes.lanes)

    def finish(self) -> None:
        """The input has come to its end."""
        self._take_in(self.lanes.finish())

    def _take_in(self, results: LaneOutput) -> None:
        for name, outcomes in self.outcomes.items():
            outcomes.add(results.blocks.get(name, []), self.clock(name))

    def clock(self, query: str) -> int:
        """The results of a query for instants before this are final."""
        return min(lane.clock(query) for lane in self.lanes.lanes)

    def content(self, query: str) -> ChangingContent:
        """An empty content of a query whose result is a relation."""
        return ChangingContent(*self.row_shape(query))

    def row_shape(self, query: str) -> Shape:
        """Types and span of the rows of a query, and into how many parts that time is divided."""
        node = self.graph.nodes[self.graph.results[query]]
        return list(node.arrow_types), node.span, self.choices.queue_partitions

    def failures(self, query: str) -> Failures:
        """The number of expressions that failed in what a query computes."""
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

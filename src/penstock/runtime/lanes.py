"""Several lanes side by side: rows are routed by key, results come together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.failures import Failures
from penstock.compute.evaluate import compile_expression
from penstock.runtime.allotment import Allotment
from penstock.runtime.fuse import Fuse
from penstock.runtime.lane import STEP_ROWS, Lane
from penstock.runtime.lane_output import LaneOutput, together
from penstock.runtime.marks import have_marks
from penstock.runtime.repartition import repartitioned
from penstock.scheduling.work_rules import WorkRules
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.algebra.types import Schema
    from penstock.operators.block import Block
    from penstock.planner.partition.partitioning import Partitioning, Route
    from penstock.planner.physical.graph import Graph
    from penstock.runtime.work_clock import WorkClock


class Lanes:
    """Instances of one graph, each for its share of the keys; one, where no key divides it.

    The rules say how long each works in a feed, and in which order; `clock` measures that.
    """

    def __init__(
        self,
        graph: Graph,
        partitioning: Partitioning,
        count: int = 1,
        step_rows: int = STEP_ROWS,
        rules: WorkRules | None = None,
        clock: WorkClock | None = None,
    ) -> None:
        self.graph = graph
        self._partitioning = partitioning
        self._step_rows = step_rows
        self._rules = rules or WorkRules()
        self._clock = clock
        self.lanes = self._made(count if partitioning.is_partitioned else 1)
        self._owed = LaneOutput()
        self._fuse = Fuse()
        self._routers = {
            name: Router(route, self._schema(name), count)
            for name, route in partitioning.routes.items()
        }

    def _made(self, count: int) -> list[Lane]:
        whole = self._partitioning.whole
        return [
            Lane(self.graph, self._step_rows, whole, self._rules, self._clock) for _ in range(count)
        ]

    def follow(self, rules: WorkRules) -> None:
        """Work by these rules from the next feed on."""
        self._rules = rules
        for lane in self.lanes:
            lane.follow(rules)

    @property
    def is_behind(self) -> bool:
        """The time for earlier feeds left something undone."""
        return any(lane.is_behind for lane in self.lanes)

    @property
    def waiting_bytes(self) -> int:
        """The bytes that wait between stations, of lanes that could go on without further rows."""
        return sum(lane.queued_bytes for lane in self.lanes if lane.is_behind)

    def feed(self, blocks: Mapping[str, Block], watermarks: Mapping[str, int]) -> LaneOutput:
        """Route rows to the lanes, and let the same watermarks pass in all.

        They work for as long as the rules say.
        """
        budget = self._rules.budget
        return self._fed(blocks, watermarks, None if budget is None else Allotment(budget))

    def work_off(self) -> LaneOutput:
        """Do all that is undone."""
        return self._fed({}, {}, None)

    def _fed(
        self,
        blocks: Mapping[str, Block],
        watermarks: Mapping[str, int],
        allotment: Allotment | None,
    ) -> LaneOutput:
        shares: list[dict[str, Block]] = [{} for _ in self.lanes]
        for name, block in blocks.items():
            for share, part in zip(shares, self._routed(name, block), strict=True):
                share[name] = part
        # If one lane fails, the results of those before it are lost with it.
        with self._fuse.guarding():
            fed = zip(self.lanes, shares, strict=True)
            outcomes = [lane.feed(share, watermarks, allotment) for lane, share in fed]
        owed, self._owed = self._owed, LaneOutput()
        return together([owed, *outcomes])

    def finish(self) -> LaneOutput:
        """The input has come to its end in all lanes."""
        with self._fuse.guarding():
            outcomes = [lane.finish() for lane in self.lanes]
        owed, self._owed = self._owed, LaneOutput()
        return together([owed, *outcomes])

    def failures(self, query: str) -> Failures:
        """The number of expressions that failed in what a query computes, in all lanes."""
        total = Failures()
        for lane in self.lanes:
            total.by_function.update(lane.failures(query).by_function)
        return total

    def segments(self) -> list[dict[str, pa.Table]]:
        """The state of each lane."""
        self._fuse.check()
        return [lane.segments() for lane in self.lanes]

    def restore(self, segments: Sequence[Mapping[str, pa.Table]]) -> None:
        """Go on from saved state, of as many lanes or of another number; the lanes are new.

        Of another number, what is undone is done before: lanes have not come equally far with it.
        What that says comes with the next feed.

        Raises:
            CannotDivide: Of another number, and it is not known what belongs to which lane.
        """
        if len(segments) != len(self.lanes) and have_marks(segments):
            segments = self._levelled(segments)
        own = repartitioned(self.graph, self._partitioning, segments, len(self.lanes))
        for lane, parts in zip(self.lanes, own, strict=True):
            lane.restore(parts)

    def _levelled(self, segments: Sequence[Mapping[str, pa.Table]]) -> list[dict[str, pa.Table]]:
        """The state of the lanes there were when nothing waits between their stations."""
        before = self._made(len(segments))
        for lane, parts in zip(before, segments, strict=True):
            lane.restore(parts)
            self._owed.extend(lane.feed({}, {}))
        return [lane.segments() for lane in before]

    def _schema(self, name: str) -> Schema:
        found = self.graph.clocked.get(name) or self.graph.relations[name]
        return found[0].schema

    def _routed(self, name: str, block: Block) -> list[Block]:
        if len(self.lanes) == 1:
            return [block]
        return self._routers[name].routed(block)


class Router:
    """Divides the rows of a source: by the hash of its key, or all rows to every lane."""

    def __init__(self, route: Route, schema: Schema, lanes: int) -> None:
        self._lanes = lanes
        self._keys = None
        if route.keys is not None:
            self._keys = [compile_expression(key, schema) for key in route.keys]

    def routed(self, block: Block) -> list[Block]:
        """The rows of each lane, in the order they came."""
        return [self.share(block, number) for number in range(self._lanes)]

    def share(self, block: Block, lane: int) -> Block:
        """The rows of one lane."""
        if self._keys is None or self._lanes == 1:
            return block
        keys = [key(block.columns, len(block), Failures()) for key in self._keys]
        return block.take(lanes_of(keys, len(block), self._lanes) == lane)

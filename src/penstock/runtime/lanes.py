"""Several lanes side by side: rows are routed by key, results come together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.failures import Failures
from penstock.compute.evaluate import compile_expression
from penstock.runtime.fuse import Fuse
from penstock.runtime.lane import STEP_ROWS, Lane, LaneOutput, together
from penstock.runtime.repartition import repartitioned
from penstock.state.routing import lanes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.algebra.types import Schema
    from penstock.operators.block import Block
    from penstock.planner.partition.partitioning import Partitioning, Route
    from penstock.planner.physical.graph import Graph


class Lanes:
    """Instances of one graph, each for its share of the keys; one, where no key divides it."""

    def __init__(
        self, graph: Graph, partitioning: Partitioning, count: int = 1, step_rows: int = STEP_ROWS
    ) -> None:
        self.graph = graph
        self._partitioning = partitioning
        count = count if partitioning.is_partitioned else 1
        self.lanes = [Lane(graph, step_rows, partitioning.whole) for _ in range(count)]
        self._fuse = Fuse()
        self._routers = {
            name: Router(route, self._schema(name), count)
            for name, route in partitioning.routes.items()
        }

    def feed(self, blocks: Mapping[str, Block], watermarks: Mapping[str, int]) -> LaneOutput:
        """Route rows to the lanes, and let the same watermarks pass in all."""
        shares: list[dict[str, Block]] = [{} for _ in self.lanes]
        for name, block in blocks.items():
            for share, part in zip(shares, self._routed(name, block), strict=True):
                share[name] = part
        # If one lane fails, the results of those before it are lost with it.
        with self._fuse.guarding():
            fed = zip(self.lanes, shares, strict=True)
            return together([lane.feed(share, watermarks) for lane, share in fed])

    def finish(self) -> LaneOutput:
        """The input has come to its end in all lanes."""
        with self._fuse.guarding():
            return together([lane.finish() for lane in self.lanes])

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

        Raises:
            CannotDivide: Of another number, and it is not known what belongs to which lane.
        """
        own = repartitioned(self.graph, self._partitioning, segments, len(self.lanes))
        for lane, parts in zip(self.lanes, own, strict=True):
            lane.restore(parts)

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

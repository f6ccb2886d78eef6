"""A station: an operator at its place in the graph, with a queue at each input."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.failures import Failures
from penstock.algebra.time import BEGINNING
from penstock.operators.join.matching import Matching
from penstock.operators.operator import Metrics, stepped
from penstock.operators.waiting import Waiting
from penstock.runtime.marks import Marks
from penstock.runtime.match_statistics import MatchMeter
from penstock.runtime.operator_report import OperatorReport, ProbeReport
from penstock.runtime.sampling import Budget, PredicateMeter
from penstock.state import arrays
from penstock.state.cutting import portions_of_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from penstock.operators.block import Block
    from penstock.operators.operator import Segments
    from penstock.planner.physical.graph import Node
    from penstock.runtime.operator_report import StreamReport
    from penstock.state.arrays import Ints


class Station:
    """Runs an operator whenever all its inputs have got further.

    Rows wait in the queue of their input until the operator's clock, the least of what the inputs
    have reached, has passed them: so the operator sees each step whole.
    """

    def __init__(self, node: Node, budget: Budget | None = None) -> None:
        self.node = node
        self.failures = Failures()
        self.operator = node.make(self.failures)
        self.clock = BEGINNING
        self.frontier = BEGINNING
        ports = max(len(node.inputs), 1)
        self.reached = [BEGINNING] * ports
        self.marks = Marks(self.reached)
        self._queues = [Waiting() for _ in range(ports)]
        self._metrics = Metrics()
        self._predicate: PredicateMeter | None = None
        if node.predicate is not None and node.predicate.parts:
            self._predicate = PredicateMeter(node.predicate, budget or Budget())
        # The predicate of a filter is asked of the rows that come, that of a join of its pairs.
        self._joins = self.operator if isinstance(self.operator, Matching) else Matching()
        self._asked = self._joins.condition
        if self._asked is not None and self._predicate is not None:
            self._asked.watch = self._predicate.at_pairs
        self._meeting = None if node.meeting is None else MatchMeter(node.meeting)

    def push(self, port: int, block: Block) -> None:
        """Put rows into the queue of an input."""
        self._queues[port].push(block)
        self._metrics.rows_in += len(block)
        if self._predicate is not None and self._asked is None:
            self._predicate.at(block)

    @property
    def is_sampling(self) -> bool:
        """The station looks at samples of its rows."""
        return self._predicate is not None

    def count(self, rows_in: int, rows_out: int) -> None:
        """Rows that were left out before they came here."""
        self._metrics.rows_in += rows_in
        self._metrics.rows_out += rows_out

    def run(self) -> Sequence[Block]:
        """Do the next step, if all inputs have got further; its results."""
        clock = min(self.reached)
        if clock <= self.clock:
            return ()
        began = time.perf_counter()
        made = [block for stop in self._stops(clock) for block in self._step(stop)]
        self.frontier = self.operator.frontier(clock)
        self._metrics.seconds += time.perf_counter() - began
        self._metrics.rows_out += sum(map(len, made))
        self._metrics.withdrawn += sum(map(_negative, made))
        if self._meeting is not None:
            self._meeting.send(made)
        return made

    def _step(self, clock: int) -> list[Block]:
        inputs = [queue.take(clock) for queue in self._queues]
        if self._meeting is not None:
            for port, blocks in enumerate(inputs):
                for block in blocks:
                    self._meeting.take_in(port, block)
        made = stepped(self.operator, inputs, clock)
        self.clock = clock
        return made

    def _stops(self, clock: int) -> list[int]:
        """Instants to stop at on the way to the clock.

        An operator puts the rows of a step together, and an array holds only so much text.
        """
        if sum(queue.text for queue in self._queues) <= arrays.MOST_TEXT:
            return [clock]
        due = [queue.due(clock) for queue in self._queues]
        ts, sizes = map(np.concatenate, zip(*due, strict=True))
        instants, numbers = np.unique(ts, return_inverse=True)
        text = np.zeros(len(instants), np.int64)
        np.add.at(text, numbers, sizes)
        parts = portions_of_text(len(instants), [text])
        return [*(int(instants[part.stop]) for part in parts[:-1]), clock]

    def queued_instants(self) -> Ints:
        """The ts of all rows that wait."""
        return np.concatenate([queue.instants() for queue in self._queues])

    def report(
        self,
        stream: StreamReport | None = None,
        reads: tuple[str, ...] = (),
        whole: Collection[int] = (),
    ) -> OperatorReport:
        """The work and the memory of the operator, the rows in its queues included.

        Through the inputs in `whole`, other lanes of the graph get the same rows.
        """
        predicate = self.node.predicate
        waiting = sum(map(len, self._queues))
        queued = sum(queue.nbytes for queue in self._queues)
        return OperatorReport(
            self.node.label,
            self._metrics.rows_in,
            self._metrics.rows_out,
            self.operator.state_rows + waiting,
            self.operator.state_bytes + queued,
            self._metrics.seconds,
            self._metrics.withdrawn,
            waiting,
            None if predicate is None else predicate.key,
            self._parts(),
            stream,
            reads,
            self._pairs(),
            self.node.made_of,
            None if self._meeting is None else self._meeting.report(self._matched(), whole),
            self.operator.structures,
            self._probes(),
            self._joins.reordered,
        )

    def _matched(self) -> int:
        """Pairs with equal keys, before more is asked of them; or rows that were sent."""
        return self._metrics.rows_out if self._asked is None else self._asked.tested

    def _probes(self) -> tuple[ProbeReport, ...]:
        """The probes of a join of many inputs, by the names of these."""
        names = self.node.names
        return tuple(
            ProbeReport(names[one.origin], names[one.target], one.probes, one.matches)
            for one in self._joins.measured
        )

    def _parts(self) -> dict[str, tuple[int, int]]:
        """Of how many rows, or combinations of rows, each part was asked, and how many hold it."""
        asked = {name: (one.tested, one.held) for name, one in self._joins.conditions.items()}
        return asked if self._predicate is None else self._predicate.report()

    def _pairs(self) -> tuple[int, int] | None:
        """The same of all that is asked beyond equal keys; None: nothing is."""
        several = self._joins.conditions.values()
        asked = [*several] if self._asked is None else [self._asked]
        if not asked:
            return None
        return sum(one.tested for one in asked), sum(one.held for one in asked)

    def segments(self) -> Segments:
        """Clocks, queues with their marks, and the operator's own state."""
        clocks = [self.clock, self.frontier, *self.reached]
        made = {"clocks": pa.table({"clock": pa.array(clocks, pa.int64())}), **self.marks.tables()}
        for port, queue in enumerate(self._queues):
            rows = queue.table()
            made |= {} if rows is None else {f"queue{port}": rows}
        own = self.operator.segments()
        return made | {f"state/{name}": table for name, table in own.items()}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back; the station is new."""
        self.clock, self.frontier, *self.reached[:] = segments["clocks"]["clock"].to_pylist()
        self.marks.take_back(segments)
        for port, queue in enumerate(self._queues):
            if f"queue{port}" in segments:
                queue.take_back(segments[f"queue{port}"])
        own = {
            name.removeprefix("state/"): table
            for name, table in segments.items()
            if name.startswith("state/")
        }
        if own:
            self.operator.restore(own)


def _negative(block: Block) -> int:
    """The number of rows that withdraw others."""
    return 0 if block.sign is None else int(np.count_nonzero(block.sign < 0))

"""The dispatcher of a lane: lets stations work one block at a time, as a scheduler says.

It is there only while a lane has a time for its work: without, every station takes whole steps in
order, and nothing waits between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.runtime.allotment import Step
from penstock.runtime.marks import Mark, PassedBlocks
from penstock.runtime.work_report import ChartReport, WorkReport
from penstock.scheduling.latencies import Latencies
from penstock.scheduling.scheduler import Head

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock.operators.block import Block
    from penstock.runtime.allotment import Allotment
    from penstock.runtime.station import Station
    from penstock.runtime.work_clock import WorkClock
    from penstock.runtime.work_meter import WorkMeter
    from penstock.scheduling.scheduler import Scheduler

    Say = Callable[[str, Block], None]
    """Takes a block of results of a query."""


class Dispatcher:
    """Hands blocks from station to station.

    A block is what came of the rows of an input between two cuts, with a mark behind it. It keeps
    the number and the arrival of its rows on the way.

    Args:
        stations: Those of the lane, inputs before what reads them.
        readers: By station, the stations that read it, with the input where.
        queries: By station, the queries whose results it makes.
        say: Takes results.
        scheduler: Says who is next.
        meter: Measures what stations do.
        clock: Tells the time.

    Attributes:
        nbytes: The bytes that wait; a block that several stations are to read counts for each.
        peak: The most there were.
        latencies: By query, the time from the arrival of blocks to their results.
        meter: What it has measured.
    """

    def __init__(
        self,
        stations: Sequence[Station],
        readers: Sequence[Sequence[tuple[int, int]]],
        queries: Mapping[int, Sequence[str]],
        scheduler: Scheduler,
        meter: WorkMeter,
        clock: WorkClock,
    ) -> None:
        self._stations = stations
        self._readers = readers
        self._results = [queries.get(number, ()) for number in range(len(stations))]
        self._row_bits: dict[int, int | None] = {}
        self.meter = meter
        self.clock = clock
        self.scheduler = scheduler
        self.scheduler.replan(meter.paths(), len(stations))
        self.nbytes = self.peak = sum(one.marks.nbytes for one in stations)
        self.latencies = {query: Latencies() for each in queries.values() for query in each}
        self._sequence = 1 + max((one.marks.last_sequence for one in stations), default=-1)
        for number in range(len(stations)):
            self._tell(number)

    def remember(self, before: Dispatcher) -> None:
        """Go on counting where another one has stopped."""
        self.peak = max(self.peak, before.peak)
        self.latencies = before.latencies

    @property
    def is_behind(self) -> bool:
        """A step could be taken."""
        return any(one.marks.target(one.clock) is not None for one in self._stations)

    def report(self, scheduler: str, labels: Sequence[str]) -> WorkReport:
        """The report of what waits, for how long, and by which charts."""
        return WorkReport(
            scheduler,
            sum(one.marks.rows for one in self._stations),
            self.nbytes,
            self.peak,
            self.meter.least_step,
            {query: one.to_json() for query, one in self.latencies.items()},
            tuple(ChartReport.of(path, labels) for path in self.meter.paths()),
        )

    def enter(self, number: int, arrival: float, say: Say) -> None:
        """Let a station where rows enter make a block of those that are due."""
        station = self._stations[number]
        before = station.frontier
        made = station.run()
        if station.frontier > before:
            entered = PassedBlocks(Head(arrival, self._sequence), 1)
            nbytes = self._hand_on(number, made, entered, say)
            self.meter.enter(nbytes)
            self._sequence += 1

    def work(self, allotment: Allotment, say: Say) -> list[Step]:
        """Work for so long, or repeat steps; the steps that were done."""
        if allotment.steps is not None:
            return [self._step(number, instant, say) for number, instant in allotment.steps]
        done: list[Step] = []
        choose, clock = self.scheduler.choose, self.clock.now
        end = clock() + allotment.seconds
        while (number := choose(now := clock())) is not None:
            if done and now >= end:
                break
            if self.meter.is_due:
                self.meter.close_interval()
                self.scheduler.replan(self.meter.paths(), len(self._stations))
                number = choose(now)
                assert number is not None
            done.append(self._step(number, None, say))
        return done

    def work_off(self, say: Say) -> None:
        """Do all that can be done, station by station; no marks are left."""
        for number, station in enumerate(self._stations):
            while station.marks.target(station.clock) is not None:
                self._step(number, None, say)
            station.marks.forget()
            self._tell(number)
        self.nbytes = 0

    def _step(self, number: int, stop: int | None, say: Say) -> Step:
        """Let a station go on to an instant; None: it takes its head, and small blocks behind it.

        Each step pays for what is called here, and when an operator has been at work even a call of
        nothing takes half a microsecond.
        """
        station, clock = self._stations[number], self.clock
        marks = station.marks
        instant = marks.next_stop(station.clock) if stop is None else stop
        began = clock.now()
        rows, nbytes = marks.rows, marks.nbytes
        passed = marks.passed(instant)
        made = station.run()
        clock.charge(number, rows - marks.rows)
        seconds = clock.now() - began
        taken = nbytes - marks.nbytes
        self.nbytes -= taken
        self.meter.add(number, seconds, taken, self._hand_on(number, made, passed, say))
        self.scheduler.ran(number, seconds)
        self.scheduler.waits(number, marks.head(station.clock))
        return Step(number, instant)

    def _hand_on(self, number: int, made: Sequence[Block], passed: PassedBlocks, say: Say) -> int:
        """Put what a station made into the queues of its readers, or among the results; its bytes.

        Results leave, so they have none.
        """
        rows = nbytes = 0
        if readers := self._readers[number]:
            for block in made:
                rows += len(block)
                nbytes += self._size(number, block)
            mark = Mark(self._stations[number].frontier, passed.head, rows, nbytes, passed.blocks)
            for reader, port in readers:
                self._queue(reader, port, made, mark)
        for query in self._results[number]:
            self.latencies[query].add(self.clock.now() - passed.head.arrival, passed.blocks)
            for block in made:
                say(query, block)
        return nbytes

    def _size(self, number: int, block: Block) -> int:
        """The bytes of a block that a station made: of the same types as all that it makes."""
        bits = self._row_bits.get(number, 0)
        if bits == 0:
            bits = self._row_bits[number] = block.row_bits
        return block.nbytes if bits is None else len(block) * bits // 8

    def _queue(self, reader: int, port: int, made: Sequence[Block], mark: Mark) -> None:
        """Let blocks wait at an input of a station, with a mark behind them."""
        station = self._stations[reader]
        marks = station.marks
        for block in made:
            station.push(port, block)
        before = marks.nbytes
        if marks.put(port, mark):
            self.scheduler.waits(reader, marks.head(station.clock))
        self.nbytes += marks.nbytes - before
        if self.nbytes > self.peak:
            self.peak = self.nbytes

    def _tell(self, number: int) -> None:
        station = self._stations[number]
        self.scheduler.waits(number, station.marks.head(station.clock))

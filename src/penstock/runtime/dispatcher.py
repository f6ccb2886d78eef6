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
        self._queries = queries
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
            for step in allotment.steps:
                self._step(*step, say)
            return list(allotment.steps)
        done: list[Step] = []
        end = self.clock.now() + allotment.seconds
        while (number := self.scheduler.choose(now := self.clock.now())) is not None:
            if done and now >= end:
                break
            if self.meter.is_due:
                self.meter.close_interval()
                self.scheduler.replan(self.meter.paths(), len(self._stations))
                number = self.scheduler.choose(now)
                assert number is not None
            done.append(self._next_step(number, say))
        return done

    def work_off(self, say: Say) -> None:
        """Do all that can be done, station by station; no marks are left."""
        for number, station in enumerate(self._stations):
            while station.marks.target(station.clock) is not None:
                self._next_step(number, say)
            station.marks.forget()
            self._tell(number)
        self.nbytes = 0

    def _next_step(self, number: int, say: Say) -> Step:
        """Let a station take its head block, and small ones behind it."""
        station = self._stations[number]
        target = station.marks.target(station.clock)
        assert target is not None
        step = Step(number, station.marks.extended(target))
        self._step(*step, say)
        return step

    def _step(self, number: int, instant: int, say: Say) -> None:
        station = self._stations[number]
        began = self.clock.now()
        rows, nbytes = station.marks.rows, station.marks.nbytes
        passed = station.marks.passed(instant)
        made = station.run()
        self.clock.charge(number, rows - station.marks.rows)
        seconds = self.clock.now() - began
        taken = nbytes - station.marks.nbytes
        self.nbytes -= taken
        self.meter.add(number, seconds, taken, self._hand_on(number, made, passed, say))
        self.scheduler.ran(number, seconds)
        self._tell(number)

    def _hand_on(self, number: int, made: Sequence[Block], passed: PassedBlocks, say: Say) -> int:
        """Put what a station made into the queues of its readers, or among the results; its bytes.

        Results leave, so they have none.
        """
        nbytes = self._queue(number, made, passed) if self._readers[number] else 0
        for query in self._queries.get(number, ()):
            self.latencies[query].add(self.clock.now() - passed.head.arrival, passed.blocks)
            for block in made:
                say(query, block)
        return nbytes

    def _queue(self, number: int, made: Sequence[Block], passed: PassedBlocks) -> int:
        rows, nbytes = sum(map(len, made)), sum(one.nbytes for one in made)
        frontier = self._stations[number].frontier
        head, blocks = passed
        mark = Mark(frontier, head.sequence, head.arrival, rows, nbytes, blocks)
        for reader, port in self._readers[number]:
            station = self._stations[reader]
            for block in made:
                station.push(port, block)
            self.nbytes += station.marks.put(port, mark)
            self._tell(reader)
        self.peak = max(self.peak, self.nbytes)
        return nbytes

    def _tell(self, number: int) -> None:
        station = self._stations[number]
        self.scheduler.waits(number, station.marks.head(station.clock))

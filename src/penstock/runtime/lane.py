"""The lane: an operator graph with a clock, fed with blocks, that returns results.

It knows nothing of Spark: whoever drives it decides where rows come from, and when state is saved.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from penstock.algebra.failures import Failures
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import InternalError
from penstock.runtime.dispatcher import Dispatcher
from penstock.runtime.fuse import Fuse
from penstock.runtime.lane_output import LaneOutput
from penstock.runtime.prefilter import prefilter_of
from penstock.runtime.sampling import Budget, StreamMeter
from penstock.runtime.station import Station
from penstock.runtime.work_clock import RealClock
from penstock.runtime.work_meter import WorkMeter
from penstock.scheduling.work_rules import WorkRules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.planner.physical.graph import Graph
    from penstock.runtime.allotment import Allotment
    from penstock.runtime.operator_report import OperatorReport
    from penstock.runtime.work_clock import WorkClock
    from penstock.state.arrays import Ints

STEP_ROWS = 65_536
"""About how many rows of all sources a step takes in, so that state is freed as time goes on."""


class _RelationReader(NamedTuple):
    """A query that reads relations: the streams that tell it of time, and all its relations."""

    streams: AbstractSet[str]
    relations: AbstractSet[str]


class Lane:
    """One instance of the operator graph, for one share of the keys.

    Rows come in any order; each waits until the watermark of its source has passed it. A row
    before the watermark at the opening of the feed is late: it is counted, and handed back with
    the results.

    Of the streams in `whole`, other lanes of the graph get the same rows, not others. Where a feed
    has an allotment, the rules say who chooses the station that runs next; what is not done waits.
    """

    def __init__(
        self,
        graph: Graph,
        step_rows: int = STEP_ROWS,
        whole: Collection[str] = (),
        rules: WorkRules | None = None,
        clock: WorkClock | None = None,
    ) -> None:
        self._rules = rules or WorkRules()
        self._clock = clock or RealClock()
        self._dispatcher: Dispatcher | None = None
        # The last one, when all was done without one: the next goes on with what it measured.
        self._worked: Dispatcher | None = None
        self.step_rows = step_rows
        self._whole = whole
        self._budget = Budget()
        self._waiting: list[Ints] = []
        self.watermarks: dict[str, int] = {}
        self.late_rows: dict[str, int] = {}
        self.told: dict[str, int] = {}
        self._meters: dict[str, StreamMeter] = {}
        self._run(graph, [Station(node, self._budget) for node in graph.nodes])
        self._fuse = Fuse()

    def _run(self, graph: Graph, stations: list[Station]) -> None:
        """Let the stations of the nodes of a graph work; what is known of its inputs stays."""
        self.graph = graph
        self.stations = stations
        self._clocked = {name: number for name, (_, number) in graph.clocked.items()}
        self.watermarks = _begun([*self._clocked, *graph.beside], self.watermarks, BEGINNING)
        self.late_rows = _begun(self._clocked, self.late_rows, 0)
        self.told = _begun(graph.relations, self.told, BEGINNING)
        self._meters = {
            name: self._meters.get(name) or StreamMeter(name, stream.schema.names, self._budget)
            for name, (stream, _) in graph.streams.items()
        }
        self._entries = [*self._clocked.values(), *(n for _, n in graph.relations.values())]
        self._metered = {number: self._meters[name] for name, (_, number) in graph.streams.items()}
        self._readers: list[list[tuple[int, int]]] = [[] for _ in graph.nodes]
        for number, node in enumerate(graph.nodes):
            for port, child in enumerate(node.inputs):
                self._readers[child].append((number, port))
        self._queries: dict[int, list[str]] = {}
        for name, number in graph.results.items():
            self._queries.setdefault(number, []).append(name)
        self._relation_readers = self._readers_of_relations()
        readers = [[one for one, _ in each] for each in self._readers]
        self._gates = {
            name: prefilter_of(number, readers, stations, {*self._queries})
            for name, (_, number) in graph.streams.items()
        }
        self._go_on_with_marks()

    def _go_on_with_marks(self) -> None:
        """Let blocks that wait between stations, of an earlier graph or saved, be worked off."""
        self._worked = None
        has_marks = any(len(one.marks) for one in self.stations)
        self._dispatcher = self._new_dispatcher() if has_marks else None

    def let_go(self, graph: Graph) -> None:
        """Go on with a graph that is a part of the one that runs: fewer results are wanted.

        What only others needed is freed.
        """
        if graph.identities != self.graph.identities or graph.results != self.graph.results:
            known = dict(zip(self.graph.identities, self.stations, strict=True))
            self._run(graph, [known[one] for one in graph.identities])

    def feed(
        self,
        blocks: Mapping[str, Block],
        watermarks: Mapping[str, int],
        allotment: Allotment | None = None,
    ) -> LaneOutput:
        """Take in rows of sources, let the watermarks pass, and return what is then final.

        Without an allotment all is done that can be done, also what waited since earlier feeds.

        A watermark says that no row before it will come. Changes of relations are blocks with
        signs, and come before the watermarks pass their instants. The watermark of a relation
        counts where no stream tells of time: for queries that read relations only.

        Raises:
            InternalError: An earlier feed failed, with whatever error: operators may have taken
                in a part of it, so nothing that this lane says can be relied on any more.
        """
        entries = {name: self._entry(name) for name in blocks}
        results = LaneOutput()
        began = time.perf_counter()
        with self._fuse.guarding():
            for name, block in blocks.items():
                self._take_in(name, self.stations[entries[name]], block, results)
            for name, watermark in watermarks.items():
                known = self.told if name in self.told else self.watermarks
                known[name] = max(known[name], watermark)
            if allotment is None:
                self._do_all(results)
            else:
                self._do_some(allotment, results)
        self._budget.worked += time.perf_counter() - began
        return results

    def _take_in(self, name: str, entry: Station, block: Block, results: LaneOutput) -> None:
        if name in self._clocked and len(block):
            late = block.ts < self.watermarks[name]
            if late.any():
                results.late[name] = [block.take(late)]
                self.late_rows[name] += int(late.sum())
                block = block.take(~late)
            if name in self.graph.streams:
                self._meters[name].take_in(block, self.watermarks[name])
            gate = self._gates.get(name)
            block = block if gate is None else gate.let_in(block)
            self._waiting.append(block.ts)
        entry.push(0, block)

    def finish(self) -> LaneOutput:
        """The input has come to its end: return all that is left."""
        self._fuse.check()
        return self.feed({}, dict.fromkeys([*self.watermarks, *self.told], INFINITY))

    def _entry(self, name: str) -> int:
        if name in self._clocked:
            return self._clocked[name]
        if name in self.graph.relations:
            return self.graph.relations[name][1]
        msg = f"no query of this lane reads {name!r}"
        raise InternalError(msg)

    def _cuts(self) -> list[int]:
        """Instants up to which to go, one after the other, so that no step takes in too much."""
        goal = max([*self.watermarks.values(), *self._relations_reach().values()])
        waiting = np.concatenate(self._waiting) if self._waiting else np.zeros(0, np.int64)
        is_due = waiting < goal
        due, rest = waiting[is_due], waiting[~is_due]
        self._waiting = [rest] if len(rest) else []
        most = self.step_rows if self._rules.budget is None else self._rules.block_rows
        if len(due) <= most:
            return [goal]
        # Steps alike: one that takes in the rest alone would cost as much as any.
        steps = -(-len(due) // most)
        places = np.arange(1, steps) * len(due) // steps
        return [*dict.fromkeys(np.partition(due, places)[places].tolist()), goal]

    def _relations_reach(self) -> dict[str, int]:
        """The instant up to which changes of each relation are looked at: the foremost clock."""
        return {
            name: max(map(self._clock_of, readers))
            for name, readers in self._relation_readers.items()
        }

    def _clock_of(self, reader: _RelationReader) -> int:
        """The clock of a query; one without streams has none but what its relations tell."""
        if reader.streams:
            return min(self.watermarks[name] for name in reader.streams)
        return max(self.told[name] for name in reader.relations)

    def _do_all(self, results: LaneOutput) -> None:
        """Let time pass cut by cut; each station does a whole step, and nothing waits behind it."""
        if self._dispatcher is not None:
            self._dispatcher.work_off(results.add)
            self._worked, self._dispatcher = self._dispatcher, None
        for cut in self._cuts():
            self._pass(cut)
            for number in range(len(self.stations)):
                self._take_turn(number, results)

    def _do_some(self, allotment: Allotment, results: LaneOutput) -> None:
        """Let the rows that are due enter, block by block, and work as far as is allotted."""
        self._dispatcher = working = self._dispatcher or self._new_dispatcher()
        arrival = working.clock.now() if allotment.arrival is None else allotment.arrival
        for cut in self._cuts():
            self._pass(cut)
            for number in self._entries:
                working.enter(number, arrival, results.add)
        results.steps += working.work(allotment, results.add)

    def _new_dispatcher(self) -> Dispatcher:
        graph = self.graph
        # Relations have no paths, so changes of them go first: they are few, and joins wait for
        # them.
        meter = WorkMeter(
            [node.inputs for node in graph.nodes],
            self._clocked,
            graph.results,
            self._rules.latency,
        )
        before, scheduler = self._worked, self._rules.scheduler_made()
        meter = meter if before is None else before.meter
        made = Dispatcher(
            self.stations, self._readers, self._queries, scheduler, meter, self._clock
        )
        if before is not None:
            made.remember(before)
        return made

    def work_report(self) -> dict[str, Any]:
        """The report of what waits, for how long, and by which charts; empty without a budget."""
        done = None if self._rules.budget is None else self._worked
        working = self._dispatcher or done
        if working is None:
            return {}
        labels = [node.label for node in self.graph.nodes]
        return working.report(self._rules.scheduler, labels).to_json()

    def follow(self, rules: WorkRules) -> None:
        """Work by these rules from the next feed on."""
        if rules != self._rules:
            self._rules = rules
            self._go_on_with_marks()

    @property
    def is_behind(self) -> bool:
        """An allotment has left something undone."""
        return self._dispatcher is not None and self._dispatcher.is_behind

    @property
    def dispatcher(self) -> Dispatcher | None:
        """The dispatcher of work block by block, while there is an allotment or its rest."""
        return self._dispatcher

    @property
    def queued_bytes(self) -> int:
        """The bytes that wait between stations, each reader's copy counted."""
        return 0 if self._dispatcher is None else self._dispatcher.nbytes

    def _pass(self, cut: int) -> None:
        """Let time pass up to an instant where rows enter, as far as the watermarks allow."""
        for name, number in self._clocked.items():
            station = self.stations[number]
            station.reached[0] = max(station.reached[0], min(self.watermarks[name], cut))
        for name, reach in self._relations_reach().items():
            station = self.stations[self.graph.relations[name][1]]
            station.reached[0] = max(station.reached[0], min(reach, cut))

    def _take_turn(self, number: int, results: LaneOutput) -> None:
        """Let a station do what it can, and hand what it made to those who read it."""
        station = self.stations[number]
        made = station.run()
        for reader, port in self._readers[number]:
            self.stations[reader].reached[port] = station.frontier
            for block in made:
                self.stations[reader].push(port, block)
        for query in self._queries.get(number, ()):
            for block in made:
                results.add(query, block)

    def _readers_of_relations(self) -> dict[str, list[_RelationReader]]:
        """The queries that read each relation, by what tells them of time."""
        found: dict[str, list[_RelationReader]] = {}
        for number in self.graph.results.values():
            below = self.graph.below(number)
            streams = {name for name, n in self._clocked.items() if n in below}
            relations = {name for name, (_, n) in self.graph.relations.items() if n in below}
            for name in relations:
                reader = _RelationReader(streams | self.graph.beside, frozenset(relations))
                found.setdefault(name, []).append(reader)
        return found

    def relation_clock(self, name: str) -> int:
        """A change of a relation dated before this comes too late to take effect at its instant."""
        return self.stations[self.graph.relations[name][1]].clock

    @property
    def holds_changes(self) -> bool:
        """Changes of relations wait for time to pass."""
        entries = [self.graph.relations[name][1] for name in self._relation_readers]
        return any(len(self.stations[entry].queued_instants()) for entry in entries)

    def clock(self, query: str) -> int:
        """Results of a query for instants before this are final."""
        return self.stations[self.graph.results[query]].frontier

    def failures(self, query: str) -> Failures:
        """The number of expressions that failed in what a query computes, by function."""
        total = Failures()
        for number in self.graph.below(self.graph.results[query]):
            total.by_function.update(self.stations[number].failures.by_function)
        return total

    def reports(self) -> list[OperatorReport]:
        """The work of each operator, inputs before what reads them."""
        return [self._report(number) for number in range(len(self.stations))]

    def _report(self, number: int) -> OperatorReport:
        meter = self._metered.get(number)
        stream = None if meter is None else meter.report(self._whole)
        below = self.graph.below(number)
        reads = [name for name, (_, entry) in self.graph.streams.items() if entry in below]
        node = self.graph.nodes[number]
        inputs = () if node.meeting is None else node.inputs
        whole = {port for port, one in enumerate(inputs) if self._is_whole(one)}
        return self.stations[number].report(stream, tuple(sorted(reads)), whole)

    def _is_whole(self, number: int) -> bool:
        """Other lanes have the same results of a node."""
        below = self.graph.below(number)
        entries = {**self.graph.clocked, **self.graph.relations}
        return {name for name, (_, entry) in entries.items() if entry in below} <= {*self._whole}

    def segments(self) -> dict[str, pa.Table]:
        """The whole state as Arrow tables, between two feeds."""
        self._fuse.check()
        return {
            f"{identity}/{name}": table
            for identity, station in zip(self.graph.identities, self.stations, strict=True)
            for name, table in station.segments().items()
        }

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Go on from saved state; the lane is new, and of the same graph, or a part of it."""
        with self._fuse.guarding():
            for identity, station in zip(self.graph.identities, self.stations, strict=True):
                station.restore(_below(f"{identity}/", segments))
            for name, number in self._clocked.items():
                self.watermarks[name] = self.stations[number].reached[0]
                queued = self.stations[number].queued_instants()
                self._waiting += [queued] if len(queued) else []
            for name in self._relation_readers:
                self.told[name] = self.stations[self.graph.relations[name][1]].reached[0]
            self._go_on_with_marks()


def _begun(names: Iterable[str], known: Mapping[str, int], at: int) -> dict[str, int]:
    """Facts known of inputs, and the beginning of those of which nothing is known."""
    return {name: known.get(name, at) for name in names}


def _below(start: str, segments: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables whose names begin so, under the rest of their names."""
    return {k.removeprefix(start): t for k, t in segments.items() if k.startswith(start)}

"""The lanes of a task, kept in memory from one micro-batch to the next.

The truth is on disk: the state of a lane is what its image and the logs since then make. What is
kept here is only used if it is exactly that; else it catches up, or is made anew.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.home.bundles import Bundle, write_bundle
from penstock.home.records import LaneState
from penstock.operators.block import concatenated, from_table, to_table
from penstock.pipeline.arriving import Arrivals, arrivals
from penstock.pipeline.logs import read_log
from penstock.pipeline.plans import BoundPlan, bound, read_plan
from penstock.pipeline.work import Done, StreamCounts
from penstock.runtime.lane import Lane, Results
from penstock.runtime.lanes import Router

if TYPE_CHECKING:
    from penstock.home.layout import Home
    from penstock.operators.block import Block
    from penstock.pipeline.logs import Log
    from penstock.pipeline.plans import BoundGroup
    from penstock.pipeline.work import Work

CHANGES = "changes"
"""The part of a file that has changes of a relation."""
LEAST_LOG = 8 << 20
"""Bytes of logs that are always fed again rather than replaced by an image."""


@dataclass
class KeptLane:
    """A lane in memory, and which state it is in."""

    lane: Lane
    version: str | None = None
    failed_before: dict[str, Counter[str]] = field(default_factory=dict)

    def failures(self, query: str) -> Counter[str]:
        """What failed in a query since the lane was first made."""
        return self.failed_before.get(query, Counter()) + self.lane.failures(query).by_function


@dataclass
class LaneOutcome:
    """What feeding a log to a lane led to."""

    results: Results
    streams: dict[str, Arrivals]


class Keeper:
    """Does the work of a task: feeds logs to its lanes, writes results and images.

    An image is written when logs have grown beyond the last one, and beyond `least_log` bytes.
    """

    def __init__(self, home: Home, least_log: int = LEAST_LOG) -> None:
        self._home = home
        self._least_log = least_log
        self._plans: dict[str, BoundPlan] = {}
        self._kept: dict[str, KeptLane] = {}

    def do(self, work: Work) -> Done:
        """Feed a log to the lanes, and write what comes of it.

        Raises:
            DataError: A file of the state is missing or damaged.
        """
        try:
            return self._do(work)
        except BaseException:
            # Some lanes may have taken in a part of the log: they are in no known state.
            for name in work.lanes:
                self._kept.pop(name, None)
            raise

    def _do(self, work: Work) -> Done:
        began = time.perf_counter()
        plan = self._plan(work.plan)
        self._forget_others(work)
        kept = {name: self._at(plan, name, state) for name, state in work.lanes.items()}
        ready = time.perf_counter()
        log = self._log(work.log)
        outcomes = {name: self._feed(plan, name, kept[name], log) for name in kept}
        fed = time.perf_counter()
        done = Done(work.task)
        for name, one in kept.items():
            one.version = work.log
            group = _group_of(plan, name)
            for query in group.plans:
                clock = one.lane.clock(query)
                done.clocks[query] = min(clock, done.clocks.get(query, clock))
                done.failures[query] = dict(
                    Counter(done.failures.get(query, {})) + one.failures(query)
                )
            for relation in group.graph.relations:
                clock = one.lane.relation_clock(relation)
                done.relations[relation] = max(clock, done.relations.get(relation, clock))
            done.operators[name] = [asdict(report) for report in one.lane.reports()]
        done.streams = _counted(plan, outcomes)
        done.results = self._write_results(plan, work, outcomes)
        done.result_rows = _result_rows(outcomes)
        done.lanes = {
            name: self._state_after(work, name, state, kept[name])
            for name, state in work.lanes.items()
        }
        done.seconds = {
            "restore": ready - began,
            "operators": fed - ready,
            "write": time.perf_counter() - fed,
        }
        return done

    def _plan(self, name: str) -> BoundPlan:
        if name not in self._plans:
            self._plans = {name: bound(read_plan(self._home, name))}
        return self._plans[name]

    def _forget_others(self, work: Work) -> None:
        """Lanes that now belong to another task, or to no query, need no memory here."""
        self._kept = {name: one for name, one in self._kept.items() if name in work.lanes}

    def _at(self, plan: BoundPlan, name: str, state: LaneState) -> KeptLane:
        """A lane in a given state: the one in memory, brought there, or made anew."""
        kept = self._kept.get(name)
        if kept is not None and kept.version == state.version:
            return kept
        if kept is not None and kept.version in state.logs:
            missing = state.logs[state.logs.index(kept.version) + 1 :]
        else:
            kept = self._from_image(plan, name, state)
            missing = state.logs
        self._kept[name] = kept
        for log in missing:
            self._feed(plan, name, kept, self._log(log))
            kept.version = log
        return kept

    def _from_image(self, plan: BoundPlan, name: str, state: LaneState) -> KeptLane:
        lane = Lane(_group_of(plan, name).graph)
        if state.image is None:
            return KeptLane(lane)
        image = Bundle(self._home.segments / state.image)
        lane.restore({part: image.table(part) for part in image.names})
        failed = {query: Counter(counts) for query, counts in image.about["failures"].items()}
        return KeptLane(lane, state.image, failed)

    def _log(self, name: str) -> Log:
        return read_log(self._home.segments / name)

    def _feed(self, plan: BoundPlan, name: str, kept: KeptLane, log: Log) -> LaneOutcome:
        """Let a lane take in its share of a log."""
        graph = _group_of(plan, name).graph
        blocks = self._changes(plan, name, log)
        if log.is_last:
            results = kept.lane.feed(blocks, {})
            results.extend(kept.lane.finish())
            return LaneOutcome(results, {})
        found: dict[str, Arrivals] = {}
        for stream, rows in log.share(name).items():
            if stream in graph.streams:
                found[stream] = arrivals(rows, log.slots.streams[stream], log.watermark(stream))
        watermarks = {stream: _reached(log, stream, found.get(stream)) for stream in graph.streams}
        blocks |= {stream: one.block for stream, one in found.items()}
        return LaneOutcome(kept.lane.feed(blocks, watermarks), found)

    def _changes(self, plan: BoundPlan, name: str, log: Log) -> dict[str, Block]:
        """A lane's share of the changes of relations."""
        group = _group_of(plan, name)
        found: dict[str, Block] = {}
        for relation, files in log.changes(group.group.number).items():
            parts = [from_table(Bundle(self._home.segments / one).table(CHANGES)) for one in files]
            block = concatenated(parts)
            if group.group.lanes > 1:
                schema = group.graph.relations[relation][0].schema
                router = Router(group.partitioning.routes[relation], schema, group.group.lanes)
                block = router.share(block, int(name.partition(".")[2]))
            found[relation] = block
        return found

    def _write_results(
        self, plan: BoundPlan, work: Work, outcomes: dict[str, LaneOutcome]
    ) -> str | None:
        """Write the results of all lanes, and the rows that were set aside; the file, if any."""
        results: dict[str, list[Block]] = {}
        aside: dict[str, list[pa.Table]] = {}
        for name, outcome in outcomes.items():
            for query, blocks in outcome.results.blocks.items():
                results.setdefault(query, []).extend(block for block in blocks if len(block))
            for stream, arrived in outcome.streams.items():
                if plan.counts(name, stream):
                    found = [_with_reason(*one) for one in arrived.aside.items()]
                    aside.setdefault(stream, []).extend(found)
        whole = {f"aside/{one}": pa.concat_tables(parts) for one, parts in aside.items() if parts}
        whole |= {
            f"query/{query}": to_table(concatenated(blocks), plan.columns(query))
            for query, blocks in results.items()
            if blocks
        }
        if not whole:
            return None
        segment = self._home.new_segment(work.record, work.task, "results")
        write_bundle(self._home.segments / segment, whole, durable=True)
        return segment

    def _state_after(self, work: Work, name: str, before: LaneState, kept: KeptLane) -> LaneState:
        """How the state is made from now on: by one more log, or by an image if there are many."""
        size = (self._home.segments / work.log).stat().st_size
        state = replace(before, logs=(*before.logs, work.log), log_bytes=before.log_bytes + size)
        if state.log_bytes < max(self._least_log, state.image_bytes):
            return state
        image = self._home.new_segment(work.record, work.task, "image")
        path = self._home.segments / image
        failures = {query: kept.failures(query) for query in kept.lane.graph.results}
        write_bundle(path, kept.lane.segments(), {"failures": failures}, durable=True)
        kept.version = image
        return LaneState(image, path.stat().st_size)


def _group_of(plan: BoundPlan, lane: str) -> BoundGroup:
    return plan.groups[int(lane.partition(".")[0])]


def _reached(log: Log, stream: str, arrived: Arrivals | None) -> int:
    """The watermark of a stream as far as a lane can know: its own rows may be ahead of others."""
    opening = log.watermark(stream)
    if arrived is None or arrived.latest == BEGINNING:
        return opening
    slack = log.slots.streams[stream].definition.slack
    return max(opening, arrived.latest - slack, BEGINNING + 1)


def _counted(plan: BoundPlan, outcomes: dict[str, LaneOutcome]) -> dict[str, StreamCounts]:
    """The rows of each stream, from the lanes that count for it."""
    counted: dict[str, StreamCounts] = {}
    for name, outcome in outcomes.items():
        for stream, one in outcome.streams.items():
            if plan.counts(name, stream):
                total = counted.setdefault(stream, StreamCounts(0, 0, 0, BEGINNING))
                late = sum(len(rows) for why, rows in one.aside.items() if why.startswith("late"))
                total.rows += one.rows
                total.late += late
                total.aside += sum(map(len, one.aside.values())) - late
                total.latest = max(total.latest, one.latest)
    return counted


def _result_rows(outcomes: dict[str, LaneOutcome]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for outcome in outcomes.values():
        for query, blocks in outcome.results.blocks.items():
            counts[query] += sum(map(len, blocks))
    return dict(counts)


def _with_reason(reason: str, rows: pa.Table) -> pa.Table:
    return rows.append_column("_reason", pa.array([reason] * len(rows), pa.string()))

"""The lanes of a task, kept in memory from one micro-batch to the next.

The truth is on disk: the state of a lane is what its image and the logs since then make. What is
kept here is only used if it is exactly that; else it catches up, or is made anew.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.lane_host.group_clocks import GroupClocks
from penstock.lane_host.hosted_plan import HostedGroup, HostedPlan
from penstock.lane_host.images import read_image, write_images
from penstock.lane_host.logs import Log
from penstock.lane_host.outcome_files import OutcomeFiles, result_rows, stream_counts
from penstock.lane_host.plan_files import PhysicalPlans, read_plan_file
from penstock.lane_host.step_logs import (
    is_step_log,
    read_step_log,
    steps_table,
    write_step_log,
)
from penstock.lane_host.work import Done
from penstock.operators.block import concatenated, from_table
from penstock.runtime.allotment import Allotment
from penstock.runtime.changes import told_by
from penstock.runtime.lane import Lane
from penstock.runtime.lateness import watermark_after
from penstock.runtime.work_clock import RealClock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.lane_host.arrivals import Arrivals
    from penstock.lane_host.hosted_plan import HostedFragment
    from penstock.lane_host.work import Work
    from penstock.operators.block import Block
    from penstock.runtime.lane_output import LaneOutput
    from penstock.runtime.work_clock import WorkClock
    from penstock.store.layout import Home
    from penstock.store.records import LaneState

LEFT_SECONDS = 10.0
"""So often a process that nobody asks sees whether its lanes are kept elsewhere by now."""
LEAST_LOG = 32 << 20
"""Bytes of logs that are always fed again rather than replaced by an image."""
MANY_LOGS = 64
"""So many logs are replaced by an image, unless it is much larger than they are."""
MOST_LOGS = 1000
"""So many are in any case: each record names them all."""


@dataclass
class HostedLane:
    """A lane in memory, and which state it is in."""

    lane: Lane
    version: str | None = None
    failed_before: dict[str, Counter[str]] = field(default_factory=dict)

    def failures(self, query: str) -> Counter[str]:
        """The failures in a query since the lane was first made."""
        return self.failed_before.get(query, Counter()) + self.lane.failures(query).by_function

    def all_failures(self) -> dict[str, Counter[str]]:
        """The same of each of its results."""
        return {query: self.failures(query) for query in self.lane.graph.results}


class LaneHost:
    """Does the work of a task: feeds logs to its lanes, writes results and images.

    An image is written when logs have grown beyond the last one, and beyond `least_log` bytes.
    """

    def __init__(
        self, home: Home, least_log: int = LEAST_LOG, clock: WorkClock | None = None
    ) -> None:
        self._home = home
        self._least_log = least_log
        self._clock = clock or RealClock()
        self._plans: dict[str, HostedPlan] = {}
        self._physical = PhysicalPlans(home)
        self._kept: dict[str, HostedLane] = {}
        self._asked = 0

    @property
    def is_left(self) -> bool:
        """The pipeline goes on, and another process keeps the lanes."""
        record = self._home.chain.last()
        if record is None or record.number <= self._asked:
            return False
        return all(
            name not in record.lanes or record.lanes[name].version != one.version
            for name, one in self._kept.items()
        )

    def do(self, work: Work) -> Done:
        """Feed a log to the lanes, and write what comes of it.

        Raises:
            DataError: A file of the state is missing or damaged.
        """
        self._asked = work.record
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
        kept = self.lanes_at(work.plan, work.lanes)
        for one in kept.values():
            one.lane.follow(work.rules)
        ready = time.perf_counter()
        log = self._log(work.log)
        allotment = self._allotment(work)
        outcomes = {name: self._feed(plan, name, kept[name], log, allotment) for name in kept}
        fed = time.perf_counter()
        clocks: dict[str, int] = {}
        size = (self._home.segments / work.log).stat().st_size
        done = Done(work.task, streams=stream_counts(log), log=(work.log, size))
        for name, one in kept.items():
            one.version = work.log
            _add_progress(done, clocks, plan.lanes[name], plan.hosted, one)
            if work.with_reports:
                done.operators[name] = [asdict(report) for report in one.lane.reports()]
                if report := one.lane.work_report():
                    done.work[name] = report
            if one.lane.is_behind:
                done.behind[name] = one.lane.queued_bytes
        groups = {number: one.results for number, one in plan.hosted.items()}
        done.clocks = GroupClocks.of(clocks, groups)
        written = OutcomeFiles(self._home, plan, work)
        done.results = written.results(outcomes)
        done.aside = written.rejected(log)
        done.sent = written.sent(outcomes)
        done.result_rows = result_rows(plan, outcomes)
        done.lanes = self._states_after(
            work, kept, self._write_steps(work, kept, outcomes, allotment)
        )
        done.seconds = {
            "restore": ready - began,
            "operators": fed - ready,
            "write": time.perf_counter() - fed,
        }
        return done

    def _allotment(self, work: Work) -> Allotment | None:
        """The time that each lane has; None: it works until all is done."""
        budget = work.rules.budget
        return None if budget is None else Allotment(budget, arrival=self._clock.now())

    def lanes_at(self, plan: str, states: Mapping[str, LaneState]) -> dict[str, HostedLane]:
        """Lanes in given states.

        Raises:
            DataError: A file of the state is missing or damaged.
        """
        hosted = self._plan(plan)
        return {name: self._at(hosted, name, state) for name, state in states.items()}

    def _plan(self, name: str) -> HostedPlan:
        """The plan of a file: what it says is decoded, nothing is planned here."""
        if name not in self._plans:
            found = read_plan_file(self._home, name)["groups"]
            physical = self._physical.read(one["physical"] for one in found)
            groups = (
                HostedGroup(one["number"], plan, one["lanes"])
                for one, plan in zip(found, physical, strict=True)
            )
            plan = HostedPlan(groups)
            self._plans = {name: plan}
            self._forget_others(plan)
        return self._plans[name]

    def _forget_others(self, plan: HostedPlan) -> None:
        """Drop the memory of what belongs to no query any more."""
        self._kept = {
            name: one for name, one in self._kept.items() if _runs_on(one, plan.lanes.get(name))
        }
        for name, kept in self._kept.items():
            kept.lane.let_go(plan.lanes[name].graph)

    def _at(self, plan: HostedPlan, name: str, state: LaneState) -> HostedLane:
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
        steps: Allotment | None = None
        for log in missing:
            if is_step_log(log):
                steps = read_step_log(self._home, log, name, kept.lane.graph.identities)
                continue
            self._feed(plan, name, kept, self._log(log), steps)
            kept.version, steps = log, None
        return kept

    def _from_image(self, plan: HostedPlan, name: str, state: LaneState) -> HostedLane:
        fragment = plan.lanes[name]
        lane = Lane(fragment.graph, whole=fragment.partitioning.whole, clock=self._clock)
        if state.image is None:
            return HostedLane(lane)
        tables, failures = read_image(self._home, state.image, name)
        lane.restore(tables)
        failed = {query: Counter(counts) for query, counts in failures.items()}
        return HostedLane(lane, state.image, failed)

    def _log(self, name: str) -> Log:
        return Log(self._home.segments / name)

    def _feed(
        self,
        plan: HostedPlan,
        name: str,
        kept: HostedLane,
        log: Log,
        allotment: Allotment | None,
    ) -> LaneOutput:
        """Let a lane take in its share of a log."""
        fragment = plan.lanes[name]
        blocks = self._changes(fragment, name, log)
        # Where no stream tells of time, the batch does: what it commits is final.
        watermarks = {relation: one + 1 for relation, one in told_by(blocks).items()}
        watermarks |= {name: log.watermark(name) for name in fragment.graph.beside}
        for sent, sender in fragment.senders.items():
            watermarks[sent] = log.clocks[sender]
            table = log.sent(sender, name)
            if table is not None:
                blocks[sent] = from_table(table)
        if log.is_last:
            results = kept.lane.feed(blocks, watermarks)
            results.extend(kept.lane.finish())
            return results
        for stream in fragment.streams:
            arrived = log.arrived(name, stream)
            watermarks[stream] = _reached(log, stream, arrived)
            if arrived is not None:
                blocks[stream] = arrived.block
        return kept.lane.feed(blocks, watermarks, allotment)

    def _changes(self, fragment: HostedFragment, name: str, log: Log) -> dict[str, Block]:
        """A lane's share of the changes of relations."""
        found: dict[str, Block] = {}
        for relation, tables in log.changes(fragment.group):
            if relation in fragment.graph.relations:
                lane = fragment.lane_names().index(name)
                whole = concatenated([from_table(one) for one in tables])
                found[relation] = fragment.router(relation).share(whole, lane)
        return found

    def _is_image_due(self, state: LaneState) -> bool:
        """Feeding the logs again would cost more than writing an image does."""
        if state.log_bytes >= max(self._least_log, state.image_bytes):
            return True
        is_small = state.image_bytes < 4 * max(self._least_log, state.log_bytes)
        return len(state.logs) >= (MANY_LOGS if is_small else MOST_LOGS)

    def _is_image_near(self, state: LaneState) -> bool:
        """An image would be due if there were twice as many logs."""
        twice = replace(state, logs=state.logs * 2, log_bytes=state.log_bytes * 2)
        return self._is_image_due(twice)

    def _write_steps(
        self,
        work: Work,
        kept: Mapping[str, HostedLane],
        outcomes: Mapping[str, LaneOutput],
        allotment: Allotment | None,
    ) -> list[str]:
        """Write down which steps were taken, if not all were; the files."""
        if allotment is None or allotment.arrival is None:
            return []
        lanes = {
            name: steps_table(outcomes[name].steps, one.lane.graph.identities)
            for name, one in kept.items()
        }
        return [write_step_log(self._home, work.record, work.task, lanes, allotment.arrival)]

    def _states_after(
        self, work: Work, kept: Mapping[str, HostedLane], steps: Sequence[str]
    ) -> dict[str, LaneState]:
        """The recipes of states from now on: one more log, or an image if there are many."""
        size = (self._home.segments / work.log).stat().st_size
        states = {
            name: replace(one, logs=(*one.logs, *steps, work.log), log_bytes=one.log_bytes + size)
            for name, one in work.lanes.items()
        }
        if not work.with_images and not any(map(self._is_image_due, states.values())):
            return states
        # One file for all to which it will be due before long, too.
        chosen = {
            name: kept[name]
            for name, one in states.items()
            if work.with_images or self._is_image_near(one)
        }
        written = write_images(
            self._home,
            work.record,
            work.task,
            ((name, one.lane.segments(), one.all_failures()) for name, one in chosen.items()),
        )
        for name, one in chosen.items():
            one.version = written[name].image
        return states | written


def _runs_on(kept: HostedLane, fragment: HostedFragment | None) -> bool:
    """A lane of a plan, with the operators of the plan."""
    if fragment is None:
        return False
    return {*fragment.graph.identities} <= {*kept.lane.graph.identities}


def _add_progress(
    done: Done,
    clocks: dict[str, int],
    fragment: HostedFragment,
    groups: Mapping[int, HostedGroup],
    kept: HostedLane,
) -> None:
    """Say how far a lane has come."""
    lane = kept.lane
    for query in groups[fragment.group].results:
        # What fails in a fragment that sends rows, fails in the query that they are for.
        result = query if fragment.sends is None else fragment.sends
        if failed := kept.failures(result):
            done.failures[query] = dict(Counter(done.failures.get(query, {})) + failed)
        if fragment.sends is None:
            clock = lane.clock(query)
            clocks[query] = min(clock, clocks.get(query, clock))
    if fragment.sends is not None:
        clock = lane.clock(fragment.sends)
        done.reached[fragment.name] = min(clock, done.reached.get(fragment.name, clock))
    own = done.relations.setdefault(str(fragment.group), {})
    for relation in fragment.graph.relations:
        clock = lane.relation_clock(relation)
        own[relation] = max(clock, own.get(relation, clock))


def _reached(log: Log, stream: str, arrived: Arrivals | None) -> int:
    """The watermark of a stream after a batch, as far as a lane can know.

    Where Spark divides rows, a lane knows its own only: they may be ahead of others.
    """
    latest = max(log.latest(stream), arrived.latest if arrived is not None else BEGINNING)
    slack = log.slots.streams[stream].definition.slack
    return max(log.watermark(stream), watermark_after(latest, slack, log.hold(stream)))

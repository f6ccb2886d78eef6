"""The inline engine on trial: lanes of this process, fed, saved and restored as the trial says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock.operators.division import CannotDivide
from penstock.planner.physical.building import Choices
from penstock.reference.arrow_rows import stream_table
from penstock.reference.inputs import RelationHistory
from penstock.runtime.lateness import LATE
from penstock.runtime.local_run import LocalRun
from penstock.shedding.shedding import SHED
from penstock.testing.inline import QUERY, answer_of, changes_table
from penstock_fuzz.shed_rows import definitions_of, intake_of, shed_rows
from penstock_fuzz.trial import TrialResult, only_read, work_clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.runtime.intake import RejectedRows
    from penstock_fuzz.trial import Feed, Late, Trial


class InlineContender:
    """Runs trials on lanes."""

    replans = False
    takes_edits = True

    def __init__(self) -> None:
        self.changes = 0
        self.refusals = 0
        """How often the number of lanes changed, and how often the state could not be divided."""

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        """Feed a trial to the end."""
        running = started(trial, plan, trial.lanes)
        results = running.feed(initial_tables(trial, running))
        aside = list(running.aside)
        decisions = []
        for number, feed in enumerate(trial.feeds):
            results.extend(running.feed(tables_of_feed(trial, feed, running)))
            decisions.append(running.monitor.decision)
            aside += running.aside
            running.aside = []
            if number in trial.restore_after:
                running = self._restored(trial, plan, running, number)
        results.extend(running.finish())
        late = _places(aside, LATE)
        failures = running.lanes.failures(QUERY).count
        answer = answer_of(plan, results.blocks.get(QUERY, []), failures)
        shed = shed_rows(only_read(trial, plan), decisions, late)
        if shed != _places(aside, SHED):
            msg = f"{sorted(_places(aside, SHED))} were shed, by the decisions {sorted(shed)}"
            raise InternalError(msg)
        counts = {name: one.shed for name, one in running.intakes.items()}
        return TrialResult(answer, late, shed, counts)

    def _restored(self, trial: Trial, plan: Plan, before: LocalRun, number: int) -> LocalRun:
        """New lanes, as many as the trial says if the state can be divided among them."""
        same = len(before.lanes.lanes)
        wanted = trial.lanes_after.get(number, same)
        try:
            running = _restored(trial, plan, before, wanted)
        except CannotDivide:
            self.refusals += 1
            return _restored(trial, plan, before, same)
        self.changes += len(running.lanes.lanes) != same
        return running


def _places(aside: Sequence[RejectedRows], kind: str) -> Late:
    """The rows that were set aside for a reason."""
    found = [one for one in aside if (one.kind == SHED) == (kind == SHED)]
    return frozenset((one.source, int(place)) for one in found for place in one.positions)


def started(trial: Trial, plan: Plan, lanes: int) -> LocalRun:
    """Lanes for a trial that nothing has been fed to."""
    choices = Choices.of(trial.tactics, trial.partitions)
    slack = {name: stream.slack for name, stream in trial.streams.items()}
    own = {name: one.shedding_columns for name, one in definitions_of(trial).items()}
    return LocalRun(
        {QUERY: plan},
        slack,
        lanes,
        choices,
        trial.rules,
        work_clock(),
        intake_of(trial) if trial.shedding else None,
        own,
    )


def _restored(trial: Trial, plan: Plan, before: LocalRun, lanes: int) -> LocalRun:
    """New lanes; what failed so far is remembered by whoever runs them, not by their state."""
    running = started(trial, plan, lanes)
    running.restore(before.save())
    first = running.lanes.lanes[0]
    for old in before.lanes.lanes:
        for station, old_station in zip(first.stations, old.stations, strict=True):
            station.failures.by_function.update(old_station.failures.by_function)
    return running


def initial_tables(trial: Trial, running: LocalRun) -> dict[str, pa.Table]:
    """The content of relations before all input."""
    return {
        name: changes_table(plan.schema, RelationHistory(trial.relations[name].initial))
        for name, (plan, _) in running.graph.relations.items()
        if name in trial.relations
    }


def tables_of_feed(trial: Trial, feed: Feed, running: LocalRun) -> dict[str, pa.Table]:
    """The rows and changes that come with a feed."""
    tables = {}
    for name, part in feed.items():
        if name in running.graph.streams:
            schema = running.graph.streams[name][0].schema
            tables[name] = stream_table(schema, trial.streams[name].rows[part])
        elif name in running.graph.relations:
            schema = running.graph.relations[name][0].schema
            changes = RelationHistory((), trial.relations[name].changes[part])
            tables[name] = changes_table(schema, changes)
    return tables

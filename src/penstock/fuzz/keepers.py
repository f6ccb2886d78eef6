"""The pipeline without Spark on trial: logs, keepers, images and commits, in this process."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import Refused
from penstock.fuzz.draw import Draw
from penstock.fuzz.driving import KeeperDriver
from penstock.fuzz.pipelines import change_relations, new_home, plan_of, ran, stream_rows
from penstock.pipeline.keeping import LEAST_LOG
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.relaning import needs_relaning, relane
from penstock.pipeline.replanning import due, replace_group, replanned
from penstock.planner.statistics import Statistics

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.fuzz.trial import Ran, Trial

TASKS = 2
PLAN_ANEW = 1_000_000
"""The number of the group of a new plan; those of a trial's own are few."""


class KeeperContender:
    """Feeds logs to keepers; a restore puts new keepers in place of the old.

    Attributes:
        replaced: How many plans have been replaced by others while they ran.
    """

    takes_edits = False

    def __init__(self) -> None:
        self.replaced = 0

    def run_trial(self, trial: Trial, plan: Plan) -> Ran:
        """Feed a trial to the end."""
        with new_home() as home:
            ledger = Ledger(home)
            ledger.change_plan(plan_of(trial, plan))
            change_relations(trial, ledger, None)
            # Every other trial writes an image with each batch.
            least = LEAST_LOG if trial.partitions % 2 else 0
            driver = KeeperDriver(ledger, TASKS, least)
            for number, feed in enumerate(trial.feeds):
                change_relations(trial, ledger, feed)
                driver.feed(stream_rows(trial, ledger, feed))
                if number == trial.replan_after:
                    _plan_anew(ledger, trial)
                for group in due(ledger):
                    driver.feed({})
                    self.replaced += replace_group(ledger, group)
                if number in trial.restore_after:
                    # As a new process would: from what is written down.
                    ledger = Ledger(home)
                    driver = KeeperDriver(ledger, TASKS, least)
                    lanes = trial.lanes_after.get(number, trial.lanes)
                    if needs_relaning(ledger, lanes):
                        # A tick: all lanes come to the watermarks of the record.
                        driver.feed({})
                        relane(ledger, lanes)
            driver.finish()
            return ran(home, ledger, trial, plan)


def _plan_anew(ledger: Ledger, trial: Trial) -> None:
    """Let all groups be replaced by what the planner makes of other statistics."""
    draw = Draw(trial.query)
    sizes = (1.0, 10.0, 1e5)
    rates = {one.name: draw.pick(*sizes) for one in ledger.plan.streams}
    columns = [(one.name, column) for one in ledger.plan.streams for column in one.schema.names]
    nodes = [
        node
        for group in ledger.plan.groups.values()
        for part in group.fragments
        for node in part.graph.nodes
    ]
    asked = [one.predicate for one in nodes if one.predicate is not None]
    keys = [key for one in asked for key in (one.key, *(part for part, _ in one.parts))]
    met = [one.meeting.condition for one in nodes if one.meeting is not None]
    statistics = Statistics(
        rates,
        {column: draw.pick(*sizes) for column in columns},
        {key: draw.pick(0.0001, 0.2, 1.0) for key in (*keys, *met) if key},
        outputs={
            key: (draw.pick(0.001, 1.0, 4.0), draw.pick(0.0, 1.0))
            for key in (*(one.made_of for one in nodes), *met)
            if key is not None
        },
    )
    for number in list(ledger.plan.groups):
        # Some queries never forget their first rows.
        with suppress(Refused):
            plan = replanned(ledger, number, statistics, PLAN_ANEW + number, even_if_same=True)
            if plan is not None:
                ledger.change_plan(plan)

"""The pipeline without Spark on trial: logs, hosts, images and commits, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.lane_host.lane_host import LEAST_LOG
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.rescaling import needs_rescaling, rescale
from penstock_fuzz.driving import LaneHostDriver
from penstock_fuzz.pipelines import change_relations, new_home, plan_of, ran, stream_rows
from penstock_fuzz.replans import Replans
from penstock_fuzz.shed_rows import intake_of
from penstock_fuzz.trial import work_clock

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.store.layout import Home
    from penstock_fuzz.trial import Trial, TrialResult

TASKS = 2


class HomeLooker:
    """Looks at a home between feeds, and does nothing.

    Attributes:
        settings: The statements that the pipeline runs first.
    """

    settings: tuple[str, ...] = ()

    def at(self, home: Home, ledger: Ledger, feed: int | None) -> None:
        """A feed has been committed; None: the end of the input."""


class LaneHostContender:
    """Feeds logs to hosts; a restore puts new hosts in place of the old.

    Attributes:
        replanning: What came of planning queries anew while they ran.
    """

    replans = True
    takes_edits = False

    def __init__(self) -> None:
        self.replanning = Replans()

    def looker(self, trial: Trial, plan: Plan) -> HomeLooker:
        """Somebody who looks at the home between feeds."""
        del trial, plan
        return HomeLooker()

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        """Feed a trial to the end."""
        with new_home() as home:
            ledger = Ledger(home)
            look = self.looker(trial, plan)
            ledger.change_plan(plan_of(trial, plan, look.settings))
            change_relations(trial, ledger, None)
            # Every other trial writes an image with each batch.
            least = LEAST_LOG if trial.partitions % 2 else 0
            driver = _driver(trial, ledger, least)
            decisions = []
            for number, feed in enumerate(trial.feeds):
                change_relations(trial, ledger, feed)
                driver.feed(stream_rows(trial, ledger, feed))
                decisions.append(driver.monitor.decision)
                if number == trial.replan_after:
                    self.replanning.plan_anew(ledger, trial.replan_by)
                self.replanning.take_over(ledger, driver)
                if number in trial.restore_after:
                    # As a new process would: from what is written down.
                    ledger = Ledger(home)
                    driver = _driver(trial, ledger, least)
                    lanes = trial.lanes_after.get(number, trial.lanes)
                    if needs_rescaling(ledger, lanes):
                        # A tick: all lanes come to the watermarks of the record.
                        driver.tick()
                        rescale(ledger, lanes)
                look.at(home, ledger, number)
            driver.finish()
            look.at(home, ledger, None)
            return ran(home, ledger, trial, plan, decisions)


def _driver(trial: Trial, ledger: Ledger, least: int) -> LaneHostDriver:
    intake = intake_of(trial) if trial.shedding else None
    return LaneHostDriver(ledger, TASKS, least, trial.rules, work_clock(), intake)

"""Groups that catch up beside the batches of a driver without Spark, for tests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from penstock.lane_host.lane_host import LaneHost
from penstock.pipeline.catching_up import CatchingUp
from penstock.pipeline.replanning import due, replace_group

if TYPE_CHECKING:
    from random import Random

    from penstock.lane_host.work import Done, Work
    from store.driving import Driver


class Beside:
    """Groups that catch up beside the batches of a driver, and what kills them now and then."""

    def __init__(self, driver: Driver, random: Random) -> None:
        self._random = random
        self._driver = driver
        self._host = LaneHost(driver.home)
        self._catching: CatchingUp | None = None
        self.counts: Counter[str] = Counter()

    def work(self, work: Work) -> Done:
        """Let lanes work in a process that may end before or after it has done so."""
        if self._random.random() < 0.1:
            self.counts["lanes killed"] += 1
            if self._random.random() < 0.5:
                self._host.do(work)
            self._host = LaneHost(self._driver.home)
        return self._host.do(work)

    def step(self) -> None:
        """Do a little, if there is something to do."""
        if self._catching is None:
            if not self._driver.ledger.plan.catching_up:
                return
            self._catching = CatchingUp(self._driver.ledger, self._driver.lock, self.work, 5)
        self.counts["steps"] += 1
        if not self._catching.step() and self._random.random() < 0.7:
            self._join()

    def _join(self) -> None:
        assert self._catching is not None
        with self._driver.lock:
            self._catching.join()
        self._catching.close()
        self._catching = None
        self.counts["joined"] += 1

    def finish(self) -> None:
        """Let all join, and new plans take over."""
        while self._driver.ledger.plan.catching_up:
            self.step()
        self.take_over()

    def take_over(self) -> None:
        """Let new plans take over for which it is time."""
        for number in due(self._driver.ledger):
            self._driver.tick()
            self.counts["took over"] += replace_group(self._driver.ledger, number)

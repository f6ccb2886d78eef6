"""Runs of a trial: steps and blocks cut at will, state saved, room given back, lanes divided."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from operators.contract.driver import Driver, divided, share
from operators.join_model import block_of
from penstock.algebra.time import BEGINNING, INFINITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from operators.contract.inputs import Draws
    from operators.contract.trial import Edge, Trial
    from operators.join_model import Element
    from penstock.operators.block import Block


class Run:
    """Lanes of one trial, and what they have sent."""

    def __init__(self, random: Draws, trial: Trial, lanes: int = 1) -> None:
        self._random = random
        self._trial = trial
        self.drivers = [Driver(trial.make) for _ in range(lanes)]
        self._frontiers = [BEGINNING] * lanes
        self._clock = BEGINNING
        self.found: list[Element] = []

    def step(self, clock: int) -> None:
        """Let all lanes come to a clock."""
        for lane, driver in enumerate(self.drivers):
            inputs = []
            for edge in self._trial.edges:
                step = [one for one in edge.elements if self._clock <= one.ts < clock]
                mine = share(step, edge, lane, len(self.drivers))
                inputs.append(self._blocks(edge, mine))
            made = driver.step(inputs, clock)
            if self._trial.on_time:
                assert all(self._frontiers[lane] <= one.ts < clock for one in made)
            self._frontiers[lane] = driver.frontier(clock)
            self.found += made
        self._clock = clock

    def _blocks(self, edge: Edge, step: Sequence[Element]) -> list[Block]:
        """The rows of a step in some blocks; in any order, if that does not tell rows apart."""
        random, rows = self._random, list(step)
        if not self._trial.ordered:
            random.shuffle(rows)
        cuts = sorted(random.randint(0, len(rows)) for _ in range(random.choice([0, 1, 2])))
        parts = [rows[start:stop] for start, stop in pairwise([0, *cuts, len(rows)])]
        return [block_of(part, edge.types, edge.signed) for part in parts if part]

    def disturb(self) -> None:
        """Save and restore, or give back room, now and then."""
        for lane, driver in enumerate(self.drivers):
            if self._random.random() < 0.4:
                self.drivers[lane] = driver.reopened()
            if self._random.random() < 0.4:
                self.drivers[lane].shrink()

    def divide(self, lanes: int) -> None:
        """Go on in another number of lanes."""
        assert self._trial.results is not None
        self.drivers = divided(self.drivers, self._trial, self._trial.results, lanes)
        self._frontiers = [min(self._frontiers)] * lanes


def clocks(random: Draws) -> list[int]:
    """Where steps end: anywhere, and at last all is over."""
    cuts = random.sample(range(random.size.horizon), random.choice([1, 3, 8]))
    return [*sorted(cuts), INFINITY]

"""Operators driven as a lane drives them: the one place where tests of the contract call them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from operators.join_model import block_of, elements_of, read_back
from penstock.operators.division import Division, Spread
from penstock.operators.operator import stepped
from penstock.operators.window.merged_numbers import Numbers
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from operators.contract.trial import Edge, Trial
    from operators.join_model import Element
    from penstock.operators.block import Block
    from penstock.operators.operator import Operator, Segments


class Driver:
    """An operator: it is given the rows of each step, and is saved, restored and divided."""

    def __init__(self, make: Callable[[], Operator], saved: Segments | None = None) -> None:
        self._make = make
        self.operator = make()
        if saved:
            self.operator.restore({name: read_back(table) for name, table in saved.items()})

    def step(self, inputs: Sequence[Sequence[Block]], clock: int) -> list[Element]:
        """Results of a step: the blocks of each port, then the clock."""
        given = [[block for block in blocks if len(block)] for blocks in inputs]
        made = stepped(self.operator, given, clock)
        return [one for block in made for one in elements_of(block)]

    def reopened(self) -> Driver:
        """Another operator that goes on from the state of this one."""
        made = Driver(self._make, self.operator.segments())
        # What has ended may be there still, and is not saved.
        assert made.operator.state_rows <= self.operator.state_rows
        return made

    def shrink(self) -> None:
        """Give back room."""
        self.operator.shrink()

    def frontier(self, clock: int) -> int:
        """No later result begins before it."""
        return self.operator.frontier(clock)

    @property
    def state_rows(self) -> int:
        """Rows it remembers."""
        return self.operator.state_rows


def divided(drivers: Sequence[Driver], trial: Trial, results: Spread, lanes: int) -> list[Driver]:
    """As many lanes as wanted, from those there are.

    Raises:
        CannotDivide: The state of the operator does not say how.
    """
    operator = trial.make()
    parts = [one.operator.segments() for one in drivers]
    numbers = Numbers()
    inputs = [edge.spread for edge in trial.edges]
    for _ in range(2):
        # Once to note numbers that tell elements apart, and once more when all are known.
        division = Division("it", inputs, results, lanes, numbers, meets=operator.meets)
        made = operator.divided(parts, division)
        numbers.assign()
    return [Driver(trial.make, segments) for segments in made]


def share(elements: Sequence[Element], edge: Edge, lane: int, lanes: int) -> Sequence[Element]:
    """The elements that come to a lane."""
    if edge.key is None or lanes == 1 or not elements:
        return elements
    keys = block_of(elements, edge.types, signed=False).columns[edge.key]
    mine = np.flatnonzero(lanes_of([keys], len(elements), lanes) == lane)
    return [elements[place] for place in mine.tolist()]

"""Windows [start, end): a row for each of them that contains it, with the window's two ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator
from penstock.operators.waiting import Waiting
from penstock.operators.window.time_windows import plus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.algebra.windows import Hopping
    from penstock.state.arrays import Ints


class HoppingWindow(Operator):
    """Writes each row once for each window; of windows that are not open, at their end.

    Until then the rows wait.
    """

    meets = False

    def __init__(self, spec: Hopping, time: pa.DataType) -> None:
        self.spec = spec
        self._time = time
        self._waiting = Waiting()
        self.state = DeclaredState(waiting=self._waiting)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows whose intervals begin before the clock."""
        made = [one for blocks in inputs for block in blocks for one in self._in_windows(block)]
        if self.spec.open:
            return made
        for block in made:
            self._waiting.push(block)
        return self._waiting.take(clock)

    def _in_windows(self, block: Block) -> Iterator[Block]:
        """The rows of a block under one window after the other, that which ends first in front."""
        for rows, start, end in windows_of(self.spec, block.ts):
            ts, te = (block.ts[rows], end) if self.spec.open else (end, plus(end, 1))
            kept = block.take(rows)
            columns = (*kept.columns, self._times(start), self._times(end))
            made = Block(columns, ts, te)
            yield made.take(ts < te)

    def _times(self, instants: Ints) -> pa.Array:
        return pa.array(instants).view(self._time)


def windows_of(spec: Hopping, ts: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """For each place of a window among those of a row: rows that have one there, starts, ends."""
    # The remainder of the difference, which itself may lie before all time.
    since_start = (ts % spec.step - spec.offset) % spec.step
    for number in reversed(range(spec.most)):
        age = since_start + number * spec.step
        rows = np.flatnonzero(age < spec.length)
        began, now = age[rows], ts[rows]
        left = spec.length - began
        start = np.where(now < BEGINNING + began, BEGINNING, now - began)
        end = np.where(now > INFINITY - left, INFINITY, now + left)
        yield rows, start, end

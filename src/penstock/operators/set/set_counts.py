"""Operators that combine how often a row occurs: set operations on strict edges, DISTINCT too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING
from penstock.operators.block import Block, rows_by_time, stored_arrivals, stored_blocks
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator
from penstock.operators.set.counted_loops import strict_elements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.set.counted import CopyChanges, CountedRows


class CountingOperator(Operator):
    """An operator whose state is counted rows."""

    def __init__(self, counted: CountedRows) -> None:
        self.counted = counted
        self.state = DeclaredState(counted=counted.rows)

    def counts(self, inputs: Inputs, clock: int) -> CopyChanges:
        """The changes of the result by the rows of a step, and by what ends in it."""
        return self.counted.step([*map(rows_by_time, inputs)], clock)

    @property
    def structures(self) -> tuple[str, ...]:
        """The structures where the ends of strict inputs wait."""
        return self.counted.structures


class SetOperation(CountingOperator):
    """A set operation on bags; on strict input DISTINCT, too."""

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Elements for the changes of the result; where none is withdrawn, they have no sign."""
        made = self._elements(self.counts(inputs, clock))
        self.counted.release()
        return [replace(block, sign=None) for block in made] if self.counted.only_grows else made

    def _elements(self, changes: CopyChanges) -> list[Block]:
        elements = strict_elements(*changes, self.counted.space)
        return stored_blocks(self.counted.rows, *elements)


class InsertedRows(CountingOperator):
    """ISTREAM: the rows that enter the result, netted, each from then on."""

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows whose copies become more."""
        return self._reported(self.counts(inputs, clock), 1)

    def _reported(self, changes: CopyChanges, direction: int) -> list[Block]:
        amounts = changes.deltas * direction
        reported = np.flatnonzero((amounts > 0) & (changes.times > BEGINNING))
        times = np.repeat(reported, amounts[reported])
        made = stored_arrivals(self.counted.rows, changes.slots[times], changes.times[times])
        self.counted.release()
        return made


class RemovedRows(InsertedRows):
    """DSTREAM: the rows that leave the result, netted, each from then on."""

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows whose copies become fewer."""
        return self._reported(self.counts(inputs, clock), -1)

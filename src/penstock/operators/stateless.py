"""Operators that look at one row at a time: filter and map."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from penstock.algebra.failures import Failures
from penstock.compute.evaluate import Evaluator, holds
from penstock.operators.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.block import Block
    from penstock.operators.operator import Inputs


class _RowByRow(Operator):
    """The common part of filter and map: failures are counted."""

    meets = False

    def __init__(self, failures: Failures) -> None:
        self.failures = failures

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Compute something of each row."""
        return [self.made_of(block) for blocks in inputs for block in blocks]

    def made_of(self, block: Block) -> Block:
        """The rows that come of a block; its failures are counted."""
        if block.sign is None:
            return self._made(block, self.failures)
        seen = Failures()
        whole = self._made(block, seen)
        if seen.by_function:
            # Once more, to count: a negative row only repeats the failures of the row it withdraws.
            self._made(block.take(block.sign > 0), self.failures)
        return whole

    @abstractmethod
    def _made(self, block: Block, failures: Failures) -> Block:
        """The rows that come of a block."""


class FilterOperator(_RowByRow):
    """The rows for which the predicate is TRUE."""

    def __init__(self, predicate: Evaluator, failures: Failures) -> None:
        super().__init__(failures)
        self.predicate = predicate

    def _made(self, block: Block, failures: Failures) -> Block:
        return block.take(holds(self.predicate, block.columns, len(block), failures))


class MapOperator(_RowByRow):
    """New columns computed from those of each row."""

    def __init__(self, columns: Sequence[Evaluator], failures: Failures) -> None:
        super().__init__(failures)
        self.columns = tuple(columns)

    def _made(self, block: Block, failures: Failures) -> Block:
        values = (column(block.columns, len(block), failures) for column in self.columns)
        return block.with_columns(tuple(values))

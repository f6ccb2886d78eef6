"""Rows of one instant by value: the order in which a ROWS window counts a derived stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.block import rows_by_time
from penstock.operators.operator import Inputs, Operator
from penstock.operators.output.order_limit import order_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.block import Block


class ByValue(Operator):
    """Rows by ts, then by the values of the columns in a given order, NULLs first."""

    def __init__(self, columns: Sequence[int]) -> None:
        self._columns = tuple(columns)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Put the rows of the step in order."""
        (block,) = map(rows_by_time, inputs)
        if block is None:
            return ()
        codes = [order_codes(block.columns[number]) for number in reversed(self._columns)]
        return [block.take(np.lexsort((*codes, block.ts)))]

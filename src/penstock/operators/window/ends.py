"""INTERNAL windows: every combination of rows, once it exists, stays for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block
from penstock.operators.operator import Inputs, Operator

if TYPE_CHECKING:
    from collections.abc import Sequence


class DropEnds(Operator):
    """Elements that never end; withdrawals do not reach them."""

    meets = False

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Take off the ends."""
        return [self._made(block) for blocks in inputs for block in blocks]

    def _made(self, block: Block) -> Block:
        kept = block if block.sign is None else block.take(block.sign > 0)
        return Block(kept.columns, kept.ts, np.full(len(kept), INFINITY, np.int64))


class EndsToColumn(Operator):
    """Rows with the end of their interval in one more column."""

    meets = False

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Write the ends beside the rows."""
        return [self._made(block) for blocks in inputs for block in blocks]

    def _made(self, block: Block) -> Block:
        return block.with_columns((*block.columns, pa.array(block.te)))


class EndsFromColumn(Operator):
    """Rows valid until the instant in their last column, whatever happens to them before."""

    meets = False

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Read the ends off the rows."""
        return [self._made(block) for blocks in inputs for block in blocks]

    def _made(self, block: Block) -> Block:
        kept = block if block.sign is None else block.take(block.sign > 0)
        return Block(kept.columns[:-1], kept.ts, kept.columns[-1].to_numpy())

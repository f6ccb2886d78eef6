"""Withdrawals resolved: the element that a negative row ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.withdrawals_loops import close_within
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.state.arrays import Flags, Ints


def ended_elements(block: Block) -> tuple[Ints, Flags]:
    """The ends of the elements in a block, earlier where a negative row behind them says so.

    The flags tell which rows are negative and end no element of the block.
    """
    if block.sign is None or bool((block.sign > 0).all()):
        return block.te, np.zeros(len(block), np.bool_)
    columns = [*block.columns, pa.array(block.te)]
    alike, _ = KeyIndex(len(block)).find_or_add(fingerprints(columns, len(block)))
    te = block.te.copy()
    left = close_within(alike, block.ts, te, block.sign, np.zeros(len(block), np.int32))
    return te, left & (block.sign < 0)

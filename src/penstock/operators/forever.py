"""INTERNAL windows: every combination of rows, once it exists, stays for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block
from penstock.operators.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Sequence


class Forever(Operator):
    """Elements that never end; withdrawals do not reach them."""

    def process(self, port: int, block: Block) -> Sequence[Block]:
        """Take off the ends."""
        kept = block if block.sign is None else block.take(block.sign > 0)
        return [Block(kept.columns, kept.ts, np.full(len(kept), INFINITY, np.int64))]

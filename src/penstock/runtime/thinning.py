"""Thinning: taking from rows that arrive together those that are shed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.shedding.columns import SheddingColumns
    from penstock.shedding.shedding import Shedding
    from penstock.state.arrays import Ints


def thinned(
    block: Block, shedding: Shedding | None, own: SheddingColumns, seed: int
) -> tuple[Block, Ints]:
    """The rows of a block that stay, weighed, and the places of the others.

    Args:
        block: Rows of a stream that came together, and are not late.
        shedding: The decision; None: all stay.
        own: The columns of the stream that it goes by.
        seed: How many rows the stream had brought before.
    """
    if shedding is None:
        return block, np.zeros(0, np.int64)
    stay = shedding.stay(block.columns, len(block), own, seed)
    left = block if bool(stay.all()) else block.take(stay)
    return replace(left, columns=shedding.weighed(left.columns, own)), np.flatnonzero(~stay)

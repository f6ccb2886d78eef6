"""The order in which results are shown: by time, what leaves first, then by value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.output.order_limit import order_codes

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.state.arrays import Flags, Ints


def by_value(block: Block) -> Block:
    """Net changes, in time order, with rows of one instant and sign in the order of their values.

    NULLs come first, NaN last.
    """
    return _arranged(block, _repeats(block.ts) & _repeats(block.signs))


def by_validity(block: Block) -> Block:
    """Rows with intervals by their start, then their end, then their values."""
    block = block.take(np.lexsort((block.te, block.ts)))
    return _arranged(block, _repeats(block.ts) & _repeats(block.te))


def _repeats(numbers: Ints | np.ndarray) -> Flags:
    """The numbers that are the same as the one before."""
    same = np.zeros(len(numbers), np.bool_)
    same[1:] = numbers[1:] == numbers[:-1]
    return same


def _arranged(block: Block, tied: Flags) -> Block:
    """Rows in the order of their values within each run; `tied` ones follow in their run."""
    if not tied.any():
        return block
    runs = np.cumsum(~tied)
    # A row is alone in its run if neither it nor the next one is tied.
    shared = tied | np.append(tied[1:], False)
    places = np.flatnonzero(shared)
    chosen = block.take(places)
    codes = [order_codes(column) for column in reversed(chosen.columns)]
    order = np.arange(len(block))
    order[places] = places[np.lexsort((*codes, runs[places]))]
    return block.take(order)

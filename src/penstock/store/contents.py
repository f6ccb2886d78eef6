"""The content of a query's result at an instant, folded from the elements that led to it.

A home does not keep every result for ever: now and then the elements so far are replaced by what is
left of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.block import Block, concatenated
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex

if TYPE_CHECKING:
    from collections.abc import Sequence


def folded(blocks: Sequence[Block], clock: int) -> Block | None:
    """Elements that make the same snapshots from `clock` - 1 on; None if nothing is left.

    Elements that began before the clock are counted, those that were withdrawn cancel out; those
    of lanes that are ahead of the clock stay as they are.
    """
    if not blocks:
        return None
    block = concatenated([elements_from(one, clock) for one in blocks])
    ahead = block.ts >= clock
    parts = [_counted(block.take(~ahead), clock), block.take(ahead)]
    left = [part for part in parts if len(part)]
    return concatenated(left) if left else None


def elements_from(block: Block, clock: int) -> Block:
    """The elements that play a part in snapshots from `clock` - 1 on, or cancel one that does."""
    return block.take(block.te >= clock)


def _counted(block: Block, clock: int) -> Block:
    """Each different row and end as often as the signs add up to."""
    keys = [*block.columns, pa.array(block.te)]
    slots, first = KeyIndex().find_or_add(fingerprints(keys, len(block)))
    copies = np.bincount(slots, weights=block.signs, minlength=len(first)).astype(np.int64)
    rows = np.repeat(first, np.maximum(copies, 0))
    chosen = block.take(rows)
    return Block(chosen.columns, np.minimum(chosen.ts, clock - 1), chosen.te)


def net_difference(before: Block | None, after: Block | None, clock: int) -> Block | None:
    """The elements that make one result of another from an instant on; None if nothing is there.

    Rows that are valid then, or later, of both, where signs do not cancel out.
    """
    parts = [(before, -1), (after, 1)]
    blocks = [
        replace(one, sign=(one.signs * sign).astype(np.int8))
        for one, sign in parts
        if one is not None
    ]
    if not blocks:
        return None
    whole = concatenated(blocks)
    whole = whole.take(np.flatnonzero(whole.te > clock))
    keys = [*whole.columns, pa.array(whole.te), pa.array(np.maximum(whole.ts, clock))]
    slots, first = KeyIndex().find_or_add(fingerprints(keys, len(whole)))
    copies = np.bincount(slots, weights=whole.signs, minlength=len(first)).astype(np.int64)
    chosen = whole.take(np.repeat(first, np.abs(copies)))
    signs = np.repeat(np.sign(copies), np.abs(copies)).astype(np.int8)
    return Block(chosen.columns, np.maximum(chosen.ts, clock), chosen.te, signs)

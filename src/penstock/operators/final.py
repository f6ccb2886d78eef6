"""EMIT FINAL: closed intervals only, in the order of (ts, te)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block, concatenated, from_table, to_table
from penstock.operators.buffered import Buffered
from penstock.operators.withdrawals import ended_elements
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.operator import Segments


class Final(Buffered):
    """Holds elements until they have ended, and until all that began before them have.

    A withdrawal ends its element. At the end of the input what never ends is sent, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: Block | None = None

    def step(self, inputs: Sequence[Block | None], clock: int) -> Sequence[Block]:
        """The elements that are final, in order."""
        known = [block for block in (self._held, *inputs) if block is not None]
        if not known:
            return ()
        block = _closed(concatenated(known))
        is_open = block.te > clock if clock < INFINITY else np.zeros(len(block), np.bool_)
        earliest = int(block.ts[is_open].min(initial=INFINITY))
        is_final = ~is_open & (block.ts <= earliest)
        held = block.take(~is_final)
        self._held = held if len(held) else None
        final = block.take(is_final)
        return [final.take(order_of(final.ts, final.te))]

    @property
    def state_rows(self) -> int:
        """Elements held."""
        return 0 if self._held is None else len(self._held)

    @property
    def state_bytes(self) -> int:
        """Their bytes."""
        return 0 if self._held is None else self._held.nbytes

    def segments(self) -> Segments:
        """The elements held."""
        return {} if self._held is None else {"held": to_table(self._held)}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        if "held" in segments:
            self._held = from_table(segments["held"])


def _closed(block: Block) -> Block:
    """Elements whose withdrawals have become their ends."""
    te, _ = ended_elements(block)
    return Block(block.columns, block.ts, te).take((block.signs > 0) & (block.ts < te))

"""A share of a query's rows: equal rows are in the same one, whichever process asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.results.settling import Elements
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.operator import Segments


class ShareOfRows(Elements):
    """A fold that takes in only a share of the rows.

    Args:
        fold: The fold.
        number: The number of the share.
        shares: How many there are.
    """

    def __init__(self, fold: Elements, number: int, shares: int) -> None:
        self._fold = fold
        self._number = number
        self._shares = shares

    def take_in(self, blocks: Sequence[Block], clock: int) -> Block | None:
        """New elements, and the query's clock: what there is to say since the last call."""
        return self._fold.take_in([one for block in blocks if (one := self._own(block))], clock)

    def _own(self, block: Block) -> Block | None:
        share = lanes_of(block.columns, len(block), self._shares)
        own = block.take(share == self._number)
        return own if len(own) else None

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return self._fold.segments()

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        self._fold.restore(segments)

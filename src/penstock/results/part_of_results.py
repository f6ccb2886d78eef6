"""A part of the results of a query: some of its rows, which no other part has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.results.settling import Elements
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.operator import Segments


class PartOfResults(Elements):
    """The elements of one part of the rows, folded.

    Equal rows are in one part, whichever lanes they come from; so what nets out in all nets out in
    the parts, and these together are the whole.

    Args:
        fold: What folds them.
        part: The number of the part.
        parts: How many there are.
    """

    def __init__(self, fold: Elements, part: int, parts: int) -> None:
        self._fold = fold
        self._part = part
        self._parts = parts

    def take_in(self, blocks: Sequence[Block], clock: int) -> Block | None:
        """New elements, and the query's clock: what there is to say of this part."""
        return self._fold.take_in([one for block in blocks if len(one := self._own(block))], clock)

    def _own(self, block: Block) -> Block:
        return block.take(lanes_of(block.columns, len(block), self._parts) == self._part)

    def segments(self) -> Segments:
        """The state, as Arrow."""
        return self._fold.segments()

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take it back; this is new."""
        self._fold.restore(segments)

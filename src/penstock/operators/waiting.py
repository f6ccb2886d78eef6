"""Rows that came before their time: held until the clock has passed their ts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.block import Block, concatenated, from_table, to_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from penstock.operators.operator import Segments
    from penstock.state.arrays import Ints


class Waiting:
    """Blocks, and for each the earliest and the latest ts in it."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int, int, Block]] = []

    def push(self, block: Block) -> None:
        """Hold rows."""
        if len(block):
            self._blocks.append((int(block.ts.min()), int(block.ts.max()), block))

    def take(self, clock: int) -> list[Block]:
        """The rows that begin before the clock."""
        taken: list[Block] = []
        kept: list[tuple[int, int, Block]] = []
        for first, last, block in self._blocks:
            if last < clock:
                taken.append(block)
            elif first >= clock:
                kept.append((first, last, block))
            else:
                due = block.ts < clock
                taken.append(block.take(due))
                rest = block.take(~due)
                kept.append((int(rest.ts.min()), last, rest))
        self._blocks = kept
        return taken

    def instants(self) -> Ints:
        """The ts of all rows that wait."""
        parts = [block.ts for _, _, block in self._blocks]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def __len__(self) -> int:
        """How many rows wait."""
        return sum(len(block) for _, _, block in self._blocks)

    @property
    def nbytes(self) -> int:
        """Their bytes."""
        return sum(block.nbytes for _, _, block in self._blocks)

    def segments(self, name: str) -> Segments:
        """The rows as a table, if there are any."""
        if not self._blocks:
            return {}
        return {name: to_table(concatenated([block for _, _, block in self._blocks]))}

    def restore(self, segments: Mapping[str, pa.Table], name: str) -> None:
        """Take back the rows of a table."""
        if name in segments:
            self.push(from_table(segments[name]))

"""The outcome of feeds of lanes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.block import Block
    from penstock.runtime.allotment import Step


@dataclass
class LaneOutput:
    """The outcome of a feed: blocks of each query, in the order they were made, and late rows.

    `steps` are those that stations did one by one, as the feed had an allotment.
    """

    blocks: dict[str, list[Block]] = field(default_factory=dict)
    late: dict[str, list[Block]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def add(self, query: str, block: Block) -> None:
        """Append a block of a query."""
        self.blocks.setdefault(query, []).append(block)

    def extend(self, other: LaneOutput) -> None:
        """Append what another feed, or another lane, led to."""
        for query, blocks in other.blocks.items():
            self.blocks.setdefault(query, []).extend(blocks)
        for source, blocks in other.late.items():
            self.late.setdefault(source, []).extend(blocks)
        self.steps += other.steps


def together(lanes: Sequence[LaneOutput]) -> LaneOutput:
    """The results of several lanes."""
    total = LaneOutput()
    for results in lanes:
        total.extend(results)
    return total

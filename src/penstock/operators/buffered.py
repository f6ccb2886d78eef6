"""Operators that do their work when a step is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.operators.block import Block, concatenated
from penstock.operators.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Sequence


class Buffered(Operator):
    """Collects the rows of a step and works on them together, in time order."""

    def __init__(self, ports: int = 1) -> None:
        self._arrived: list[list[Block]] = [[] for _ in range(ports)]

    def process(self, port: int, block: Block) -> Sequence[Block]:
        """Keep the rows until the step is complete."""
        if len(block):
            self._arrived[port].append(block)
        return ()

    def advance(self, clock: int) -> Sequence[Block]:
        """Work on the rows of the step."""
        inputs = [concatenated(blocks).by_time() if blocks else None for blocks in self._arrived]
        self._arrived = [[] for _ in inputs]
        made = [block for block in self.step(inputs, clock) if len(block)]
        self.shrink()
        return made

    def step(self, inputs: Sequence[Block | None], clock: int) -> Sequence[Block]:
        """The results of a step; an input that brought no row is None."""
        raise NotImplementedError

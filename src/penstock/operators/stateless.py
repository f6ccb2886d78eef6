"""Operators that look at one row at a time: filter and map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.compute.evaluate import Evaluator, holds
from penstock.compute.failures import Failures
from penstock.operators.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.block import Block


def counting(block: Block, failures: Failures) -> Failures:
    """Where to count failures: a negative row only repeats those of the row it withdraws."""
    if block.sign is None or bool((block.sign > 0).all()):
        return failures
    return Failures()


class Filter(Operator):
    """The rows for which the predicate is TRUE."""

    meets = False

    def __init__(self, predicate: Evaluator, failures: Failures) -> None:
        self.predicate = predicate
        self.failures = failures

    def process(self, port: int, block: Block) -> Sequence[Block]:
        """Keep some rows."""
        kept: list[Block] = []
        for part in by_sign(block):
            counted = counting(part, self.failures)
            flags = holds(self.predicate, part.columns, len(part), counted)
            kept.append(part.take(flags))
        return [part for part in kept if len(part)]


class Map(Operator):
    """New columns computed from those of each row."""

    meets = False

    def __init__(self, columns: Sequence[Evaluator], failures: Failures) -> None:
        self.columns = tuple(columns)
        self.failures = failures

    def process(self, port: int, block: Block) -> Sequence[Block]:
        """Compute the columns."""
        made = []
        for part in by_sign(block):
            counted = counting(part, self.failures)
            values = tuple(column(part.columns, len(part), counted) for column in self.columns)
            made.append(part.with_columns(values))
        return made


def by_sign(block: Block) -> list[Block]:
    """The negative rows of a block and the others, apart, where it has both."""
    if block.sign is None:
        return [block]
    negative = block.sign < 0
    parts = [block.take(negative), block.take(~negative)]
    return [part for part in parts if len(part)]

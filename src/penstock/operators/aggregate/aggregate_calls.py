"""The calls of an aggregation, and the rows of a step as they enter their groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.operators.aggregate.group_ends import kept_types

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.failures import Failures
    from penstock.compute.evaluate import Evaluator
    from penstock.operators.aggregate.accumulators.accumulator import Accumulator
    from penstock.operators.block import Block
    from penstock.state.arrays import Ints, Values


class ComputedCall:
    """An aggregate of the query: its accumulator, and what its arguments are computed by."""

    def __init__(
        self, function: str, arguments: Sequence[Evaluator], accumulator: Accumulator
    ) -> None:
        self.function = function
        self.arguments = tuple(arguments)
        self.accumulator = accumulator
        self.kept = kept_types(accumulator)

    def payload(self, block: Block, failures: Failures) -> tuple[Values, ...]:
        """The payload that the accumulator keeps of each row."""
        values = [argument(block.columns, len(block), failures) for argument in self.arguments]
        return self.accumulator.prepare(values, len(block))


class GroupedRows(NamedTuple):
    """The rows of a step: the group of each, from when to when, its sign, its payload by call.

    `longest` is how much text a row has at most, where text matters.
    """

    groups: Ints
    times: Ints
    ends: Ints
    signs: Values
    payloads: list[tuple[Values, ...]]
    longest: int

"""Demands of a join of many inputs: values that agree, and conditions on some of the inputs."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Expression, columns_of, conjunction
from penstock.algebra.positions import EQUAL
from penstock.algebra.types import BOOLEAN
from penstock.planner.conditions import placed
from penstock.planner.partition.partition_keys import classes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.planner.flattening import Flat, PositionedCondition


@dataclass(frozen=True)
class Key:
    """A key column of an input, over its own positions; the number of the agreement it is in."""

    agreement: int
    expression: Expression
    null_matches: bool


@dataclass(frozen=True)
class Condition:
    """A condition on some inputs, over their columns side by side; its name in statistics."""

    inputs: tuple[int, ...]
    asks: Expression
    name: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Agreed:
    """The demands on rows that come together.

    Args:
        keys: The key columns of each input.
        filters: What is asked of the rows of one input alone, over its positions.
        conditions: What is asked of several, beyond equal keys.
        above: What reads no column, and is asked at last.
        classes: The keys that are equal, over positions in the columns of all inputs.
    """

    keys: tuple[tuple[Key, ...], ...]
    filters: tuple[Expression | None, ...]
    conditions: tuple[Condition, ...]
    above: tuple[PositionedCondition, ...]
    classes: tuple[tuple[Expression, ...], ...]


def agreed(flat: Flat) -> Agreed:
    """The demands of a flattened tree, in terms of its inputs."""
    return _Sorting(flat).agreed()


class _Sorting:
    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._offsets = flat.offsets
        self._keys: list[list[Key]] = [[] for _ in flat.inputs]
        self._alone: list[list[Expression]] = [[] for _ in flat.inputs]
        self._classes: list[tuple[Expression, ...]] = []

    def agreed(self) -> Agreed:
        equal: dict[str, list[tuple[Expression, ...]]] = {one: [] for one in EQUAL}
        conditions: list[Condition] = []
        constant: list[PositionedCondition] = []
        for part in self._flat.parts:
            read = self._read(part.asks)
            if _is_equality(part.asks) and self._joins_two(part.asks):
                assert isinstance(part.asks, Call)
                equal[part.asks.function].append(part.asks.args)
            elif len(read) == 1:
                self._alone[read[0]].append(part.asks)
            elif read:
                conditions.append(self._condition(part, read))
            else:
                constant.append(part)
        for function, pairs in equal.items():
            for group in classes_of((), pairs):
                self._agree(group, function)
        return Agreed(
            tuple(map(tuple, self._keys)),
            tuple(self._own(n, parts) for n, parts in enumerate(self._alone)),
            tuple(conditions),
            tuple(constant),
            tuple(self._classes),
        )

    def _agree(self, group: Sequence[Expression], function: str) -> None:
        """One key for each input; of an input that has several, these are equal in its own rows."""
        firsts: dict[int, Expression] = {}
        for one in group:
            (place,) = self._read(one)
            if place in firsts:
                self._alone[place].append(Call(function, (firsts[place], one), BOOLEAN))
            else:
                firsts[place] = one
                own = self._over(one, (place,))
                self._keys[place].append(Key(len(self._classes), own, function != EQUAL[0]))
        self._classes.append(tuple(group))

    def _joins_two(self, asks: Expression) -> bool:
        sides = [self._read(one) for one in asks.children]
        return all(len(one) == 1 for one in sides) and sides[0] != sides[1]

    def _condition(self, part: PositionedCondition, inputs: Sequence[int]) -> Condition:
        return Condition(tuple(inputs), self._over(part.asks, inputs), part.name)

    def _own(self, place: int, parts: Sequence[Expression]) -> Expression | None:
        return self._over(conjunction(list(parts)), (place,)) if parts else None

    def _read(self, expression: Expression) -> list[int]:
        """The inputs whose columns an expression reads."""
        places = (int(name) for name in columns_of(expression))
        return sorted({bisect_right(self._offsets, one) - 1 for one in places})

    def _over(self, expression: Expression, inputs: Sequence[int]) -> Expression:
        """An expression over the columns of some inputs, side by side."""
        ranges = (range(self._offsets[one], self._offsets[one + 1]) for one in inputs)
        columns = [column for one in ranges for column in one]
        return placed(expression, {str(old): str(new) for new, old in enumerate(columns)})


def _is_equality(asks: Expression) -> bool:
    return (
        isinstance(asks, Call) and asks.function in EQUAL and asks.args[0].type == asks.args[1].type
    )

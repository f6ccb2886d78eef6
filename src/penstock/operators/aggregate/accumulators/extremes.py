"""Doubles too large or too small for the limbs of a group: rare, summed as Python integers."""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.operators.aggregate.accumulators.events import Bools, Doubles, GroupEvents, Int8s
    from penstock.state.moving import Moved

FINEST = 1074
"""Every finite double is a multiple of 2^-1074."""


class Extreme(NamedTuple):
    """The extreme doubles in a group: how many, their sum, and that of their squares.

    In units of 2^-1074 and 2^-2148.
    """

    rows: int
    total: int
    square: int


NONE = Extreme(0, 0, 0)


class ExtremeSpan(NamedTuple):
    """Points start..stop, all of one group, at which the group has the same extreme doubles."""

    start: int
    stop: int
    extreme: Extreme


class Extremes:
    """The extreme doubles of every group that has some."""

    def __init__(self) -> None:
        self.groups: dict[int, Extreme] = {}

    def sweep(
        self, events: GroupEvents, values: Doubles, weights: Int8s, chosen: Bools
    ) -> Iterator[ExtremeSpan]:
        """Take in the chosen events; where in the points extreme doubles play a part."""
        indexes = np.flatnonzero(chosen & (weights != 0))
        groups = set(events.groups[indexes].tolist())
        if self.groups:
            groups |= self.groups.keys() & set(np.unique(events.groups).tolist())
        owners = events.groups[events.points]
        for group in sorted(groups):
            first, last = np.searchsorted(owners, [group, group + 1]).tolist()
            mine = indexes[events.groups[indexes] == group]
            places = np.searchsorted(events.points, mine)
            now = self.groups.pop(group, NONE)
            for index, place in zip(mine.tolist(), places.tolist(), strict=True):
                yield ExtremeSpan(first, place, now)
                first, now = place, _changed(now, float(values[index]), int(weights[index]))
            yield ExtremeSpan(first, last, now)
            if now.rows:
                self.groups[group] = now

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots."""
        self.groups = {int(moved.numbers[group]): one for group, one in self.groups.items()}

    @property
    def in_use(self) -> int:
        """The number of groups."""
        return len(self.groups)

    @property
    def nbytes(self) -> int:
        """Memory taken by the integers."""
        return sum(getsizeof(one.total) + getsizeof(one.square) for one in self.groups.values())

    def table(self) -> pa.Table:
        """The state; integers of thousands of bits as text."""
        kept = self.groups.items()
        return pa.table(
            {
                "group": pa.array([group for group, _ in kept], pa.int64()),
                "count": pa.array([one.rows for _, one in kept], pa.int64()),
                "total": pa.array([hex(one.total) for _, one in kept], pa.string()),
                "square": pa.array([hex(one.square) for _, one in kept], pa.string()),
            }
        )

    def restore(self, table: pa.Table) -> None:
        """Take back a table."""
        self.groups = {
            row["group"]: Extreme(row["count"], int(row["total"], 16), int(row["square"], 16))
            for row in table.to_pylist()
        }


def _changed(extreme: Extreme, value: float, weight: int) -> Extreme:
    numerator, denominator = value.as_integer_ratio()
    number = numerator * (2**FINEST // denominator)
    return Extreme(
        extreme.rows + weight,
        extreme.total + weight * number,
        extreme.square + weight * number * number,
    )


def ratio(numerator: int, denominator: int) -> float:
    """The nearest double, infinite beyond the largest.

    >>> ratio(1, 3), ratio(-(10**400), 1)
    (0.3333333333333333, -inf)
    """
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if numerator > 0 else float("-inf")

"""Random edges of each update pattern, and of what some operators need besides."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa

from operators.join_model import Element
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from operators.join_model import Row

TYPES = (pa.int64(), pa.string())
TAME = (Pattern.MON, Pattern.WKS, Pattern.WK)
"""The patterns without negative rows."""


@dataclass(frozen=True)
class Size:
    """How many rows there are, until when they come, and how long they are valid at most.

    `at_once` are numbers of pairs, or of combinations, that joins make together at most.
    """

    counts: tuple[int, ...]
    last: int
    longest: int
    at_once: tuple[int, ...] = (1, 3, 1000)

    @property
    def horizon(self) -> int:
        """All is over by then but what never ends."""
        return 2 * (self.last + self.longest)


class Draws(Random):
    """Random numbers, and the size of what is drawn by them."""

    def __init__(self, seed: str, size: Size) -> None:
        super().__init__(seed)
        self.size = size

    def count(self) -> int:
        """A number of elements."""
        return self.choice(self.size.counts)

    def instants(self) -> list[int]:
        """Some instants, of which not all have to be different."""
        return [self.randrange(self.size.horizon) for _ in range(self.count() // 2)]


def few_rows(random: Draws) -> Row:
    """Few different rows, so that many are alike."""
    return random.choice([1, 2, None]), random.choice(["a", None])


def edge(
    random: Draws,
    pattern: Pattern,
    rows: Callable[[Draws], Row] = few_rows,
    *,
    beginning: bool = True,
    most: int | None = None,
) -> list[Element]:
    """Elements of an edge with a pattern, by ts; strict ones may be there from the beginning."""
    size = random.size
    window, slide = random.randint(1, size.longest), random.choice([1, 1, 3])
    found: list[Element] = []
    wanted = random.count() if most is None else random.randint(0, most)
    for ts in sorted(random.randint(0, size.last) for _ in range(wanted)):
        row = rows(random)
        if pattern is Pattern.MON:
            found.append(Element(row, ts, INFINITY))
        elif pattern is Pattern.WKS:
            begin, end = (-(-x // slide) * slide for x in (ts, ts + window))
            if begin < end:
                found.append(Element(row, begin, end))
        elif pattern is Pattern.WK:
            found.append(Element(row, ts, ts + random.randint(1, size.longest)))
        else:
            found += strict(random, row, ts, beginning=beginning)
    return sorted(found, key=lambda one: one.ts)


def strict(random: Draws, row: Row, ts: int, *, beginning: bool) -> list[Element]:
    """An element that may be withdrawn before its end."""
    longest = random.size.longest
    te = random.choice([INFINITY, INFINITY, ts + 2, ts + longest])
    begin = random.choice([ts, ts, ts, BEGINNING]) if beginning else ts
    if random.random() < 0.4:
        return [Element(row, begin, te)]
    return [
        Element(row, begin, te),
        Element(row, random.randint(ts + 1, min(te - 1, ts + longest)), te, -1),
    ]


def changes(random: Draws, rows: Callable[[Draws], Row] = few_rows) -> list[Element]:
    """Changes of a relation: each for ever, until it is taken back."""
    found = []
    for ts in range(random.count()):
        row, at = rows(random), random.choice([BEGINNING, ts % random.size.last])
        found.append(Element(row, at, INFINITY))
        if random.random() < 0.6:
            begin = max(at + 1, 0)
            end = random.randint(begin, begin + random.size.longest)
            found.append(Element(row, end, INFINITY, -1))
    return sorted(found, key=lambda one: one.ts)


def coverage(random: Draws, keys: Sequence[Row], *, signed: bool) -> list[Element]:
    """Keys that are covered in stretches, each at most once at every instant."""
    found = []
    for key in keys:
        some = random.count() // 3
        bounds = sorted({random.randint(0, random.size.last) for _ in range(some)})
        if signed and random.random() < 0.5:
            bounds = [BEGINNING, *bounds]
        for begin, end in pairwise(bounds):
            kind = random.choice(["gap", "plain", "plain", "withdrawn"])
            if kind == "gap":
                continue
            te = end
            if signed and kind == "withdrawn":
                te = random.choice([end + 3, INFINITY])
                found.append(Element(key, end, te, -1))
            found.append(Element(key, begin, te))
    return sorted(found, key=lambda one: one.ts)


def arrivals(elements: Sequence[Element]) -> list[Element]:
    """The rows of elements as they came, each for ever."""
    return [Element(one.row, one.ts, INFINITY) for one in elements if one.sign > 0]


def instants(found: Sequence[int]) -> list[Element]:
    """Rows without columns, one for each different instant."""
    return [Element((), at, INFINITY) for at in sorted(set(found))]


def queue(random: Draws) -> tuple[int, int]:
    """Span and partitions of calendar queues: entries wait for a later round, or do not."""
    return random.choice([1, 8]), random.choice([1, 4])

"""Pairs of rows that meet in one step, some at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.errors import InternalError
from penstock.operators.join.join_loops import REFUSED, START, Incoming, Pairs, SideRows, meet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.operators.block import Block
    from penstock.state.arrays import Ints, Values

PAIRS_AT_ONCE = 1 << 18
"""Pairs of rows that are looked at together, at most."""


def incoming_rows(block: Block, keys: Ints, places: Ints, twins: Ints) -> Incoming:
    """The rows of a step for the loops, which are compiled once, for arrays that can be written."""
    return Incoming(
        _writable(block.ts), _writable(block.te), _writable(block.signs), keys, places, twins
    )


def pairs_of_step(
    first: tuple[Incoming, SideRows], second: tuple[Incoming, SideRows], heads: Ints, at_once: int
) -> Iterator[Pairs]:
    """Let the rows of a step meet, and keep them; at least one pair in each portion."""
    return portions(
        lambda cursor, pairs: meet(*first, *second, heads, cursor, pairs),
        len(first[0].ts),
        len(second[0].ts),
        at_once,
    )


def portions(
    fill: Callable[[Ints, Pairs], int], first: int, second: int, at_once: int
) -> Iterator[Pairs]:
    """The finds of a loop over two inputs, `first` and `second` rows long, some at a time.

    `fill` goes on from a cursor until the pairs are full, and says how many there are.
    """
    cursor = np.array([0, 0, 0, START], np.int64)
    return filled(
        fill,
        cursor,
        lambda: (int(cursor[0]), int(cursor[1])) == (first, second),
        first + second,
        at_once,
    )


def filled(
    fill: Callable[[Ints, Pairs], int],
    cursor: Ints,
    is_over: Callable[[], bool],
    rows: int,
    at_once: int,
) -> Iterator[Pairs]:
    """The finds of a loop over so many rows, until the cursor says that it is over."""
    # A pair or two for each row is usual; if it takes more, it may take many more.
    size = min(at_once, 2 * rows + 64)
    while not is_over():
        pairs = _room(size)
        count = fill(cursor, pairs)
        if int(cursor[3]) == REFUSED:
            msg = "a negative row withdraws an element that is not there"
            raise InternalError(msg)
        if count:
            yield _first(pairs, count)
        size = at_once


def _writable(array: Values) -> Values:
    return np.require(array, requirements=["C", "W"])


def _room(size: int) -> Pairs:
    first, second, ts, te = (np.empty(size, np.int64) for _ in range(4))
    return Pairs(first, second, ts, te, np.empty(size, np.int8))


def _first(pairs: Pairs, count: int) -> Pairs:
    """The pairs that were filled in; most of the room is not held for a few of them."""
    few = 2 * count < len(pairs.ts)
    return Pairs._make(one[:count].copy() if few else one[:count] for one in pairs)

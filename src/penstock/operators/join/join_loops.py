"""The loops of the join: rows of both sides meet in the order of time.

A side keeps its rows at places; the rows of one key form a chain, newest first. A place that a
side counts on without end (a FIFO) is found at its `spot` in a ring; places below `oldest` are
gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from penstock.algebra.time import BEGINNING
from penstock.state.compiled import compiled, compiled_borrowing, compiled_within
from penstock.state.prefetching import FAR, NEAR, prefetch

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Signs

TE, NEXT, KEY, PREVIOUS = 0, 1, 2, 3
"""What a side knows of a kept row: its end, the older one of its key, the key, the newer one."""
NOBODY = -1
"""No place: the end of a chain."""
GONE = BEGINNING
"""The end of a row that has been taken out."""
FIFO, LOOSE, STRICT, NOT_KEPT = 0, 1, 2, 3
"""Kinds of sides: rows leave in order, in any order, or are withdrawn; or they are not kept."""

START = -2
"""In the cursor: the next row has not begun to meet anybody."""
REFUSED = -3
"""In the cursor: a negative row withdraws what is not there."""


class Incoming(NamedTuple):
    """The rows of one step, by time, negative ones first in an instant.

    `place` is where a row is kept; of a negative row the loop finds it, and leaves it there.
    `twin` numbers what a negative row is matched by: row and end.
    """

    ts: Ints
    te: Ints
    sign: Signs
    key: Ints
    place: Ints
    twin: Ints


class SideRows(NamedTuple):
    """The rows of one side. `twins` chains the equal ones (number, next) of a strict side.

    `base` is the place that is at the front of the ring, or was when the ring last began anew.
    """

    records: Ints
    twins: Ints
    twin_heads: Ints
    base: int
    oldest: int
    kind: int


@compiled_borrowing
def spot(place: int, base: int, room: int) -> int:
    """The index of a place in a ring with so much room."""
    at = place - base
    return at - room if at >= room else at


class Pairs(NamedTuple):
    """The places of rows that met, and from when to when they are valid together."""

    first: Ints
    second: Ints
    ts: Ints
    te: Ints
    sign: Signs


@compiled_borrowing
def detach(records: Ints, heads: Ints, port: int, place: int) -> None:
    """Take a row out of the chain of its key, which stands there complemented from now on."""
    key, older, newer = records[place, KEY], records[place, NEXT], records[place, PREVIOUS]
    if newer >= 0:
        records[newer, NEXT] = older
    else:
        heads[key, port] = older
    if older >= 0:
        records[older, PREVIOUS] = newer
    records[place, KEY] = ~key


@compiled_borrowing
def unlink(records: Ints, heads: Ints, port: int, place: int) -> None:
    """Take a row out for good."""
    detach(records, heads, port, place)
    records[place, TE] = GONE


@compiled_borrowing
def walk(
    partner: int, ts: int, te: int, sign: int, place: int, other: SideRows,
    heads: Ints, port: int, mine: Ints, others: Ints, pairs: Pairs, count: int,
) -> tuple[int, int]:  # fmt: skip
    """Meet the rows of a chain; a partner is returned if the arrays are full before it.

    Rows that have ended meet nobody any more: they leave the chain, so each is met but once.
    `port` is that of the chain, `mine` and `others` are the pairs' two sides.
    """
    records, base, room = other.records, other.base, len(other.records)
    while partner >= other.oldest:
        at = spot(partner, base, room)
        end = records[at, TE]
        if end > ts:
            if count == len(mine):
                return partner, count
            mine[count] = place
            others[count] = at
            pairs.ts[count] = ts
            pairs.te[count] = min(te, end)
            pairs.sign[count] = sign
            count += 1
        elif other.kind == FIFO:
            break
        else:
            detach(records, heads, port, at)
        partner = records[at, NEXT]
    return NOBODY, count


@compiled_borrowing
def insert(incoming: Incoming, row: int, kept: SideRows, heads: Ints, port: int) -> None:
    """Keep a row, as the newest of its key."""
    place, key = incoming.place[row], incoming.key[row]
    at = spot(place, kept.base, len(kept.records))
    head = heads[key, port]
    kept.records[at, TE] = incoming.te[row]
    kept.records[at, NEXT] = head
    kept.records[at, KEY] = key
    if kept.kind != FIFO:
        kept.records[at, PREVIOUS] = NOBODY
        if head >= 0:
            kept.records[head, PREVIOUS] = place
    heads[key, port] = place
    if kept.kind == STRICT:
        twin = incoming.twin[row]
        kept.twins[at, 0] = twin
        kept.twins[at, 1] = kept.twin_heads[twin, 0]
        kept.twin_heads[twin, 0] = at


@compiled_borrowing
def keep_all(incoming: Incoming, kept: SideRows, heads: Ints, port: int) -> None:
    """Keep rows that meet nobody."""
    for row in range(len(incoming.ts)):
        insert(incoming, row, kept, heads, port)


@compiled_borrowing
def find_place(incoming: Incoming, row: int, kept: SideRows, heads: Ints, port: int) -> bool:
    """Give a negative row the place of an element it can withdraw; False if there is none."""
    if incoming.sign[row] > 0:
        return True
    place = NOBODY
    if kept.kind == STRICT:
        place = kept.twin_heads[incoming.twin[row], 0]
    incoming.place[row] = place
    return place >= 0


@compiled_borrowing
def finish(incoming: Incoming, row: int, kept: SideRows, heads: Ints, port: int) -> None:
    """The row has met all: keep it or, if it is negative, what it withdraws no longer."""
    if incoming.sign[row] < 0:
        place = incoming.place[row]
        if kept.kind == STRICT:
            kept.twin_heads[incoming.twin[row], 0] = kept.twins[place, 1]
        unlink(kept.records, heads, port, place)
    elif kept.kind != NOT_KEPT:
        insert(incoming, row, kept, heads, port)


@compiled_within
def _take_turn(
    incoming: Incoming, row: int, kept: SideRows, other: SideRows, heads: Ints, port: int,
    partner: int, mine: Ints, others: Ints, pairs: Pairs, count: int,
) -> tuple[int, int]:  # fmt: skip
    if partner == START:
        if not find_place(incoming, row, kept, heads, port):
            return REFUSED, count
        partner = heads[incoming.key[row], 1 - port]
    partner, count = walk(
        partner, incoming.ts[row], incoming.te[row], incoming.sign[row],
        spot(incoming.place[row], kept.base, len(kept.records)),
        other, heads, 1 - port, mine, others, pairs, count,
    )  # fmt: skip
    if partner == NOBODY:
        finish(incoming, row, kept, heads, port)
    return partner, count


@compiled_borrowing
def fetch_ahead(incoming: Incoming, row: int, other: SideRows, heads: Ints, port: int) -> None:
    """Ask for the chain of a row further ahead, and for the newest two partners of nearer ones."""
    if row + 2 * FAR < len(incoming.key):
        prefetch(heads, incoming.key[row + 2 * FAR])
    base, room = other.base, len(other.records)
    if row + FAR < len(incoming.key):
        partner = heads[incoming.key[row + FAR], port]
        if partner >= other.oldest:
            prefetch(other.records, spot(partner, base, room))
    if row + NEAR < len(incoming.key):
        partner = heads[incoming.key[row + NEAR], port]
        if partner >= other.oldest:
            older = other.records[spot(partner, base, room), NEXT]
            if older >= other.oldest:
                prefetch(other.records, spot(older, base, room))


@compiled_borrowing
def meet(
    first: Incoming, first_kept: SideRows, second: Incoming, second_kept: SideRows,
    heads: Ints, cursor: Ints, pairs: Pairs,
) -> int:  # fmt: skip
    """Let the rows of a step meet those kept, and keep them, until the pairs are full.

    Rows of one instant: negative ones first, then those of the first side. Goes on from the
    cursor (the row of each side, the side whose turn it is, its next partner). Returns the
    number of pairs.
    """
    i, j, port, partner = cursor[0], cursor[1], cursor[2], cursor[3]
    count = 0
    while True:
        if partner == START:
            if i < len(first.ts) and (
                j == len(second.ts)
                or first.ts[i] < second.ts[j]
                or (first.ts[i] == second.ts[j] and first.sign[i] <= second.sign[j])
            ):
                port = 0
            elif j < len(second.ts):
                port = 1
            else:
                break
        if port == 0:
            fetch_ahead(first, i, second_kept, heads, 1)
            partner, count = _take_turn(
                first, i, first_kept, second_kept, heads, 0,
                partner, pairs.first, pairs.second, pairs, count,
            )  # fmt: skip
        else:
            fetch_ahead(second, j, first_kept, heads, 0)
            partner, count = _take_turn(
                second, j, second_kept, first_kept, heads, 1,
                partner, pairs.second, pairs.first, pairs, count,
            )  # fmt: skip
        if partner != NOBODY:
            break
        if port == 0:
            i += 1
        else:
            j += 1
        partner = START
    cursor[0], cursor[1], cursor[2], cursor[3] = i, j, port, partner
    return count


@compiled
def ended_first(records: Ints, base: int, oldest: int, stop: int, clock: int) -> int:
    """The number of rows of a FIFO, from the oldest on, that end before the clock."""
    place = oldest
    while place < stop and records[spot(place, base, len(records)), TE] < clock:
        place += 1
    return place - oldest


@compiled
def drop_oldest(
    records: Ints, base: int, oldest: int, stop: int, clock: int, heads: Ints, port: int
) -> tuple[int, Ints]:
    """Forget the rows of a FIFO that have ended; the new oldest place, and keys without rows."""
    keys = np.empty(stop - oldest, np.int64)
    room = len(records)
    count = 0
    while oldest < stop and records[spot(oldest, base, room), TE] <= clock:
        if oldest + FAR < stop:
            prefetch(heads, records[spot(oldest + FAR, base, room), KEY])
        key = records[spot(oldest, base, room), KEY]
        if heads[key, port] == oldest:
            heads[key, port] = NOBODY
            keys[count] = key
            count += 1
        oldest += 1
    return oldest, keys[:count].copy()


@compiled
def drop_ended(
    records: Ints, heads: Ints, port: int, places: Ints, ends: Ints
) -> tuple[Ints, Ints]:
    """Forget rows at places, unless gone before; the places now free, and keys without rows."""
    freed = np.empty(len(places), np.int64)
    keys = np.empty(len(places), np.int64)
    freed_count = key_count = 0
    for number in range(len(places)):
        place = places[number]
        # The place may have been given to another row since; then the ends differ, or the first
        # of two entries with the same end takes that row out.
        if records[place, TE] != ends[number]:
            continue
        if records[place, KEY] >= 0:
            detach(records, heads, port, place)
        records[place, TE] = GONE
        freed[freed_count] = place
        freed_count += 1
        key = ~records[place, KEY]
        if heads[key, port] == NOBODY:
            keys[key_count] = key
            key_count += 1
    return freed[:freed_count].copy(), keys[:key_count].copy()


@compiled
def cut_withdrawals(twins: Ints, twin_heads: Ints, places: Ints) -> Ints:
    """Numbers of twins that end at the places: equal rows have one end, so all of them go."""
    numbers = np.empty(len(places), np.int64)
    count = 0
    for place in places:
        number = twins[place, 0]
        if twin_heads[number, 0] != NOBODY:
            twin_heads[number, 0] = NOBODY
            numbers[count] = number
            count += 1
    return numbers[:count].copy()


@compiled
def once_empty(heads: Ints, candidates: Ints) -> Ints:
    """The candidates whose chains are all empty, each once."""
    found = np.empty(len(candidates), np.int64)
    count = 0
    for number in range(len(candidates)):
        if number + FAR < len(candidates):
            prefetch(heads, candidates[number + FAR])
        candidate = candidates[number]
        if heads[candidate].max() == NOBODY:
            heads[candidate, 0] = 0
            found[count] = candidate
            count += 1
    for number in range(count):
        heads[found[number], 0] = NOBODY
    return found[:count].copy()

"""The loops of the join of many inputs: partial combinations grow by one input at a time.

Rows are ranked in the order in which they arrive. All rows of a portion are kept before any of
them looks for others; a combination counts for the one of its rows that arrived last, as ranks
tell. A partial combination is a row of a table: a few words, then for each input where its row is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.join.join_loops import (
    FIFO,
    KEY,
    NEXT,
    NOBODY,
    PREVIOUS,
    START,
    STRICT,
    TE,
    Incoming,
    SideRows,
    find_place,
    insert,
    spot,
    unlink,
)
from penstock.state.compiled import compiled, compiled_borrowing
from penstock.state.prefetching import FAR, NEAR, prefetch
from penstock.state.probing import home_of

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints, Signs

GROUP, UNTIL, BORN, DIED, PLACES = 0, 1, 2, 3, 4
"""A partial combination: new rows it is for, its end, the ranks between which all its rows are
there; then places.
"""
BEGIN, SIGN = GROUP, BORN
"""A whole combination has in their place when it begins, and whether it comes or goes."""
FIRST_TS, FIRST, LAST = 0, 1, 2
"""Facts of new rows that look for others together: the first instant, and their ranks."""
FOREVER = np.iinfo(np.int64).max
"""The rank at which a row dies that nobody withdraws."""


@compiled
def arrival_order(ts: Ints, sign: Signs, starts: Ints, most: int) -> tuple[Ints, Ints]:
    """The ranks of rows, and where the inputs stand behind each portion of at most `most` rows.

    Those of input i begin at `starts[i]`, by time. Rows of one instant: negative ones first, then
    by input.
    """
    inputs, total = len(starts) - 1, len(ts)
    ranks = np.empty(total, np.int64)
    cuts = np.zeros((max(-(-total // most), 1) + 1, inputs), np.int64)
    at = starts[:-1].copy()
    portion = 1
    for rank in range(total):
        chosen = NOBODY
        for port in range(inputs):
            if at[port] < starts[port + 1] and (
                chosen == NOBODY
                or ts[at[port]] < ts[at[chosen]]
                or (ts[at[port]] == ts[at[chosen]] and sign[at[port]] < sign[at[chosen]])
            ):
                chosen = port
        ranks[at[chosen]] = rank
        at[chosen] += 1
        if (rank + 1) % most == 0:
            cuts[portion] = at - starts[:-1]
            portion += 1
    cuts[-1] = at - starts[:-1]
    return ranks, cuts


@compiled_borrowing
def enter(
    incoming: Incoming, ranks: Ints, kept: SideRows, heads: Ints, port: int, lives: Ints
) -> bool:
    """Keep the rows of a portion; those withdrawn stay until `take_out`. False: one is not there.

    `lives` has the ranks between which the row at a place is there, unless it is a FIFO.
    """
    for row in range(len(incoming.ts)):
        if row + FAR < len(incoming.key):
            prefetch(heads, incoming.key[row + FAR])
        if incoming.sign[row] > 0:
            insert(incoming, row, kept, heads, port)
            if kept.kind != FIFO:
                lives[incoming.place[row], 0] = ranks[row]
                lives[incoming.place[row], 1] = FOREVER
        elif find_place(incoming, row, kept, heads, port):
            lives[incoming.place[row], 1] = ranks[row]
            _hide_twin(incoming, row, kept)
        else:
            return False
    return True


@compiled_borrowing
def _hide_twin(incoming: Incoming, row: int, kept: SideRows) -> None:
    """Nobody else withdraws what this negative row does."""
    place = incoming.place[row]
    if kept.kind == STRICT:
        kept.twin_heads[incoming.twin[row], 0] = kept.twins[place, 1]


@compiled_borrowing
def follow(incoming: Incoming, kept: SideRows, heads: Ints) -> None:
    """Chain rows that another structure keeps by other keys as well."""
    for row in range(len(incoming.ts)):
        if row + FAR < len(incoming.key):
            prefetch(heads, incoming.key[row + FAR])
        if incoming.sign[row] > 0:
            insert(incoming, row, kept, heads, 0)


@compiled_borrowing
def take_out(incoming: Incoming, kept: SideRows, heads: Ints, lives: Ints) -> None:
    """Take out what was withdrawn: all rows of the portion have found their combinations."""
    for row in range(len(incoming.ts)):
        if incoming.sign[row] < 0:
            unlink(kept.records, heads, 0, incoming.place[row])
            lives[incoming.place[row], 1] = FOREVER


@compiled_borrowing
def narrow(rows: Ints, count: int, marks: Ints, heads: Ints, oldest: int) -> int:
    """Leave of the first `count` rows those whose bucket is not empty; how many these are."""
    room, left = len(heads), 0
    for number in range(count):
        if number + FAR < count:
            prefetch(heads, home_of(marks[rows[number + FAR]], room))
        row = rows[number]
        if heads[home_of(marks[row], room), 0] >= oldest:
            rows[left] = row
            left += 1
    return left


@compiled
def group_starts(differ: Flags, ranks: Ints, reach: int) -> Ints:
    """The beginnings of groups of rows: those of one key stand together, by rank.

    A group begins where a row's key is not that of the one before it, as `differ` says, and where
    a row is further than so many ranks from the first one.
    """
    starts = np.empty(len(ranks), np.int64)
    count = 0
    for row in range(len(ranks)):
        if row == 0 or differ[row] or ranks[row] - ranks[starts[count - 1]] > reach:
            starts[count] = row
            count += 1
    return starts[:count].copy()


@compiled_borrowing
def relink(places: Ints, marks: Ints, kept: SideRows, heads: Ints) -> None:
    """Chain the rows at places anew; the later ones are newer."""
    records = kept.records
    for number in range(len(places)):
        at, bucket = (
            spot(places[number], kept.base, len(records)),
            home_of(marks[number], len(heads)),
        )
        head = heads[bucket, 0]
        records[at, NEXT] = head
        records[at, KEY] = bucket
        if kept.kind != FIFO:
            records[at, PREVIOUS] = NOBODY
            if head >= 0:
                records[head, PREVIOUS] = places[number]
        heads[bucket, 0] = places[number]


@compiled_borrowing
def _fetch_ahead(row: int, keys: Ints, kept: SideRows, heads: Ints, codes: Ints) -> None:
    """Ask for the chain of a row further ahead, and for the newest partner of a nearer one."""
    if row + FAR < len(keys):
        prefetch(heads, keys[row + FAR])
    if row + NEAR < len(keys):
        partner = heads[keys[row + NEAR], 0]
        if partner >= kept.oldest:
            at = spot(partner, kept.base, len(kept.records))
            prefetch(kept.records, at)
            prefetch(codes, at)


@compiled_borrowing
def _life(partner: int, at: int, kind: int, lives: Ints, first: int) -> tuple[int, int]:
    """The ranks between which a row is there; of a FIFO only those from `first` on are known."""
    if kind != FIFO:
        return lives[at, 0], lives[at, 1]
    if partner >= first:
        return lives[partner - first, 0], lives[partner - first, 1]
    return -1, FOREVER


@compiled_borrowing
def extend(
    partials: Ints, buckets: Ints, words: Ints, bounds: Ints, kept: SideRows, heads: Ints,
    codes: tuple[Ints, Ints], lives: Ints, first: int, column: int, cursor: Ints, room: Ints,
) -> int:  # fmt: skip
    """Combine each partial combination with the rows of its key, until the room is full.

    All rows of its bucket are looked at; those of its key have its words as their codes.
    Goes on from the cursor: a combination, and the row that it meets next. Returns how many.
    """
    records, base = kept.records, kept.base
    row, partner, count = cursor[0], cursor[1], 0
    while row < len(partials):
        group = partials[row, GROUP]
        since, last = bounds[group, FIRST_TS], bounds[group, LAST]
        if partner == START:
            _fetch_ahead(row, buckets, kept, heads, codes[0])
            partner = heads[buckets[row], 0]
        while partner >= kept.oldest:
            at = spot(partner, base, len(records))
            end = records[at, TE]
            if end > since and codes[0][at] == words[row, 0] and codes[1][at] == words[row, 1]:
                born, died = _life(partner, at, kept.kind, lives, first)
                born, died = max(born, partials[row, BORN]), min(died, partials[row, DIED])
                if born < last and died > max(born, bounds[group, FIRST]):
                    if count == len(room):
                        cursor[0], cursor[1] = row, partner
                        return count
                    for word in range(PLACES, room.shape[1]):
                        room[count, word] = partials[row, word]
                    room[count, GROUP] = group
                    room[count, UNTIL] = min(partials[row, UNTIL], end)
                    room[count, BORN] = born
                    room[count, DIED] = died
                    room[count, column] = at
                    count += 1
            elif end <= since and kept.kind == FIFO:
                break
            partner = records[at, NEXT]
        partner = START
        row += 1
    cursor[0], cursor[1] = row, partner
    return count


@compiled_borrowing
def unfold(
    partials: Ints, members: Ints, starts: Ints, bounds: Ints, ends: Ints, places: Ints,
    column: int, cursor: Ints, room: Ints,
) -> int:  # fmt: skip
    """Combine what was found for groups of new rows with each of their members, as `extend` does.

    The members of group g stand from `starts[g]` on. `bounds`, `ends` and `places` are of rows.
    """
    row, at, count = cursor[0], cursor[1], 0
    while row < len(partials):
        group = partials[row, GROUP]
        if at == START:
            at = starts[group]
        while at < starts[group + 1]:
            member = members[at]
            rank = bounds[member, FIRST]
            if (
                partials[row, BORN] < rank < partials[row, DIED]
                and partials[row, UNTIL] > bounds[member, FIRST_TS]
            ):
                if count == len(room):
                    cursor[0], cursor[1] = row, at
                    return count
                for word in range(PLACES, room.shape[1]):
                    room[count, word] = partials[row, word]
                room[count, GROUP] = member
                room[count, UNTIL] = min(partials[row, UNTIL], ends[member])
                room[count, BORN] = partials[row, BORN]
                room[count, DIED] = partials[row, DIED]
                room[count, column] = places[member]
                count += 1
            at += 1
        at = START
        row += 1
    cursor[0], cursor[1] = row, at
    return count

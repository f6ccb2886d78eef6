"""The loop of the outer join: rows of both sides meet, and those without a partner stand alone.

A key is covered for the rows of one side while the other side has a valid row of it. Nothing is
counted for that: the newest row of a FIFO is the last to end, and from the chains of other sides
rows are taken when they end. So it is enough to look at the head of a chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.algebra.time import INFINITY
from penstock.operators.join.join_loops import (
    FIFO,
    KEY,
    NOBODY,
    REFUSED,
    START,
    TE,
    Incoming,
    Pairs,
    SideRows,
    detach,
    fetch_ahead,
    find_place,
    finish,
    spot,
    walk,
)
from penstock.state.compiled import compiled_borrowing, compiled_within
from penstock.state.prefetching import FAR, prefetch

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Signs

PARTNER, DUE, PHASE, NOW, TOUCHED, TURN, ROOM = 3, 4, 6, 7, 8, 9, 11
"""In the cursor, behind the next row of each side: with whom the row whose turn it is goes on, the
next end of each side, the phase of the instant, the instant, how many keys it touches, and how
many of them each side has dealt with; and how long a cursor is."""

NEXT_INSTANT, WITHDRAWALS, MARKS, TURNS, ARRIVALS, OVER = 0, 1, 2, 3, 4, 5
"""Phases: an instant begins; rows go; keys of rows that come are marked; keys become covered or
uncovered; rows come. Over: the step has no other instant."""

_TOUCHED, _BEFORE, _ARRIVES = 1, 2, 8
"""Marks of a key in an instant: it was touched; it had a row before, on the first side (twice
that: on the second); a row comes, on the first side (twice that: on the second)."""


class OuterSide(NamedTuple):
    """One side in a step: rows that come, rows kept, ends by time and where these rows are.

    `padded` says whether its rows are results when they have no partner. Ends are given only if
    they matter, because the rows of the other side are padded.
    """

    incoming: Incoming
    kept: SideRows
    ends: Ints
    ending: Ints
    padded: bool


class OuterStep(NamedTuple):
    """The common part of both sides. A key's mark is 0 between two instants.

    `touched` has room for as many keys as rows come and end.
    """

    heads: Ints
    marks: Signs
    touched: Ints
    cursor: Ints
    pairs: Pairs


@compiled_within
def _is_there(key: int, kept: SideRows, heads: Ints, port: int, instant: int) -> bool:
    """A row of the key on a side ends after an instant."""
    head = heads[key, port]
    if head < kept.oldest:
        return False
    end: int = kept.records[spot(head, kept.base, len(kept.records)), TE]
    return end > instant


@compiled_within
def _touch(key: int, mine: OuterSide, other: OuterSide, port: int, step: OuterStep) -> None:
    """Something about a key changes: remember on which sides it had rows before this instant."""
    if step.marks[key] != 0:
        return
    # Nothing ends at the beginning of time, when nothing was there before.
    before = max(step.cursor[NOW], -INFINITY) - 1
    mark = _TOUCHED
    if _is_there(key, mine.kept, step.heads, port, before):
        mark |= _BEFORE << port
    if _is_there(key, other.kept, step.heads, 1 - port, before):
        mark |= _BEFORE << (1 - port)
    step.marks[key] = mark
    step.touched[step.cursor[TOUCHED]] = key
    step.cursor[TOUCHED] += 1


@compiled_within
def _is_covered(key: int, other: OuterSide, port: int, step: OuterStep) -> bool:
    """A row of the key is on the other side, whose port it is, once the instant is over."""
    if step.marks[key] & (_ARRIVES << port):
        return True
    return _is_there(key, other.kept, step.heads, port, step.cursor[NOW])


@compiled_within
def _fetch(key: int, kept: SideRows, step: OuterStep, port: int) -> None:
    """Ask for what `_touch` will look at; a key that is none yet is not looked up."""
    prefetch(step.marks, key)
    if 0 <= key < len(step.heads):
        head = step.heads[key, port]
        if head >= kept.oldest:
            prefetch(kept.records, spot(head, kept.base, len(kept.records)))


@compiled_within
def _end(mine: OuterSide, other: OuterSide, port: int, step: OuterStep) -> None:
    """Rows that end at this instant."""
    cursor, records = step.cursor, mine.kept.records
    while cursor[DUE + port] < len(mine.ends):
        due = cursor[DUE + port]
        if mine.ends[due] != cursor[NOW]:
            break
        if due + 2 * FAR < len(mine.ends):
            prefetch(step.heads, records[mine.ending[due + 2 * FAR], KEY])
            soon = records[mine.ending[due + FAR], KEY]
            _fetch(soon, mine.kept, step, port)
            _fetch(soon, other.kept, step, 1 - port)
        at = mine.ending[due]
        key = records[at, KEY]
        # Where rows are withdrawn, an end may be that of a row which is gone, see `drop_ended`.
        if mine.kept.kind == FIFO:
            _touch(key, mine, other, port, step)
        elif key >= 0 and records[at, TE] == cursor[NOW]:
            _touch(key, mine, other, port, step)
            detach(records, step.heads, port, at)
        cursor[DUE + port] = due + 1


@compiled_within
def _mark(mine: OuterSide, other: OuterSide, port: int, step: OuterStep) -> None:
    """Mark the keys of rows that come at this instant, if that matters to the other side."""
    if not other.padded:
        return
    incoming = mine.incoming
    row = step.cursor[port]
    while row < len(incoming.ts) and incoming.ts[row] == step.cursor[NOW]:
        if row + FAR < len(incoming.ts):
            _fetch(incoming.key[row + FAR], mine.kept, step, port)
        key = incoming.key[row]
        _touch(key, mine, other, port, step)
        step.marks[key] |= _ARRIVES << port
        row += 1


@compiled_within
def _is_shown(mine: OuterSide, other: OuterSide, port: int, step: OuterStep) -> bool:
    """The row whose turn it is enters the result alone or, if it is negative, leaves it."""
    if not mine.padded:
        return False
    key = mine.incoming.key[step.cursor[port]]
    if step.cursor[PHASE] == WITHDRAWALS:
        covered: int = step.marks[key] & (_BEFORE << (1 - port))
        return covered == 0
    return not _is_covered(key, other, 1 - port, step)


@compiled_within
def _next_row(mine: OuterSide, other: OuterSide, port: int, step: OuterStep) -> int:
    """The key of the next row of this phase; nobody if there is none, or refused."""
    incoming, cursor = mine.incoming, step.cursor
    row = cursor[port]
    if row == len(incoming.ts) or incoming.ts[row] != cursor[NOW]:
        return NOBODY
    key: int = incoming.key[row]
    if cursor[PHASE] == ARRIVALS:
        fetch_ahead(incoming, row, other.kept, step.heads, 1 - port)
        return key
    if incoming.sign[row] > 0:
        return NOBODY
    if not find_place(incoming, row, mine.kept, step.heads, port):
        return REFUSED
    _touch(key, mine, other, port, step)
    return key


@compiled_within
def _next_turn(mine: OuterSide, other: OuterSide, port: int, step: OuterStep) -> tuple[int, int]:
    """The next key that becomes covered by this side (-1) or uncovered (1), or nobody."""
    cursor = step.cursor
    if not other.padded:
        return NOBODY, 0
    while cursor[TURN + port] < cursor[TOUCHED]:
        key = step.touched[cursor[TURN + port]]
        covered = _is_covered(key, mine, port, step)
        if covered != (step.marks[key] & (_BEFORE << port) != 0):
            return key, -1 if covered else 1
        cursor[TURN + port] += 1
    return NOBODY, 0


@compiled_within
def _deal(
    mine: OuterSide, other: OuterSide, port: int,
    step: OuterStep, places: Ints, partners: Ints, count: int,
) -> tuple[bool, int]:  # fmt: skip
    """Deal with the rows, or the keys, of one side in this phase; False: there is no more room.

    A row meets the rows of its key on the other side. A key that becomes covered or uncovered by
    this side meets them in the same way: they leave the result alone, or enter it.
    """
    incoming, cursor, pairs = mine.incoming, step.cursor, step.pairs
    te, place, sign = INFINITY, NOBODY, 0
    while True:
        if cursor[PHASE] == TURNS:
            key, sign = _next_turn(mine, other, port, step)
        else:
            key = _next_row(mine, other, port, step)
        if key < 0:
            break
        if cursor[PHASE] != TURNS:
            row = cursor[port]
            te, sign = incoming.te[row], incoming.sign[row]
            place = spot(incoming.place[row], mine.kept.base, len(mine.kept.records))
        if cursor[PARTNER] == START:
            if cursor[PHASE] != TURNS and _is_shown(mine, other, port, step):
                if count == len(places):
                    return False, count
                places[count] = place
                partners[count] = NOBODY
                pairs.ts[count] = cursor[NOW]
                pairs.te[count] = te
                pairs.sign[count] = sign
                count += 1
            cursor[PARTNER] = step.heads[key, 1 - port]
        partner, count = walk(
            cursor[PARTNER], cursor[NOW], te, sign, place,
            other.kept, step.heads, 1 - port, places, partners, pairs, count,
        )  # fmt: skip
        cursor[PARTNER] = partner
        if partner != NOBODY:
            return False, count
        cursor[PARTNER] = START
        if cursor[PHASE] == TURNS:
            cursor[TURN + port] += 1
        else:
            finish(incoming, cursor[port], mine.kept, step.heads, port)
            cursor[port] += 1
    if key == REFUSED:
        cursor[PARTNER] = REFUSED
    return key != REFUSED, count


@compiled_within
def _first_of(side: OuterSide, port: int, cursor: Ints) -> int:
    """The next instant at which a row of a side comes, goes or ends; infinity if there is none."""
    found = INFINITY
    if cursor[port] < len(side.incoming.ts):
        found = side.incoming.ts[cursor[port]]
    if cursor[DUE + port] < len(side.ends):
        found = min(found, side.ends[cursor[DUE + port]])
    return found


@compiled_within
def _begin(first: OuterSide, second: OuterSide, step: OuterStep) -> None:
    """Go to the next instant."""
    cursor = step.cursor
    for number in range(cursor[TOUCHED]):
        step.marks[step.touched[number]] = 0
    cursor[TOUCHED] = 0
    cursor[TURN] = 0
    cursor[TURN + 1] = 0
    cursor[NOW] = min(_first_of(first, 0, cursor), _first_of(second, 1, cursor))
    cursor[PHASE] = OVER if cursor[NOW] == INFINITY else WITHDRAWALS


@compiled_borrowing
def meet_or_pad(first: OuterSide, second: OuterSide, step: OuterStep) -> int:
    """Rows that meet, and rows that stand alone from now on or no longer, until there is no room.

    A row alone has nobody as the other of its pair. Within an instant: withdrawals, ends, keys
    that become covered or uncovered, then new rows. Goes on from the cursor; returns how many.
    """
    cursor, left, right = step.cursor, step.pairs.first, step.pairs.second
    count = 0
    while cursor[PHASE] != OVER:
        if cursor[PHASE] == NEXT_INSTANT:
            _begin(first, second, step)
        elif cursor[PHASE] == MARKS:
            _end(first, second, 0, step)
            _end(second, first, 1, step)
            _mark(first, second, 0, step)
            _mark(second, first, 1, step)
            cursor[PHASE] = TURNS
        else:
            done, count = _deal(first, second, 0, step, left, right, count)
            if done:
                done, count = _deal(second, first, 1, step, right, left, count)
            if not done:
                break
            cursor[PHASE] = NEXT_INSTANT if cursor[PHASE] == ARRIVALS else cursor[PHASE] + 1
    return count

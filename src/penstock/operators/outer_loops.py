"""The loop of the outer join: rows of both sides meet, and those without a partner stand alone.

A key is covered for the rows of one side while the other side has a valid row of it. Nothing is
counted for that: the newest row of a FIFO is the last to end, and from the chains of other sides
rows are taken when they end. So it is enough to look at the head of a chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.algebra.time import INFINITY
from penstock.operators.join_loops import (
    FIFO,
    KEY,
    NOBODY,
    REFUSED,
    START,
    TE,
    Incoming,
    Kept,
    Pairs,
    detach,
    fetch_ahead,
    find_place,
    finish,
    spot,
    walk,
)
from penstock.state.compiled import compiled_borrowing

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Signs

DUE, PARTNER, PHASE, NOW, TOUCHED, TURN, ROOM = 4, 3, 6, 7, 8, 9, 10
"""In the cursor, behind the next row of each side: the next end of each, with whom the row whose
turn it is goes on, the phase of the instant, the instant, how many keys it touches, and which of
them it has dealt with (twice, for its sides); and how long a cursor is."""

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
    kept: Kept
    ends: Ints
    ending: Ints
    padded: bool


class OuterStep(NamedTuple):
    """What both sides have in common. A key's mark is 0 between two instants.

    `touched` has room for as many keys as rows come and end.
    """

    heads: Ints
    marks: Signs
    touched: Ints
    cursor: Ints
    pairs: Pairs


@compiled_borrowing
def _is_there(key: int, kept: Kept, heads: Ints, port: int, instant: int) -> bool:
    """Whether a key has a row on a side that ends after an instant."""
    head = heads[key, port]
    if head < kept.oldest:
        return False
    end: int = kept.records[spot(head, kept.base, len(kept.records)), TE]
    return end > instant


@compiled_borrowing
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


@compiled_borrowing
def _is_covered(key: int, other: OuterSide, port: int, step: OuterStep) -> bool:
    """Whether the other side, whose port it is, has a row of the key once the instant is over."""
    if step.marks[key] & (_ARRIVES << port):
        return True
    return _is_there(key, other.kept, step.heads, port, step.cursor[NOW])


@compiled_borrowing
def _take_turn(
    mine: OuterSide, other: OuterSide, port: int, shown: bool,
    step: OuterStep, places: Ints, partners: Ints, count: int,
) -> tuple[bool, int]:  # fmt: skip
    """Let a row meet its partners, and stand alone if it is to be shown; False: no more room."""
    incoming, cursor, pairs = mine.incoming, step.cursor, step.pairs
    row = cursor[port]
    at = spot(incoming.place[row], mine.kept.base, len(mine.kept.records))
    if cursor[PARTNER] == START:
        if shown:
            if count == len(places):
                return False, count
            places[count] = at
            partners[count] = NOBODY
            pairs.ts[count] = incoming.ts[row]
            pairs.te[count] = incoming.te[row]
            pairs.sign[count] = incoming.sign[row]
            count += 1
        cursor[PARTNER] = step.heads[incoming.key[row], 1 - port]
    partner, count = walk(
        cursor[PARTNER], incoming.ts[row], incoming.te[row], incoming.sign[row], at,
        other.kept, step.heads, 1 - port, places, partners, pairs, count,
    )  # fmt: skip
    cursor[PARTNER] = partner
    if partner != NOBODY:
        return False, count
    finish(incoming, row, mine.kept, step.heads, port)
    cursor[PARTNER] = START
    cursor[port] = row + 1
    return True, count


@compiled_borrowing
def _withdraw(
    mine: OuterSide, other: OuterSide, port: int,
    step: OuterStep, places: Ints, partners: Ints, count: int,
) -> tuple[bool, int]:  # fmt: skip
    """The negative rows of this instant."""
    incoming, cursor = mine.incoming, step.cursor
    while cursor[port] < len(incoming.ts):
        row = cursor[port]
        if incoming.ts[row] != cursor[NOW] or incoming.sign[row] > 0:
            break
        if not find_place(incoming, row, mine.kept):
            cursor[PARTNER] = REFUSED
            return False, count
        key = incoming.key[row]
        _touch(key, mine, other, port, step)
        shown = mine.padded and not step.marks[key] & (_BEFORE << (1 - port))
        done, count = _take_turn(mine, other, port, shown, step, places, partners, count)
        if not done:
            return False, count
    return True, count


@compiled_borrowing
def _end(mine: OuterSide, other: OuterSide, port: int, step: OuterStep) -> None:
    """Rows that end at this instant."""
    cursor, records = step.cursor, mine.kept.records
    while cursor[DUE + port] < len(mine.ends):
        due = cursor[DUE + port]
        if mine.ends[due] != cursor[NOW]:
            break
        at = mine.ending[due]
        key = records[at, KEY]
        # Where rows are withdrawn, an end may be that of a row which is gone, see `drop_ended`.
        if mine.kept.kind == FIFO:
            _touch(key, mine, other, port, step)
        elif key >= 0 and records[at, TE] == cursor[NOW]:
            _touch(key, mine, other, port, step)
            detach(records, step.heads, port, at)
        cursor[DUE + port] = due + 1


@compiled_borrowing
def _mark(mine: OuterSide, other: OuterSide, port: int, step: OuterStep) -> None:
    """Mark the keys of rows that come at this instant, if that matters to the other side."""
    if not other.padded:
        return
    incoming = mine.incoming
    row = step.cursor[port]
    while row < len(incoming.ts) and incoming.ts[row] == step.cursor[NOW]:
        key = incoming.key[row]
        _touch(key, mine, other, port, step)
        step.marks[key] |= _ARRIVES << port
        row += 1


@compiled_borrowing
def _turn(
    mine: OuterSide, other: OuterSide, port: int,
    step: OuterStep, places: Ints, partners: Ints, count: int,
) -> tuple[bool, int]:  # fmt: skip
    """Rows of a touched key that began earlier, if it becomes covered or uncovered for them."""
    cursor = step.cursor
    key = step.touched[cursor[TURN] >> 1]
    covered = mine.padded and _is_covered(key, other, 1 - port, step)
    if mine.padded and covered != (step.marks[key] & (_BEFORE << (1 - port)) != 0):
        if cursor[PARTNER] == START:
            cursor[PARTNER] = step.heads[key, port]
        partner, count = walk(
            cursor[PARTNER], cursor[NOW], INFINITY, -1 if covered else 1, NOBODY,
            mine.kept, step.heads, port, partners, places, step.pairs, count,
        )  # fmt: skip
        cursor[PARTNER] = partner
        if partner != NOBODY:
            return False, count
        cursor[PARTNER] = START
    cursor[TURN] += 1
    return True, count


@compiled_borrowing
def _arrive(
    mine: OuterSide, other: OuterSide, port: int,
    step: OuterStep, places: Ints, partners: Ints, count: int,
) -> tuple[bool, int]:  # fmt: skip
    """The rows that come at this instant."""
    incoming, cursor = mine.incoming, step.cursor
    while cursor[port] < len(incoming.ts):
        row = cursor[port]
        if incoming.ts[row] != cursor[NOW]:
            break
        fetch_ahead(incoming, row, other.kept, step.heads, 1 - port)
        shown = mine.padded and not _is_covered(incoming.key[row], other, 1 - port, step)
        done, count = _take_turn(mine, other, port, shown, step, places, partners, count)
        if not done:
            return False, count
    return True, count


@compiled_borrowing
def _first_of(side: OuterSide, port: int, cursor: Ints) -> int:
    """The next instant at which a row of a side comes, goes or ends; infinity if there is none."""
    found = INFINITY
    if cursor[port] < len(side.incoming.ts):
        found = side.incoming.ts[cursor[port]]
    if cursor[DUE + port] < len(side.ends):
        found = min(found, side.ends[cursor[DUE + port]])
    return found


@compiled_borrowing
def _begin(first: OuterSide, second: OuterSide, step: OuterStep) -> None:
    """Go to the next instant."""
    cursor = step.cursor
    for number in range(cursor[TOUCHED]):
        step.marks[step.touched[number]] = 0
    cursor[TOUCHED] = 0
    cursor[TURN] = 0
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
        elif cursor[PHASE] == WITHDRAWALS:
            done, count = _withdraw(first, second, 0, step, left, right, count)
            if done:
                done, count = _withdraw(second, first, 1, step, right, left, count)
            if not done:
                break
            cursor[PHASE] = MARKS
        elif cursor[PHASE] == MARKS:
            _end(first, second, 0, step)
            _end(second, first, 1, step)
            _mark(first, second, 0, step)
            _mark(second, first, 1, step)
            cursor[PHASE] = TURNS
        elif cursor[PHASE] == TURNS:
            done = True
            while done and cursor[TURN] < 2 * cursor[TOUCHED]:
                if cursor[TURN] & 1:
                    done, count = _turn(second, first, 1, step, right, left, count)
                else:
                    done, count = _turn(first, second, 0, step, left, right, count)
            if not done:
                break
            cursor[PHASE] = ARRIVALS
        else:
            done, count = _arrive(first, second, 0, step, left, right, count)
            if done:
                done, count = _arrive(second, first, 1, step, right, left, count)
            if not done:
                break
            cursor[PHASE] = NEXT_INSTANT
    return count

"""The loop of the anti-join: rows come and go, and keys become covered and uncovered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.algebra.time import INFINITY
from penstock.operators.join.join_loops import (
    NOBODY,
    REFUSED,
    START,
    find_place,
    finish,
    spot,
    walk,
)
from penstock.state.compiled import compiled_borrowing

if TYPE_CHECKING:
    from penstock.operators.join.join_loops import Incoming, Pairs, SideRows
    from penstock.state.arrays import Ints, Signs


class CoverageChanges(NamedTuple):
    """By how much the coverage of a key changes at an instant; by instant, then key."""

    ts: Ints
    key: Ints
    delta: Ints


@compiled_borrowing
def _show(incoming: Incoming, row: int, pairs: Pairs, count: int, at: int) -> None:
    """A row of an uncovered key goes into the result or, if it is negative, out of it."""
    pairs.first[count] = at
    pairs.ts[count] = incoming.ts[row]
    pairs.te[count] = incoming.te[row]
    pairs.sign[count] = incoming.sign[row]


@compiled_borrowing
def _same_change(changes: CoverageChanges, change: int) -> tuple[int, int]:
    """The sum of all changes of this key at this instant, and the change behind them."""
    ts, key, total = changes.ts[change], changes.key[change], 0
    while change < len(changes.ts) and changes.ts[change] == ts and changes.key[change] == key:
        total += changes.delta[change]
        change += 1
    return total, change


@compiled_borrowing
def uncovered(
    incoming: Incoming, kept: SideRows, changes: CoverageChanges, heads: Ints, cover: Signs,
    cursor: Ints, pairs: Pairs,
) -> int:  # fmt: skip
    """Rows that enter or leave the result, until the pairs are full (their second is not used).

    Within an instant: withdrawals, then coverage, then new rows. Goes on from the cursor (the
    row, the change, nothing, the next row of the changed key); returns how many rows.
    """
    i, j, partner = cursor[0], cursor[1], cursor[3]
    count = 0
    while i < len(incoming.ts) or j < len(changes.ts):
        if i < len(incoming.ts) and (
            j == len(changes.ts)
            or incoming.ts[i] < changes.ts[j]
            or (incoming.ts[i] == changes.ts[j] and incoming.sign[i] < 0)
        ):
            if not find_place(incoming, i, kept, heads, 0):
                partner = REFUSED
                break
            if cover[incoming.key[i]] == 0:
                if count == len(pairs.ts):
                    break
                _show(
                    incoming, i, pairs, count, spot(incoming.place[i], kept.base, len(kept.records))
                )
                count += 1
            finish(incoming, i, kept, heads, 0)
            i += 1
            continue
        total, behind = _same_change(changes, j)
        ts, key = changes.ts[j], changes.key[j]
        before, after = cover[key], cover[key] + total
        if (before == 0) != (after == 0):
            if partner == START:
                partner = heads[key, 0]
            sign = 1 if after == 0 else -1
            partner, count = walk(
                partner, ts, INFINITY, sign, NOBODY, kept,
                heads, 0, pairs.second, pairs.first, pairs, count,
            )  # fmt: skip
            if partner != NOBODY:
                break
        cover[key] = after
        partner = START
        j = behind
    cursor[0], cursor[1], cursor[3] = i, j, partner
    return count

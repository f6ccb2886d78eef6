"""The loop that follows elements until they are withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.operators.join.join_loops import insert, unlink
from penstock.state.compiled import compiled_borrowing

if TYPE_CHECKING:
    from penstock.operators.join.join_loops import Incoming, SideRows
    from penstock.state.arrays import Ints


@compiled_borrowing
def follow(incoming: Incoming, kept: SideRows, heads: Ints) -> bool:
    """Keep each element with its equals; give negative rows the place of one, and let that go.

    False if a negative row finds none.
    """
    for row in range(len(incoming.ts)):
        if incoming.sign[row] > 0:
            insert(incoming, row, kept, heads, 0)
            continue
        place = heads[incoming.key[row], 0]
        if place < 0:
            return False
        incoming.place[row] = place
        unlink(kept.records, heads, 0, place)
    return True

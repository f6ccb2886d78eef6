"""The conflict graph of a history, and commit order: what the checker is compared with.

In place: a read finds what was last written to its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.transactions.histories import WRITES, Act

if TYPE_CHECKING:
    from penstock.transactions.histories import TransactionHistory

Edge = tuple[str, str]


def edges(history: TransactionHistory) -> set[Edge]:
    """Who stands before whom; movements are T5, queries their names. Without transitive edges."""
    found: set[Edge] = set()
    written = list[int]()
    reads: dict[str, list[int]] = {}
    for one in history.operations:
        if one.act in WRITES:
            place = one.number % history.length
            for query, places in reads.items():
                if place in places:
                    found.add((query, f"T{one.number}"))
            written.append(one.number)
        elif one.act is Act.READ:
            place = one.number % history.length
            reads.setdefault(one.query, []).append(place)
            found |= {
                (f"T{number}", one.query) for number in written if number % history.length == place
            }
    return found


def is_acyclic(graph: set[Edge]) -> bool:
    """Whether there is an order of all; without movements that write one place twice."""
    left = set(graph)
    while left:
        last = {b for _, b in left} - {a for a, _ in left}
        if not last:
            return False
        left = {(a, b) for a, b in left if b not in last}
    return True


def keeps_commit_order(history: TransactionHistory) -> bool:
    """Whether conflicts are ordered as the commits are."""
    order: dict[str, int] = {}
    for time, one in enumerate(history.operations):
        if one.act in (Act.MOVE, Act.SETTLE):
            order[f"T{one.number}"] = time
        elif one.act is Act.COMMIT:
            order[one.query] = time
    return all(order[a] < order[b] for a, b in edges(history))

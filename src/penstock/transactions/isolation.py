"""The checker: whether the queries of a history read true states of the window, and the latest.

It looks at what a query has read when it commits, and nothing else: a graph of conflicts does not
see what a query with a window shorter than the array must not mix.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from penstock.errors import DataError
from penstock.transactions.histories import WRITES, Act

if TYPE_CHECKING:
    from penstock.transactions.histories import TransactionHistory


class Isolation(IntEnum):
    """The isolation that holds; each contains the ones before it."""

    NONE = 0
    """Some query has read what the window never was."""
    WINDOW = 1
    """Window-serializable: each has read a state that the window had until it committed."""
    LATEST = 2
    """Latest-window-serializable: each has read the state at its commit."""


@dataclass(frozen=True)
class Judgement:
    """The verdict on a query that has committed.

    Args:
        query: Its name.
        read: The sub-windows that it read and did not undo, in order.
        latest: The last movement written before its commit.
        isolation: The level that it had.
    """

    query: str
    read: tuple[int, ...]
    latest: int
    isolation: Isolation


def judgements(history: TransactionHistory) -> list[Judgement]:
    """The verdicts on all queries that committed, in the order of their commits.

    What an aborted query has read does not count. A name may come again after it has committed.

    >>> from penstock.transactions.histories import read_history
    >>> [one.isolation.name for one in judgements(read_history("r4 W5 r0 r1 r2 r3 cQ", 5))]
    ['WINDOW']

    Raises:
        DataError: A query undoes what it has not read.
    """
    latest = history.latest
    reads: dict[str, list[int]] = {}
    found = []
    for one in history.operations:
        if one.act in WRITES:
            latest = one.number
        elif one.act is Act.READ:
            reads.setdefault(one.query, []).append(one.number)
        elif one.act is Act.UNDO:
            if one.number not in reads.get(one.query, ()):
                msg = f"{one} undoes what was not read"
                raise DataError(msg, hint=f"Put r{one.number} before it.")
            reads[one.query].remove(one.number)
        elif one.act is Act.ABORT:
            reads.pop(one.query, None)
        elif one.act is Act.COMMIT:
            read = tuple(sorted(reads.pop(one.query, ())))
            verdict = judged(read, history.window(one.query), latest)
            found.append(Judgement(one.query, read, latest, verdict))
    return found


def judged(read: tuple[int, ...], window: int, latest: int) -> Isolation:
    """The verdict on a query that read these sub-windows, in order, and commits behind a movement.

    >>> judged((3, 4), window=2, latest=5).name
    'WINDOW'
    """
    if not read or read != tuple(range(read[-1] - window + 1, read[-1] + 1)):
        return Isolation.NONE
    if read[-1] > latest:
        return Isolation.NONE
    return Isolation.LATEST if read[-1] == latest else Isolation.WINDOW


def verdict_of(history: TransactionHistory) -> Isolation:
    """The isolation that holds for all queries that committed.

    >>> from penstock.transactions.histories import read_history
    >>> verdict_of(read_history("r4 r0 W5 W6 r1 r2 r3 cQ", 5, by_place=True)).name
    'NONE'
    """
    return min((one.isolation for one in judgements(history)), default=Isolation.LATEST)

"""Histories: the order in which queries read the sub-windows of a window, and movements wrote them.

A window is a circular array of sub-windows. Movement number j writes sub-window j over the oldest,
into the place j modulo the length of the array; movements 0 to length - 1 have filled it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ONLY = "Q"
"""The query of operations that name none."""

_TOKEN = re.compile(r"(?P<kind>[Wwcru])(?P<number>\d+)(?:@(?P<at>\w+))?|(?P<end>[ca])Q(?:@(\w+))?")


class Act(Enum):
    """The acts in a history, by the letter that stands for each in a text."""

    MOVE = "W"
    """A movement, written and committed at once."""
    WRITE = "w"
    """The write of a movement that commits later."""
    SETTLE = "c"
    """The commit of such a movement."""
    READ = "r"
    UNDO = "u"
    """A sub-window is read again, to take what it brought out of what was read so far."""
    COMMIT = "cQ"
    ABORT = "aQ"


MOVEMENTS = (Act.MOVE, Act.WRITE, Act.SETTLE)
WRITES = (Act.MOVE, Act.WRITE)


@dataclass(frozen=True, slots=True)
class Operation:
    """A step of a history.

    Args:
        act: The thing that is done.
        query: By whom; movements have none.
        number: The sub-window, by the movement that wrote it; commits and aborts of queries have
            none.
    """

    act: Act
    query: str = ""
    number: int = -1

    def __str__(self) -> str:
        """The letter, the number, and the query if it has a name."""
        number = "" if self.number < 0 else str(self.number)
        return f"{self.act.value}{number}" + (
            f"@{self.query}" if self.query not in ("", ONLY) else ""
        )


@dataclass(frozen=True)
class TransactionHistory:
    """Operations in the order in which they took effect.

    Args:
        length: The number of sub-windows in the array.
        operations: What was done.
        windows: For each query the number of sub-windows in its window, the youngest; one that is
            not there reads all of them.
        latest: The last movement before the first operation.
    """

    length: int
    operations: tuple[Operation, ...]
    windows: Mapping[str, int]
    latest: int

    def window(self, query: str) -> int:
        """The number of sub-windows in the window of a query."""
        return self.windows.get(query, self.length)

    def __str__(self) -> str:
        """The operations, by the numbers of sub-windows."""
        return " ".join(map(str, self.operations))


def read_history(
    text: str,
    length: int,
    windows: Mapping[str, int] | None = None,
    *,
    latest: int | None = None,
    by_place: bool = False,
) -> TransactionHistory:
    """The history that a text shows.

    `W5` is movement 5, `r4` the read of sub-window 4, `cQ` the commit of the query, `aQ` its abort,
    `u4` the undoing of a read; `@A` behind an operation names its query. A movement that commits
    later is `w5`, and `c5` its commit.

    >>> print(read_history("r4 r0 W5 r1 cQ", 5, by_place=True))
    r4 r0 W5 r1 cQ
    >>> print(read_history("r4 W5 r0 cQ@B", 5, by_place=True))
    r4 W5 r5 cQ@B

    Args:
        text: The operations.
        length: The number of sub-windows in the array.
        windows: The windows of queries that do not read all of it.
        latest: The last movement before the first operation; None: the one that filled the array.
        by_place: Whether reads say the place in the array, not the number of the sub-window.

    Raises:
        DataError: The text shows no history.
    """
    latest = length - 1 if latest is None else latest
    operations = tuple(_operations(text, length, latest, by_place))
    return TransactionHistory(length, operations, dict(windows or {}), latest)


def _operations(text: str, length: int, latest: int, by_place: bool) -> Iterator[Operation]:
    for token in text.split():
        one = _operation(token)
        if one.act in WRITES:
            if one.number != latest + 1:
                msg = f"movement {one.number} stands behind movement {latest}"
                raise DataError(msg, hint=f"The next one is {latest + 1}: write W{latest + 1}.")
            latest = one.number
        elif by_place and one.act in (Act.READ, Act.UNDO):
            if one.number >= length:
                msg = f"{token} reads a place that the array does not have"
                raise DataError(msg, hint=f"Its places are 0 to {length - 1}.")
            one = Operation(one.act, one.query, latest - (latest - one.number) % length)
        yield one


def _operation(token: str) -> Operation:
    found = _TOKEN.fullmatch(token)
    if found is None:
        msg = f'"{token}" is no operation of a history'
        hint = "Operations are W5, r4, u4, cQ and aQ; r4@A is one of query A."
        raise DataError(msg, hint=hint)
    if found["end"]:
        return Operation(Act(found["end"] + "Q"), found[5] or ONLY)
    kind = Act(found["kind"])
    by = "" if kind in MOVEMENTS else found["at"] or ONLY
    return Operation(kind, by, int(found["number"]))

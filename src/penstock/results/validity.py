"""Rows with the intervals in which they hold, made from the net changes of a content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block, concatenated
from penstock.results.value_order import by_validity
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from penstock.state.arrays import Ints


class Validities:
    """Matches rows that leave with rows that entered; of several copies the oldest leaves first.

    Intervals come out by start, end and row. So one waits until every row that entered before it
    has left: with a row that stays for ever, all later ones wait for the end.

    Args:
        at_once: So many changes are matched at once, or as many as there are open rows: each is
            then looked at a few times, however long it stays.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._changes: list[Block] = []
        self._rows = 0
        self._open: Block | None = None
        self._closed: list[Block] = []
        self._waiting = 0
        self._left = 0
        self._reached = BEGINNING

    def add(self, changes: Block) -> Block | None:
        """Net changes, in time order; the rows whose turn it is then."""
        self._changes.append(changes)
        self._rows += len(changes)
        if self._rows < max(self._at_once, 0 if self._open is None else len(self._open)):
            return None
        self._match()
        if self._waiting < 2 * self._left:
            return None
        return self._released()

    def flush(self) -> Block | None:
        """The rows whose turn it is now, for who cannot wait until there are more."""
        self._match()
        return self._released()

    def end(self) -> Block | None:
        """No change will come any more: all that is left, also rows that never leave."""
        self._match()
        if self._open is not None:
            self._closed.append(self._open)
        return by_validity(concatenated(self._closed)) if self._closed else None

    def _match(self) -> None:
        """Let the changes that wait begin and end intervals."""
        if not self._changes:
            return
        changes = concatenated(self._changes)
        self._changes, self._rows = [], 0
        entered = changes.take(changes.signs > 0)
        entered = Block(entered.columns, entered.ts, np.full(len(entered), INFINITY, np.int64))
        left = changes.take(changes.signs < 0)
        opened = entered if self._open is None else concatenated([self._open, entered])
        begins, ends = _matched(opened, left)
        if len(begins):
            ended = opened.take(begins)
            self._closed.append(Block(ended.columns, ended.ts, left.ts[ends]))
            self._waiting += len(begins)
        stays = np.ones(len(opened), np.bool_)
        stays[begins] = False
        self._open = opened.take(stays) if stays.any() else None
        self._reached = int(changes.ts[-1])

    def _released(self) -> Block | None:
        """The rows that began before all that are still there, or may still come."""
        if not self._closed:
            return None
        closed = concatenated(self._closed)
        first = self._reached if self._open is None else int(self._open.ts.min())
        due = closed.ts < min(first, self._reached)
        rest = closed.take(~due)
        self._closed = [rest] if len(rest) else []
        self._waiting = self._left = len(rest)
        return by_validity(closed.take(due)) if due.any() else None


def _matched(opened: Block, left: Block) -> tuple[Ints, Ints]:
    """Places of rows that leave, among those that are there, and where it is said that they do.

    Both are in time order: the first to enter of equal rows is the first to leave.
    """
    both = concatenated([opened, left])
    slots, different = KeyIndex().find_or_add(fingerprints(both.columns, len(both)))
    inside, outside = slots[: len(opened)], slots[len(opened) :]
    leaving = np.bincount(outside, minlength=len(different))
    order = order_of(inside)
    starts = np.cumsum(np.bincount(inside, minlength=len(different)))
    # The place of each row among those alike: behind so many that came before.
    place = np.arange(len(order)) - np.append(0, starts)[inside[order]]
    return order[place < leaving[inside[order]]], order_of(outside)

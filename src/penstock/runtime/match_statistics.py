"""Statistics of matches: rows that come through the inputs of an operator, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.runtime.operator_report import MatchReport, ValidityReport

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from penstock.operators.block import Block
    from penstock.planner.physical.graph import MatchCondition
    from penstock.state.arrays import Ints, Signs


class ValidityMeter:
    """Counts rows, and adds up for how long they are valid."""

    def __init__(self) -> None:
        self._rows = self._ending = self._endless = self._always = 0
        self._lasting = self._since = 0.0
        self._first = INFINITY
        self._latest = BEGINNING

    def take_in(self, block: Block) -> None:
        """Rows that have come."""
        if not len(block):
            return
        self._rows += len(block)
        ts, te, sign = block.ts, block.te, block.sign
        if ts.min() == BEGINNING or te.max() == INFINITY:
            sign = block.signs
            self._never_ending(ts, te, sign)
            ends = np.flatnonzero((ts > BEGINNING) & (te < INFINITY))
            ts, te, sign = ts[ends], te[ends], sign[ends]
        lengths = te - ts
        self._ending += len(ts) if sign is None else int(np.count_nonzero(sign > 0))
        self._lasting += float((lengths if sign is None else lengths * sign).sum(dtype=np.float64))
        self._between(ts)

    def _never_ending(self, ts: Ints, te: Ints, sign: Signs) -> None:
        """Rows that have no end; some have no beginning, either."""
        endless = te == INFINITY
        self._always += int(sign[endless & (ts == BEGINNING)].sum(dtype=np.int64))
        began = endless & (ts > BEGINNING)
        self._endless += int(sign[began].sum(dtype=np.int64))
        self._since += float((ts[began] * sign[began].astype(np.float64)).sum())
        self._between(ts[began])

    def _between(self, ts: Ints) -> None:
        if len(ts):
            self._first = min(self._first, int(ts.min()))
            self._latest = max(self._latest, int(ts.max()))

    def report(self, *, is_whole: bool = False) -> ValidityReport:
        """The rows that have come so far."""
        return ValidityReport(
            self._rows,
            self._ending,
            self._lasting,
            self._endless,
            self._since,
            self._always,
            self._first,
            self._latest,
            is_whole,
        )


class MatchMeter:
    """The rows that come through the inputs of an operator and may meet, and those it sends."""

    def __init__(self, meeting: MatchCondition) -> None:
        self._meeting = meeting
        self._came = [ValidityMeter() for _ in range(2 if meeting.of_pairs else 1)]
        self._sent = ValidityMeter()

    def take_in(self, port: int, block: Block) -> None:
        """Rows of an input that are looked at now."""
        if port < len(self._came):
            self._came[port].take_in(block)

    def send(self, blocks: Sequence[Block]) -> None:
        """Rows that are sent."""
        if not self._meeting.of_pairs:
            for block in blocks:
                self._sent.take_in(block)

    def report(self, met: int, whole: Collection[int]) -> MatchReport:
        """The rows that have come, and the pairs or rows that they led to.

        All lanes get the same rows through the inputs in `whole`.
        """
        came = (one.report(is_whole=port in whole) for port, one in enumerate(self._came))
        sent = None if self._meeting.of_pairs else self._sent.report()
        return MatchReport(self._meeting.condition, tuple(came), met, sent)

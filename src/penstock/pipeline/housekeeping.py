"""Housekeeping: old results are folded, and files that nobody needs any more are removed.

All of it goes on beside the micro-batches. Only the commit that says that results have been folded
takes the pipeline's lock, for a moment.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.pipeline.result_folding import fold, said_by
from penstock.pipeline.scarce_space import ScarceSpace
from penstock.pipeline.sealing import is_due, seal
from penstock.pipeline.sweeping import sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.pipeline.bound import BoundPlan
    from penstock.pipeline.ledger import Ledger
    from penstock.pipeline.result_folding import Said
    from penstock.pipeline.sweeping import Retention
    from penstock.store.records import Record

SWEEPING_SECONDS = 30.0
"""Old files are looked for about so often."""
FOLDING_SECONDS = 1.0
"""Results are folded, if that is due, at most so often."""


class Housekeeping:
    """Keeps the home of a pipeline small.

    Args:
        ledger: The newest record; it changes under the lock only.
        lock: The pipeline's.
        report: Told, in a sentence, what went wrong in the background.
    """

    def __init__(
        self, ledger: Ledger, lock: threading.RLock, report: Callable[[str], None]
    ) -> None:
        self._ledger = ledger
        self._home = ledger.home
        self._lock = lock
        self._report = report
        self._space = ScarceSpace(ledger.home, report)
        self._thread: threading.Thread | None = None
        # Of the records that have not been folded, so that they need not be read again.
        self._said: dict[int, Said] = {}
        self._swept = self._looked = time.monotonic()

    def note(self, record: Record) -> None:
        """Remember a record that was just committed."""
        self._said[record.number] = self._read(record)

    def is_pressing(self, retention: Retention) -> bool:
        """Much has come since results were folded, or rows sealed, or space is scarce."""
        record = self._ledger.record
        is_due = self._is_content_due(record, retention) or self._is_sealing_due(record, retention)
        return is_due or self._space.is_low(retention)

    def begin_if_due(self, retention: Retention, may_commit: Callable[[], bool]) -> None:
        """Clean in the background if it is time; called under the lock."""
        now = time.monotonic()
        if now - self._looked < FOLDING_SECONDS:
            return
        self._looked = now
        sweeping = now - self._swept > SWEEPING_SECONDS
        if sweeping or self.is_pressing(retention):
            self._swept = now if sweeping else self._swept
            self.begin(retention, may_commit, sweeping=sweeping)

    def begin(
        self, retention: Retention, may_commit: Callable[[], bool], *, sweeping: bool = True
    ) -> None:
        """Clean in the background, unless that is going on; called under the lock.

        Args:
            retention: What is kept.
            may_commit: Asked under the lock, later: whether the pipeline still is what it was.
            sweeping: Whether files are looked for that nobody needs; else results are folded only.
        """
        if self._thread is not None and self._thread.is_alive():
            return
        record, plan = self._ledger.record, self._ledger.plan
        self._thread = threading.Thread(
            target=self._clean_quietly,
            args=(record, plan, retention, may_commit, sweeping),
            name="penstock housekeeping",
            daemon=True,
        )
        self._thread.start()

    def wait(self) -> None:
        """Wait until nothing is cleaned in the background; not under the lock."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def clean(self, retention: Retention) -> None:
        """Fold old results if there are many, and remove what nobody needs any more."""
        with self._lock:
            record, plan = self._ledger.record, self._ledger.plan
        self._clean(record, plan, retention, lambda: True, True)

    def _clean_quietly(
        self,
        record: Record,
        plan: BoundPlan,
        retention: Retention,
        may_commit: Callable[[], bool],
        sweeping: bool,
    ) -> None:
        try:
            self._clean(record, plan, retention, may_commit, sweeping)
        except Exception as fault:  # Rows come in as before; the next time may go well.
            # The home may be gone with the connection.
            if self._home.path.exists():
                self._report(f"old files of {self._home.path} could not be removed: {fault}")

    def _clean(
        self,
        record: Record,
        plan: BoundPlan,
        retention: Retention,
        may_commit: Callable[[], bool],
        sweeping: bool,
    ) -> None:
        try:
            self._fold(record, plan, retention, may_commit)
            if self._is_sealing_due(self._ledger.record, retention):
                self._seal(may_commit)
        finally:
            # If there was no space for it, that is what makes some.
            is_low = self._space.is_low(retention)
            if sweeping or is_low:
                sweep(self._home, self._ledger.record, retention)
            if is_low:
                self._make_space(retention, may_commit)

    def _fold(
        self,
        record: Record,
        plan: BoundPlan,
        retention: Retention,
        may_commit: Callable[[], bool],
    ) -> None:
        """Fold old results if they are many."""
        # A record behind that of the end of the input would take its results back.
        if record.kind == "flush" or not self._is_content_due(record, retention):
            return
        content = fold(self._home, record, plan, self._since_folded(record))
        with self._lock:
            newest = self._ledger.record
            # Behind another plan, queries of the same names may be others.
            if newest.plan == record.plan and newest.kind != "flush" and may_commit():
                self._ledger.commit_content(content)
        self._forget()

    def _make_space(self, retention: Retention, may_commit: Callable[[], bool]) -> None:
        """Warn, or give up the oldest retained rows, and remove their files."""
        with self._lock:
            if self._ledger.record.kind == "flush" or not may_commit():
                return
            record, plan = self._ledger.record, self._ledger.plan
            left = self._space.given_up(record, plan, retention)
            if left is not None:
                self._ledger.commit_sealed(left)
        if left is not None:
            sweep(self._home, self._ledger.record, retention)

    def _is_sealing_due(self, record: Record, retention: Retention) -> bool:
        return record.kind != "flush" and is_due(record, retention.seal_bytes)

    def _seal(self, may_commit: Callable[[], bool]) -> None:
        """Put the rows of logs into sub-windows."""
        with self._lock:
            record, plan = self._ledger.record, self._ledger.plan
        sealed = seal(self._home, record, plan)
        with self._lock:
            newest = self._ledger.record
            # Another plan may keep rows of other streams.
            if newest.plan == record.plan and newest.kind != "flush" and may_commit():
                self._ledger.commit_sealed(sealed)

    def _is_content_due(self, record: Record, retention: Retention) -> bool:
        if _unfolded(record) >= _most_unfolded(record, retention):
            return True
        size = sum(one.bytes for one in self._since_folded(record))
        return size > max(retention.fold_bytes, 2 * _folded_bytes(record))

    def _since_folded(self, record: Record) -> Iterator[Said]:
        """The results of records that have not been folded, oldest first."""
        for number in range(record.folded_up_to + 1, record.number + 1):
            if number not in self._said:
                self._said[number] = self._read(self._home.chain.read(number))
            yield self._said[number]

    def _read(self, record: Record) -> Said:
        said = said_by(record)
        sizes = (os.stat(self._home.segments / name).st_size for name in said.results)
        return replace(said, bytes=sum(sizes))

    def _forget(self) -> None:
        """Of folded records nothing needs to be remembered."""
        done = self._ledger.record.folded_up_to
        for number in [one for one in list(self._said) if one <= done]:
            del self._said[number]


def _folded_bytes(record: Record) -> int:
    return record.content.bytes if record.content else 0


def _unfolded(record: Record) -> int:
    return record.number - record.folded_up_to


def _most_unfolded(record: Record, retention: Retention) -> int:
    """The number of records that may wait: the more, the more is written again in folding them.

    But never so many that those that are kept become twice as many.
    """
    times = 1 + _folded_bytes(record) // max(retention.fold_bytes, 1)
    return min(times * retention.fold_records, max(retention.records, retention.fold_records))

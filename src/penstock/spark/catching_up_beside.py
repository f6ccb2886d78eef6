"""New groups catch up in the background while micro-batches run, and join between two of these."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.lane_host.lane_client import LaneHostFailed, ask
from penstock.lane_host.work import Done
from penstock.pipeline.catching_up import CatchingUp

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.lane_host.work import Work
    from penstock.spark.pipeline import Pipeline

STANDS_BACK = 10
"""By so much the process with the lanes of new groups stands back behind others."""
TRIES = 3
"""So often a group begins to catch up before it is given up."""


class CatchingUpBeside:
    """Lets the groups of a pipeline catch up that are to, in a thread and a process of their own.

    Args:
        pipeline: What runs.
        join: Lets groups join that have come near, while no micro-batch runs.
        leave: Lets new plans of queries that run be gone, if they could not catch up.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        join: Callable[[CatchingUp], None],
        leave: Callable[[list[int]], None],
    ) -> None:
        self._pipeline = pipeline
        self._join = join
        self._leave = leave
        self._thread: threading.Thread | None = None
        self._news = threading.Condition()
        self._is_closed = False
        self._failures: dict[int, PenstockError] = {}

    @property
    def waiting(self) -> list[int]:
        """The numbers of the groups that catch up, and have not failed to."""
        groups = self._pipeline.ledger.plan.catching_up
        return [one.number for one in groups if one.number not in self._failures]

    def begin(self) -> None:
        """Let what is to catch up do so, unless it does."""
        with self._news:
            if self._is_closed or self._thread is not None or not self.waiting:
                return
            self._thread = threading.Thread(
                target=self._work, name="penstock catching up", daemon=True
            )
            self._thread.start()

    def wait(self) -> None:
        """Wait until no group catches up any more; whoever calls holds no lock."""
        self.begin()
        with self._news:
            self._news.wait_for(lambda: self._is_closed or not self.waiting)

    def failure_of(self, group: int) -> PenstockError | None:
        """Why a group could not catch up, if it could not."""
        return self._failures.get(group)

    def close(self) -> None:
        """Go on no more, after what is being done now; whoever calls holds no lock."""
        with self._news:
            self._is_closed = True
            self._news.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _work(self) -> None:
        tries = 0
        while waiting := self._next():
            try:
                self._catch_up()
                tries = 0
            except Exception as fault:  # Whoever waits for the groups has to know.
                tries += 1
                may_pass = not isinstance(fault, PenstockError) or isinstance(fault, LaneHostFailed)
                if may_pass and tries < TRIES:
                    time.sleep(0.5 * tries)
                    continue
                self._give_up(waiting, fault)
            with self._news:
                self._news.notify_all()

    def _next(self) -> list[int]:
        """The groups that are to catch up; none, if this is over."""
        with self._news:
            found = [] if self._is_closed else self.waiting
            if not found:
                # Here, so that whoever begins later knows that nobody is at work.
                self._thread = None
            return found

    def _catch_up(self) -> None:
        pipeline = self._pipeline
        catching = CatchingUp(pipeline.ledger, pipeline.lock, self._ask)
        try:
            while not self._is_closed and catching.step():
                pass
            if not self._is_closed:
                self._join(catching)
        finally:
            catching.close()

    def _give_up(self, groups: list[int], fault: Exception) -> None:
        known = fault if isinstance(fault, PenstockError) else PenstockError(str(fault))
        self._failures |= dict.fromkeys(groups, known)
        self._pipeline.note_error(f"a new query could not catch up: {known.message}")
        self._leave(groups)

    def _ask(self, work: Work) -> Done:
        """Let lanes work in a process that stands back behind those of micro-batches."""
        application = f"{self._pipeline.spark.sparkContext.applicationId} beside"
        return Done.from_json(ask(application, work, os.getpid(), STANDS_BACK))

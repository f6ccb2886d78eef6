"""Running a pipeline while others call: changes of its plan, news for those who wait, failures."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Stream
from penstock.algebra.time import INFINITY
from penstock.errors import PenstockError, PipelineFailed
from penstock.pipeline.catching_up import with_catching_up
from penstock.spark.catching_up_beside import CatchingUpBeside
from penstock.spark.causes import cause_of
from penstock.spark.changed_plans import change_lanes, replace_groups, switch_query
from penstock.spark.spark_session import java_end

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.catalog.definitions import RelationDefinition, StreamDefinition
    from penstock.pipeline.bound import BoundPlan
    from penstock.pipeline.catching_up import CatchingUp
    from penstock.pipeline.plans import PipelinePlan, QueryGroup
    from penstock.spark.pipeline import Pipeline
    from penstock.store.records import Record

LOOK_SECONDS = 0.2
"""So often it is seen, without rows, whether relations are to be read again, or streams wait."""
BEHIND_SECONDS = 0.005
"""So soon lanes that are behind go on, if no rows come."""
FAILED_SECONDS = 10.0
"""After a failure, that is left alone for so long."""
QUIET_SECONDS = 0.25
"""If nothing was committed for so long, nothing comes soon: lanes are told the watermarks."""


class PipelineRunner:
    """A pipeline that runs in the background, for threads that change it or wait for it.

    `is_over` says that no record will follow, `is_closed` that those that are there may be gone.

    `changing` is held by who changes what runs. Who needs both takes it before the pipeline's
    own lock.

    `beside` lets new queries catch up; who is in `joined` is called when some have joined.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.changing = threading.RLock()
        self.is_over = False
        self.is_closed = False
        self._news = threading.Condition()
        self._over = threading.Event()
        self._starts = 0
        self._failure: PipelineFailed | None = None
        self._told_at = -1
        self.joined: list[Callable[[], None]] = []
        self.beside = CatchingUpBeside(pipeline, self.join, self._leave)
        pipeline.listeners.append(self._tell)
        self._looking = threading.Thread(target=self._look, name="penstock looking", daemon=True)

    @property
    def record(self) -> Record:
        """The newest record."""
        return self.pipeline.ledger.record

    def start(self) -> None:
        """Let micro-batches run, if a query reads streams.

        Raises:
            PipelineFailed: A stream or a relation cannot be read as it is declared.
        """
        try:
            with self.pipeline.lock:
                self.pipeline.reloading.refresh()
            self.pipeline.start()
        except PipelineFailed:
            raise
        except PenstockError as fault:
            raise PipelineFailed(fault.message, hint=fault.hint) from None
        except Exception as fault:
            ended = java_end(fault)
            if ended is not None:
                hint = "What was committed is kept: connect again, from another process."
                raise PipelineFailed(ended, hint=hint) from None
            hint = "See how the streams are declared: USING, and the OPTIONS."
            raise PipelineFailed(_first_sentence(fault), hint=hint) from None
        self._starts += 1
        self._failure = None
        self.beside.begin()

    def open(self) -> None:
        """Let micro-batches run; if they cannot, who waits for them is told."""
        try:
            self.start()
        except PipelineFailed as failure:
            self._failure = failure
        if self._looking.ident is None:
            self._looking.start()

    def resume(self) -> None:
        """Let micro-batches run again after a failure.

        Raises:
            PipelineFailed: A stream cannot be read as it is declared.
        """
        with self.changing:
            self.pipeline.stop()
            self.start()

    def apply(self, plan: PipelinePlan) -> None:
        """Run another plan: what stays goes on, what is new begins.

        Raises:
            PipelineFailed: A stream cannot be read as it is declared; the plan is as before.
        """
        before = self.pipeline.ledger.plan.plan
        if plan == before:
            return
        plan = with_catching_up(self.pipeline.ledger, plan)
        if _fed(plan) == _fed(before):
            with self.pipeline.lock:
                read = [one.name for one in self.pipeline.ledger.plan.streams]
                self.pipeline.ledger.change_plan(plan)
                is_same = read == [one.name for one in self.pipeline.ledger.plan.streams]
            if is_same:
                self.beside.begin()
                return
        self.pipeline.stop()
        with self.pipeline.lock:
            self.pipeline.ledger.change_plan(plan)
        try:
            self.start()
        except PenstockError:
            with self.pipeline.lock:
                self.pipeline.ledger.change_plan(before)
            self.open()
            raise
        self.tell_timeless()
        self._tell(self.record)

    def reads(self, source: StreamDefinition | RelationDefinition) -> bool:
        """A query that runs reads a source."""
        groups = self.pipeline.ledger.plan.groups.values()
        return any(source.name in (*one.streams, *one.relations) for one in groups)

    def change_lanes(self, lanes: int) -> None:
        """Let queries go on with so many lanes; called before any micro-batch runs."""
        self._do(partial(change_lanes, self.pipeline, lanes))

    def replace_groups(self) -> bool:
        """Let new plans take over that have run beside old ones for long enough; whether any did.

        Whoever calls holds `changing`.
        """
        replaced: list[bool] = []
        self.pipeline.stop()
        try:
            self._do(lambda: replaced.append(replace_groups(self.pipeline)))
        finally:
            self.open()
        self._tell(self.record)
        return any(replaced)

    def switch(self, plan: PipelinePlan, query: str, made: str) -> bool:
        """Let a query go on as another one does, in a plan; whether it has come as far.

        Whoever calls holds `changing`.
        """
        switched: list[bool] = []
        self.pipeline.stop()
        try:
            self._do(lambda: switched.append(switch_query(self.pipeline, plan, query, made)))
        finally:
            self.open()
        self._tell(self.record)
        return any(switched)

    def join(self, catching: CatchingUp) -> None:
        """Let groups join that have caught up, between two micro-batches."""
        with self.changing:
            if self.is_over:
                return
            self.pipeline.stop()
            try:
                with self.pipeline.lock:
                    catching.join()
                    self.pipeline.tell()
            finally:
                self.open()
            for listener in self.joined:
                listener()
        self.tell_timeless()
        self._tell(self.record)

    def _leave(self, failed: list[int]) -> None:
        """Let the plans go that could not catch up and were to replace others."""
        with self.changing:
            plan = self.pipeline.ledger.plan.plan
            left = tuple(
                one for one in plan.groups if one.replaces is None or one.number not in failed
            )
            if not self.is_over and left != plan.groups:
                self.apply(replace(plan, groups=left, session=self.pipeline.ledger.plan.session))
                for listener in self.joined:
                    listener()

    def tell_watermarks(self) -> None:
        """Let all lanes know the watermarks, which each knows of its own rows only.

        Without this the clock of a query lags until the next micro-batch, whenever that is.
        """
        with self.pipeline.lock:
            plan = self.pipeline.ledger.plan
            if self.record.number == self._told_at or not _lags(plan, self.record):
                return
            self._do(self.pipeline.tick)
            self._told_at = self.record.number

    def advance(self, stream: str, instant: int) -> None:
        """Let no row of a stream before an instant come any more, and all lanes know of it."""
        with self.pipeline.lock:
            if self.pipeline.ledger.advance(stream, instant) and self.pipeline.ledger.plan.groups:
                self._do(self.pipeline.tick)

    def tell_timeless(self) -> None:
        """Let queries that read no stream take in how relations have changed.

        Nothing else does: there is no micro-batch for them.
        """
        with self.pipeline.lock:
            groups = self.pipeline.ledger.plan.groups
            waiting = [groups[int(number)] for number in self.record.pending]
            if any(not one.streams for one in waiting):
                self._do(self.pipeline.tick)

    def drain(self) -> None:
        """Wait until all rows that are there have been taken in.

        Raises:
            PipelineFailed: The pipeline has stopped because of an error.
        """
        self.beside.wait()
        seen = None
        while seen != (starts := self._starts_so_far()):
            seen = starts
            self.check()
            self._do(self.pipeline.drain)
            while self.pipeline.ledger.is_behind:
                self._do(self.pipeline.tick)
        self.check()

    def _starts_so_far(self) -> int:
        """The number of starts of micro-batches; asked while nobody has stopped them."""
        with self.changing:
            return self._starts

    def end(self) -> None:
        """The input has come to its end: take in all rows, stop, and say all that is left."""
        self.drain()
        with self.changing:
            self.pipeline.stop()
            self._do(self.pipeline.flush)
            # Not before: who goes along takes it for the end of all records.
            self.is_over = True
            self._over.set()
        self._tell(self.record)

    def close(self) -> None:
        """Run no more; who waits, waits no longer."""
        self.is_closed = self.is_over = True
        self._over.set()
        self.beside.close()
        with self.changing:
            self.pipeline.stop()
        self._tell(self.record)

    def _look(self) -> None:
        """See now and then whether anything happened apart from rows, until this is over."""
        rest = LOOK_SECONDS
        while not self._over.wait(rest):
            rest = LOOK_SECONDS
            # Who changes what runs, looks by itself.
            if self._failure or self.pipeline.failure or not self.changing.acquire(blocking=False):
                continue
            try:
                if not self.is_over:
                    self.pipeline.look()
                    rest = BEHIND_SECONDS if self.pipeline.ledger.is_behind else LOOK_SECONDS
            except Exception as fault:  # Rows come in as before; the next time may go well.
                self.pipeline.note_error(cause_of(fault).text)
                rest = FAILED_SECONDS
            finally:
                self.changing.release()

    @property
    def failure(self) -> str | None:
        """Why the pipeline cannot go on, if it has stopped because of an error."""
        failure = self._failure or self.pipeline.failure
        if failure is None or self.is_over:
            return None
        return f"the pipeline has stopped: {failure.message}"

    def check(self) -> None:
        """See whether the pipeline can go on.

        Raises:
            PipelineFailed: It has stopped because of an error.
        """
        if self.failure is not None:
            hint = "What was committed is kept. Mend the cause and call resume()."
            raise PipelineFailed(self.failure, hint=hint)

    def wait_for_news(self, after: int, timeout: float | None) -> bool:
        """Wait for a record after one; False if the time is over.

        Raises:
            PipelineFailed: The pipeline has stopped because of an error.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self.is_over and self.record.number <= after:
            left = QUIET_SECONDS if deadline is None else deadline - time.monotonic()
            if left <= 0:
                return False
            with self._news:
                came = self._news.wait_for(
                    lambda: self.is_over or self.record.number > after, min(left, QUIET_SECONDS)
                )
            if not came:
                self.check()
                self.tell_watermarks()
        return True

    def _tell(self, record: Record) -> None:
        del record
        with self._news:
            self._news.notify_all()

    def _do(self, action: Callable[[], None]) -> None:
        """Let Spark work; what goes wrong is told in one sentence."""
        try:
            action()
        except PipelineFailed:
            pass
        except PenstockError:
            raise
        except Exception as fault:
            raise PipelineFailed(cause_of(fault).text) from None
        self.check()


def _fed(plan: PipelinePlan) -> list[QueryGroup]:
    """The groups that micro-batches feed."""
    return [one for one in plan.groups if not one.catches_up]


def _first_sentence(fault: Exception) -> str:
    """The complaint of Spark about a source it cannot read, without its codes."""
    text = (str(fault).strip() or type(fault).__name__).splitlines()[0]
    if text.startswith("An error occurred while calling"):
        text = cause_of(fault).text
    return re.sub(r"^\[[A-Z_.]+\] | ?SQLSTATE: \w+$", "", text).rstrip(". ")


def _lags(plan: BoundPlan, record: Record) -> bool:
    """The clock of a query is behind the watermarks of its streams."""
    for group in plan.groups.values():
        for query, logical in group.plans.items():
            streams = {one.name for one in different_nodes(logical) if isinstance(one, Stream)}
            marks = [record.streams[name].watermark for name in streams if name in record.streams]
            if query in record.clocks and record.clocks[query] < min(marks, default=-INFINITY):
                return True
    return False

"""One run: a window that moves at its times, periodic queries in turns, and one-time ones."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from penstock.store.sub_windows.ring import SubWindowRing
from penstock.transactions.histories import Act
from penstock.transactions.merging import Merging
from penstock.transactions.read_transactions import Priority
from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock.transactions.window_reads import WindowReads
from penstock_bench.transactions.packet_windows import asked_query, periodic_queries, sub_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.planner.merged_queries import MergedQuery
    from penstock.store.sub_windows.sub_window import SubWindow
    from penstock.transactions.histories import Operation
    from penstock.transactions.instant_plan import Columns
    from penstock.transactions.window_reads import WindowRead
    from penstock_bench.report import Figures

SEED = 7


@dataclass(frozen=True)
class WindowTraffic:
    """The circumstances of a run.

    Args:
        length: The number of sub-windows.
        every: Seconds between two movements.
        rate: Rows that come in a second.
        asked_every: Seconds between two one-time queries, on average; 0: there are none.
        seconds: How long it runs.
    """

    length: int
    every: float
    rate: int
    asked_every: float
    seconds: float

    @property
    def rows(self) -> int:
        """Rows of a sub-window, on average."""
        return int(self.rate * self.every)


class TimedMerging(Merging):
    """A merged query that tells how long it works.

    Attributes:
        spent: Seconds by kind of work, of all that share it.
    """

    spent: dict[str, float]

    def part(self, sub_window: SubWindow) -> Columns:
        """The partial form of a sub-window."""
        began = time.perf_counter()
        made = super().part(sub_window)
        self.spent["read"] += time.perf_counter() - began
        return made

    def whole(self, parts: Sequence[Columns]) -> pa.Table:
        """The answer, made of partial forms."""
        began = time.perf_counter()
        made = super().whole(parts)
        self.spent["merge"] += time.perf_counter() - began
        return made


@dataclass
class TrafficRun:
    """A run under a scheduler, and what was seen in it."""

    traffic: WindowTraffic
    scheduler: str
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    acts: Counter[Act] = field(default_factory=Counter)
    staleness: dict[Priority, list[float]] = field(default_factory=lambda: defaultdict(list))
    response: list[float] = field(default_factory=list)
    between: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Fill the ring."""
        random = np.random.default_rng(SEED)
        self._random = np.random.default_rng(SEED + 1)
        self._coming = sub_windows(self.traffic.rows, random)
        ring = SubWindowRing(1, self.traffic.length)
        for _ in range(self.traffic.length):
            ring.move(next(self._coming))
        made = TRANSACTION_SCHEDULERS[self.scheduler](
            self.traffic.length, ring.latest, self._recorded
        )
        self.reads = WindowReads(ring, made)
        groups = periodic_queries(self.traffic.length, random)
        self._groups = cycle([{name: self._timed(q) for name, q in one.items()} for one in groups])
        self._asked = [self._timed(asked_query(self.traffic.length, random)) for _ in range(10)]
        self._last: dict[str, float] = {}
        self._scans = 0
        self._stop = threading.Event()

    def run(self) -> Figures:
        """Let it run for its time; the figures."""
        self._began = time.perf_counter()
        self._first_due = self._began + self.traffic.every
        threads = [threading.Thread(target=self._move), threading.Thread(target=self._work)]
        if self.traffic.asked_every:
            threads.append(threading.Thread(target=self._ask))
        self._submit_next()
        for one in threads:
            one.start()
        time.sleep(self.traffic.seconds)
        self._stop.set()
        for one in threads:
            one.join()
        return self._figures(time.perf_counter() - self._began)

    def _timed(self, query: MergedQuery) -> TimedMerging:
        made = TimedMerging(query)
        made.spent = self.spent
        return made

    def _recorded(self, one: Operation) -> None:
        self.acts[one.act] += 1

    def _due(self, number: int) -> float:
        """The time at which a movement is due; the first ones were due long ago."""
        return self._first_due + (number - self.traffic.length) * self.traffic.every

    def _move(self) -> None:
        number = self.traffic.length
        while not self._stop.wait(max(self._due(number) - time.perf_counter(), 0.0)):
            self.reads.move(next(self._coming))
            number += 1

    def _work(self) -> None:
        began = time.thread_time()
        while not self._stop.is_set():
            if not self.reads.work():
                self.reads.wait(self._stop.is_set)
        self._worked = time.thread_time() - began

    def _ask(self) -> None:
        while not self._stop.wait(self._random.exponential(self.traffic.asked_every)):
            merging = self._asked[int(self._random.integers(len(self._asked)))]
            done = partial(self._answered, began=time.perf_counter())
            self.reads.submit({"asked": merging}, Priority.ONE_TIME, done)

    def _submit_next(self, read: WindowRead | None = None) -> None:
        if read is not None:
            self._scans += 1
            self._answered(read)
        self.reads.submit(next(self._groups), Priority.PERIODIC, self._submit_next)

    def _answered(self, read: WindowRead, began: float | None = None) -> None:
        now = time.perf_counter()
        for name, answer in read.answers.items():
            self.staleness[read.priority].append(now - self._due(answer.number))
            if began is not None:
                self.response.append(now - began)
            elif name in self._last:
                self.between.append(now - self._last[name])
            if began is None:
                self._last[name] = now

    def _figures(self, seconds: float) -> Figures:
        aborted, committed = self.acts[Act.ABORT], self.acts[Act.COMMIT]
        found: Figures = {
            "aborted": round(aborted / max(aborted + committed, 1), 3),
            "staleness": _mean(self.staleness[Priority.PERIODIC]),
            "between": _mean(self.between),
            "throughput": round(committed / seconds, 2),
            "per_cpu": round(committed / self._worked, 2),
            "cpu": round(self._worked / seconds, 3),
            "movements": self.acts[Act.MOVE],
            "per_scan": round(self.acts[Act.MOVE] / max(self._scans, 1), 2),
            "reading": round(self.spent["read"] / seconds, 3),
            "merging": round(self.spent["merge"] / seconds, 3),
        }
        if self.traffic.asked_every:
            found["response"] = _mean(self.response)
            found["asked_staleness"] = _mean(self.staleness[Priority.ONE_TIME])
        return found


def _mean(values: list[float]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None

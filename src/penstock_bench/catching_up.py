"""The time that new queries take to catch up with retained rows, and what others notice of it."""

from __future__ import annotations

import os
import statistics
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.catalog.definitions import QueryDefinition
from penstock.lane_host.lane_client import ask
from penstock.lane_host.lane_host import LaneHost
from penstock.lane_host.work import Done
from penstock.operators.block import arriving
from penstock.operators.saved_tables import arrays_of
from penstock.pipeline.bound import understood
from penstock.pipeline.catching_up import CatchingUp, with_catching_up
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.query_groups import groups_for
from penstock.runtime.lane import Lane
from penstock.store.layout import Home
from penstock_fuzz.driving import LaneHostDriver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from penstock.lane_host.work import Work
    from penstock.pipeline.plans import PipelinePlan

QUERIES = {
    "filtered": "SELECT ts, k FROM s [RANGE 1 MINUTE] WHERE g < 10",
    "grouped": "SELECT g, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 1 MINUTE] GROUP BY g",
    "hour": "SELECT g, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 1 HOUR] GROUP BY g",
}
BATCHES = 30
"""So many batches are timed without a query that catches up, and with one."""
BATCH_ROWS = 20_000
STANDS_BACK = 10


class CaughtUp:
    """A home with retained rows, where queries are registered one after the other."""

    def __init__(self, path: Path) -> None:
        self._home = Home(path)
        self._home.open()
        self.ledger = Ledger(self._home)
        self.lock = threading.RLock()
        self._names = 0

    def close(self) -> None:
        """Let go of the home."""
        self._home.close()

    def register(self, query: str, work: Callable[[Work], Done]) -> tuple[float, float]:
        """Let a query catch up and join; the seconds on the wall, and of CPU here."""
        wall, cpu = time.perf_counter(), time.process_time()
        self._names += 1
        with self.lock:
            self.ledger.change_plan(self._with(f"late{self._names}", query))
        catching = CatchingUp(self.ledger, self.lock, work)
        while catching.step():
            pass
        with self.lock:
            catching.join()
        catching.close()
        return time.perf_counter() - wall, time.process_time() - cpu

    def _with(self, name: str, query: str) -> PipelinePlan:
        known = self.ledger.plan.plan
        statements = (*known.statements, f"CREATE QUERY {name} AS {query};")
        session = understood(statements)
        found = session.catalog.find(name, "query")
        assert isinstance(found, QueryDefinition)
        made = groups_for({name: found.plan}, 1 + max(self.ledger.plan.groups), 1)
        groups = (*known.groups, *made)
        plan = replace(known, statements=statements, groups=groups, session=session)
        return with_catching_up(self.ledger, plan)

    def forget(self) -> None:
        """Let the queries go that were registered."""
        with self.lock:
            known = self.ledger.plan.plan
            kept = replace(known, groups=known.groups[:1], session=self.ledger.plan.session)
            self.ledger.change_plan(kept)


def measure(
    path: Path, tables: Sequence[pa.Table], say: Callable[[str], None]
) -> dict[str, object]:
    """The time that queries take to catch up with the rows of tables, which a home retains."""
    home = CaughtUp(path)
    rows = sum(map(len, tables))
    found: dict[str, object] = {}
    host = LaneHost(home.ledger.home)
    for name, query in QUERIES.items():
        _alone(home, query, tables[:1])
        home.register(query, host.do)
        kernel = statistics.median(_alone(home, query, tables) for _ in range(3))
        taken = [home.register(query, host.do) for _ in range(3)]
        wall, cpu = (statistics.median(each) for each in zip(*taken, strict=True))
        home.forget()
        say(
            f"catching up with {rows:,} rows, {name:8}: {wall:.2f} s ({cpu:.2f} of CPU),"
            f" {cpu / kernel:.2f} of the operators alone ({kernel:.2f} s of CPU)"
        )
        found[name] = {"seconds": round(wall, 3), "cpu_seconds": round(cpu, 3),
                       "kernel_cpu_seconds": round(kernel, 3),
                       "ratio": round(cpu / kernel, 2)}  # fmt: skip
    alone, beside = _beside(home, max(_last(one) for one in tables))
    say(f"a batch of {BATCH_ROWS:,} rows: {alone * 1e3:.1f} ms alone, {beside / alone - 1:+.0%} "
        "while queries catch up")  # fmt: skip
    found["batch_seconds"], found["slower"] = round(alone, 5), round(beside / alone - 1, 3)
    home.close()
    return found


def _last(table: pa.Table) -> int:
    return int(table["ts"][-1].cast(pa.int64()).as_py())


def _alone(home: CaughtUp, query: str, tables: Sequence[pa.Table]) -> float:
    """The CPU that the operators of a query take for the rows of tables, in memory."""
    plan = home.ledger.plan.session.bind(query).plan
    (group,) = groups_for({"q": plan}, 0, 1)
    (fragment,) = group.hosted.fragments
    lane = Lane(fragment.graph)
    blocks = [
        arriving(tuple(arrays_of(one)), np.asarray(one["ts"].cast(pa.int64()).to_numpy()))
        for one in tables
    ]
    began = time.process_time()
    for block in blocks:
        lane.feed({"s": block}, {"s": int(block.ts[-1])})
    return time.process_time() - began


class _Process:
    """A process for lanes, as a host."""

    def __init__(self, name: str, nice: int = 0) -> None:
        self._name = name
        self._nice = nice

    def do(self, work: Work) -> Done:
        return Done.from_json(ask(self._name, work, os.getpid(), self._nice))


def _beside(home: CaughtUp, last: int) -> tuple[float, float]:
    """The median time of a batch alone, and while queries catch up one after the other."""
    name = f"penstock bench {os.getpid()}"
    driver = LaneHostDriver(home.ledger, 1, hosts=[_Process(name)])
    helper = _Process(f"{name} beside", STANDS_BACK)
    over = threading.Event()

    def register() -> None:
        while not over.is_set():
            home.register(QUERIES["hour"], helper.do)
            with home.lock:
                home.forget()

    times = []
    for place in range(2 * BATCHES + 5):
        if place == BATCHES + 5:
            thread = threading.Thread(target=register)
            thread.start()
            time.sleep(1.0)
        ts = last + 1 + place * BATCH_ROWS + np.arange(BATCH_ROWS)
        table = pa.table(
            {
                "ts": pa.array(ts).cast(pa.timestamp("us")),
                "k": ts % 1000,
                "g": (ts % 100).astype(np.int32),
                "v": ts / 7,
            }
        )
        began = time.perf_counter()
        with home.lock:
            driver.feed({"s": table})
        times.append(time.perf_counter() - began)
    over.set()
    thread.join()
    return statistics.median(times[5 : BATCHES + 5]), statistics.median(times[BATCHES + 5 :])

"""The driver of a large cluster, simulated: what it takes in, and what it commits, for each batch.

The answers of tasks are made up; what they go through is the ledger of a real home.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.lane_host.group_clocks import GroupClocks
from penstock.lane_host.work import Done, StreamCounts
from penstock.pipeline.ledger import Ledger
from penstock.store.layout import Home
from penstock.store.records import LaneState
from penstock_bench.pipeline_penstock import plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCHES = 5
LOGS = 30
"""A lane has an image and so many logs since, in the middle."""


@dataclass(frozen=True)
class SimulatedSize:
    """A simulated pipeline: lanes, each in a task of its own, and queries that are one group."""

    lanes: int
    queries: int

    @property
    def name(self) -> str:
        """The size in words."""
        return f"{self.lanes} lanes, {self.queries} queries"


@dataclass(frozen=True)
class DriverCost:
    """The CPU milliseconds of the driver for a batch, and the bytes that come and are written.

    Attributes:
        decode: Understanding what tasks answer.
        commit: Putting it together, and publishing the record.
        read: Reading a record, which each task does.
        answers: Bytes of all answers.
        record: Bytes of the record.
    """

    decode: float
    commit: float
    read: float
    answers: int
    record: int


def driver_cost(size: SimulatedSize) -> DriverCost:
    """The least cost of a few batches."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        home = Home(Path(folder))
        home.open()
        try:
            return _measured(Ledger(home), size)
        finally:
            home.close()


def _measured(ledger: Ledger, size: SimulatedSize) -> DriverCost:
    stream = "CREATE STREAM a (ts BIGINT, k BIGINT, WATERMARK FOR ts AS ts)"
    queries = [f"CREATE QUERY q{n} AS SELECT ts FROM a [NOW] WHERE k = {n}" for n in range(3)]
    ledger.change_plan(plan_of([stream, *queries], 2, one_by_one=False))
    _pretend(ledger, size)
    decode, commit = [], []
    for batch in range(BATCHES):
        lines = _answers(size, batch)
        began = time.process_time()
        done = [Done.from_json(json.loads(one)) for one in lines]
        decoded = time.process_time()
        ledger.commit_batch(done, size.lanes, None)
        decode.append(decoded - began)
        commit.append(time.process_time() - decoded)
    number = ledger.record.number
    began = time.process_time()
    ledger.home.chain.read(number)
    read = time.process_time() - began
    record = max(one.stat().st_size for one in (ledger.home.path / "records").iterdir())
    answers = sum(map(len, lines))
    return DriverCost(min(decode) * 1e3, min(commit) * 1e3, read * 1e3, answers, record)


def _pretend(ledger: Ledger, size: SimulatedSize) -> None:
    """Let the only group have as many queries as are simulated: binding so many takes minutes."""
    (group,) = ledger.plan.groups.values()
    columns = dict.fromkeys(_queries(size), ("ts",))
    object.__setattr__(group.physical, "columns", columns)


def _queries(size: SimulatedSize) -> Sequence[str]:
    return [f"query_{number}" for number in range(size.queries)]


def _answers(size: SimulatedSize, batch: int) -> list[str]:
    clocks = GroupClocks.of(dict.fromkeys(_queries(size), batch), {0: _queries(size)})
    active = dict.fromkeys(_queries(size)[: size.queries // 100 + 1], 1)
    return [
        Done(
            task,
            lanes={f"0.0.{task}": _state(task, batch)},
            results=f"{batch:012d}.{task}.0123456789ab.results",
            streams={"a": StreamCounts(100, 0, 0, batch)},
            clocks=clocks,
            result_rows=active,
        ).line
        for task in range(size.lanes)
    ]


def _state(task: int, batch: int) -> LaneState:
    logs = tuple(f"{batch + one:012d}.{task}.0123456789ab.log" for one in range(LOGS))
    return LaneState(f"{batch:012d}.{task}.0123456789ab.image", 1 << 20, logs, 1 << 20)

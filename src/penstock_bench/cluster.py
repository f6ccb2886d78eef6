"""`./penstock bench cluster`: more tasks, more workers, more lanes and queries."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from penstock_bench import cluster_report
from penstock_bench.choosing import chosen
from penstock_bench.cluster_driver import SimulatedSize, driver_cost
from penstock_bench.cluster_recovery import recovered
from penstock_bench.pipeline import Section
from penstock_bench.pipeline_data import Input, written
from penstock_bench.pipeline_run import PipelineSetting, in_own_process
from penstock_bench.pipeline_steady import steady
from penstock_bench.standalone import LOOPBACK, standalone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock_bench.cluster_recovery import Recovered
    from penstock_bench.pipeline_steady import Steady
    from penstock_bench.standalone import Standalone

SIZES = (
    SimulatedSize(10, 100),
    SimulatedSize(100, 100),
    SimulatedSize(1000, 100),
    SimulatedSize(100, 1000),
    SimulatedSize(100, 10_000),
    SimulatedSize(1000, 10_000),
)
"""The sizes at which a driver is simulated."""


@dataclass(frozen=True)
class ClusterEffort:
    """The amount of measuring.

    Args:
        rows: Rows of both streams in a micro-batch.
        batches: How many micro-batches there are.
        tasks: The numbers of tasks on this machine.
        workers: The numbers of workers of a cluster.
        seconds: After so long no further micro-batch is begun.
        kill_rows: Rows of both streams in a micro-batch, where an executor is killed,
        kill_batches: how many of these there are,
        kill_after: and how many of them come before.
    """

    rows: int = 200_000
    batches: int = 30
    tasks: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    workers: tuple[int, ...] = (1, 2, 4)
    seconds: float = 15.0
    kill_rows: int = 20_000
    kill_batches: int = 40
    kill_after: int = 15


QUICK = ClusterEffort(50_000, 8, (2, 8), (2,), 10.0, 10_000, 25, 10)
"""A first look."""
WAYS = ("join", "native join")
"""The join of Penstock, and Spark's own."""


def sections(folder: Path, effort: ClusterEffort, names: Sequence[str] = ()) -> list[Section]:
    """The tables that are wanted; all, if no names are given.

    Raises:
        UnknownName: There is no such section.
    """
    every = [
        Section(
            "driver",
            {one.name: partial(driver_cost, one) for one in SIZES},
            cluster_report.driver,
        ),
        Section("tasks", _tasks(folder, effort), cluster_report.tasks),
        Section(
            "workers",
            {_workers(count): partial(_speeds, folder, effort, count) for count in effort.workers},
            cluster_report.workers,
        ),
        Section("killed", {_workers(2): partial(_kills, folder, effort)}, cluster_report.killed),
    ]
    return chosen("cluster", every, names)


def _tasks(folder: Path, effort: ClusterEffort) -> dict[str, Callable[[], Steady]]:
    """The join with more and more tasks on the cores of this machine, by each way of reading."""
    return {
        f"{tasks} tasks, {way}": partial(_by_tasks, folder, effort, tasks, way)
        for tasks in effort.tasks
        for way in ("whole", "divided", "job")
        if tasks > 1 or way == "whole"
    }


def _by_tasks(folder: Path, effort: ClusterEffort, tasks: int, way: str) -> Steady:
    data = written(folder, Input(effort.rows, effort.batches))
    run = PipelineSetting(
        "join", str(data), tasks=tasks, master=f"local[{tasks},4]", seconds=effort.seconds,
        settings={"spark.penstock.reading": way},
    )  # fmt: skip
    return steady(in_own_process(run))


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def _speeds(folder: Path, effort: ClusterEffort, workers: int) -> dict[str, Steady]:
    """The join on a real cluster, and Spark's own on the same."""
    data = written(folder, Input(effort.rows, effort.batches))
    found = {}
    with _cluster(workers) as cluster:
        for way in WAYS:
            run = PipelineSetting(
                way, str(data), tasks=workers, master=cluster.url, seconds=effort.seconds
            )
            found[way] = steady(in_own_process(run, _ON_LOOPBACK))
    return found


def _kills(folder: Path, effort: ClusterEffort, workers: int = 2) -> dict[str, Recovered]:
    """One executor of a cluster is killed in mid-run, and then one of Spark's own join."""
    data = written(folder, Input(effort.kill_rows, effort.kill_batches))
    found = {}
    with _cluster(workers) as cluster:
        for way in WAYS:
            run = PipelineSetting(
                way, str(data), tasks=workers, master=cluster.url,
                kill_after=effort.kill_after, kill_on=str(cluster.own_folder("1")),
            )  # fmt: skip
            found[way] = recovered(in_own_process(run, _ON_LOOPBACK))
    return found


_ON_LOOPBACK = {"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable}


@contextmanager
def _cluster(workers: int) -> Iterator[Standalone]:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as apart,
        standalone(Path(apart), workers) as cluster,
    ):
        yield cluster

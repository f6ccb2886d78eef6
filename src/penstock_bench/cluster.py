"""`./penstock bench cluster`: more tasks, more workers, more lanes and queries."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from penstock_bench import cluster_report
from penstock_bench.choosing import chosen
from penstock_bench.cluster_driver import SimulatedSize, driver_cost
from penstock_bench.pipeline import Section
from penstock_bench.pipeline_data import Input, written
from penstock_bench.pipeline_run import PipelineSetting, in_own_process
from penstock_bench.pipeline_steady import steady
from penstock_bench.standalone import standalone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock_bench.pipeline_steady import Steady

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
    """

    rows: int = 200_000
    batches: int = 30
    tasks: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    workers: tuple[int, ...] = (1, 2, 4)


QUICK = ClusterEffort(50_000, 8, (2, 8), (2,))
"""A first look."""


def sections(folder: Path, effort: ClusterEffort, names: Sequence[str] = ()) -> list[Section]:
    """The tables that are wanted; all, if no names are given.

    Raises:
        UnknownName: There is no such section.
    """
    every = [
        Section(
            "driver",
            {
                f"{one.lanes} lanes, {one.queries} queries": partial(driver_cost, one)
                for one in SIZES
            },
            cluster_report.driver,
        ),
        Section("tasks", _tasks(folder, effort), cluster_report.tasks),
        Section("workers", _workers(folder, effort), cluster_report.workers),
    ]
    return chosen("cluster", every, names)


def _tasks(folder: Path, effort: ClusterEffort) -> dict[str, Callable[[], Steady]]:
    """The join with more and more tasks on the cores of this machine, by each way of reading."""
    return {
        f"{tasks} tasks, {way}": partial(
            _join, folder, effort, f"local[{tasks},4]", tasks, {"spark.penstock.reading": way}
        )
        for tasks in effort.tasks
        for way in ("whole", "divided", "job")
        if tasks > 1 or way == "whole"
    }


def _workers(folder: Path, effort: ClusterEffort) -> dict[str, Callable[[], Steady]]:
    """The join on a real cluster, and Spark's own on it."""
    return {
        f"{workers} workers, {way}": partial(_on_cluster, folder, effort, workers, way)
        for workers in effort.workers
        for way in ("join", "native join")
    }


def _on_cluster(folder: Path, effort: ClusterEffort, workers: int, way: str) -> Steady:
    variables = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as apart,
        standalone(Path(apart), workers) as cluster,
    ):
        return _join(folder, effort, cluster.url, workers, {}, way, variables)


def _join(
    folder: Path,
    effort: ClusterEffort,
    master: str,
    tasks: int,
    settings: dict[str, str],
    way: str = "join",
    variables: Mapping[str, str] | None = None,
) -> Steady:
    data = written(folder, Input(effort.rows, effort.batches))
    run = PipelineSetting(way, str(data), tasks=tasks, master=master, settings=settings)
    return steady(in_own_process(run, variables))

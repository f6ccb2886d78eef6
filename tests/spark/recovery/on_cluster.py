"""Clusters of tests: a master and workers, what lives on each, and drivers that use them."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from penstock_bench.standalone import LOOPBACK, MASTER, Standalone, on_loopback, standalone
from spark.recovery.processes import newest_record, python_path, start_driver
from spark.recovery.scenario import QUERIES, make_plan

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from penstock.store.layout import Home
    from penstock_bench.standalone import ClusterNode
    from spark.recovery.processes import Driver
    from spark.recovery.scenario import Scenario

KEEPER = "penstock.lane_host.lane_server"
EXECUTOR = "CoarseGrainedExecutorBackend"
VARIABLES = {"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable}
ALL_EXECUTORS = {
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
}
"""The first job waits until every worker has started its executor."""
SOON_LOST = {
    "spark.network.timeout": "12s",
    "spark.executor.heartbeatInterval": "2s",
    "spark.network.timeoutInterval": "2s",
}
"""An executor that is not heard of for so long is given up; Spark waits for two minutes."""


@contextmanager
def running(
    workers: int, node: Callable[[str], ClusterNode] = on_loopback, cores: int = 1
) -> Iterator[Standalone]:
    """A cluster of workers with some cores each."""
    variables = {"PYTHONPATH": python_path()}
    with (
        # Paths of sockets are short.
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        standalone(Path(folder), workers, variables, node, cores) as cluster,
    ):
        yield cluster


def start_on(
    cluster: Standalone,
    home: Path,
    scenario: Scenario,
    *,
    tasks: int,
    most_tasks: int = 0,
    settings: Mapping[str, str] | None = None,
    settings_in: Path | None = None,
) -> Driver:
    """Start a driver with all queries of a scenario, with as many lanes as tasks at most."""
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=max(tasks, most_tasks))
    node = cluster.node(MASTER)
    return start_driver(
        home,
        plan,
        tasks=tasks,
        most_tasks=most_tasks,
        master=cluster.url,
        variables={**VARIABLES, "SPARK_LOCAL_IP": node.address},
        settings={**ALL_EXECUTORS, **(settings or {})},
        settings_in=settings_in,
        command=node.command,
    )


def keepers(cluster: Standalone) -> list[int]:
    """For each worker, how many processes keep lanes there; most first."""
    sockets = (one.glob("penstock-*/*[0-9]") for one in cluster.folder.glob("[0-9]"))
    return sorted((sum(map(_listens, found)) for found in sockets), reverse=True)


def _listens(path: Path) -> bool:
    """Somebody listens on a socket; one that was killed leaves its file behind."""
    with socket.socket(socket.AF_UNIX) as asking, suppress(OSError):
        asking.connect(str(path))
        return True
    return False


def signal_all(processes: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to those of the processes that are still there."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def is_exchanging(home: Home) -> bool:
    """A fragment has sent rows in the batch that runs, and those who read them have not ended."""
    newest = newest_record(home)
    return any(int(one.name[:12]) > newest for one in home.segments.glob("*.sent"))

"""One measurement: one way to compute, in a process and a Spark session of its own.

`python -m penstock_bench.pipeline_run` reads a `PipelineSetting` from its input, and prints
`PipelineFigures`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from penstock.errors import InternalError
from penstock_bench import multijoin_native, pipeline_ceiling, pipeline_native, pipeline_penstock
from penstock_bench.cluster_recovery import kill_executor
from penstock_bench.pipeline_data import WINDOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.spark.pipeline import Pipeline
    from penstock.store.records import Record

    Frame = Callable[[SparkSession, Path, int], DataFrame]

MASTER = "local[2,4]"
FRAMES: dict[str, Frame] = {
    "ceiling": pipeline_ceiling.identity,
    "native join": pipeline_native.join,
    "hopping": pipeline_native.hopping,
    "by hand": pipeline_native.by_hand,
    "native distinct": pipeline_native.without_duplicates,
    "native joins of four": multijoin_native.joins,
}
"""What Spark is asked to do by itself; all else that runs is a workload of Penstock's."""
SETTINGS = {
    "spark.sql.streaming.numRecentProgressUpdates": "1000000",
    # Hopping windows keep each row ten times, on Java's heap.
    "spark.driver.memory": "6g",
}
OF_SPARK = {
    "spark.sql.shuffle.partitions": "2",
    # Sources that come and go under one checkpoint are a need of ours.
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "false",
}
LEAST_BATCHES = 3
SAMPLE_SECONDS = 0.5
POLL_SECONDS = 0.2
MARK = "PENSTOCK_BENCH_RUN"
"""A variable that all processes of a run inherit, by which their CPU time is found."""


@dataclass(frozen=True)
class PipelineSetting:
    """The settings of a measurement.

    Args:
        way: One of `FRAMES`, or a workload of `pipeline_penstock.QUERIES`.
        data: The folder of the input.
        warm: The folder of an input of small batches to warm up with; none, if it is empty.
        seconds: After so long no further micro-batch is begun; all are run, if it is 0.
        warm_seconds: The same for the warming up.
        window: The length of windows.
        tasks: In how many tasks Penstock divides its lanes.
        filling: Micro-batches that only fill the windows; their time is not among `seconds`.
        one_by_one: Whether each query of Penstock's is registered on its own.
        flush: Whether Penstock is told at the end that the input has come to its end.
        settings: Of Spark.
        options: Of Penstock's streams.
        master: Spark's master.
        kill_after: After so many micro-batches an executor is killed,
        kill_on: that of the worker with this folder; none, if it is empty.
    """

    way: str
    data: str
    warm: str = ""
    seconds: float = 0.0
    warm_seconds: float = 0.0
    window: int = WINDOW
    tasks: int = 2
    filling: int = 0
    one_by_one: bool = False
    flush: bool = False
    settings: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    master: str = MASTER
    kill_after: int = 0
    kill_on: str = ""


@dataclass
class PipelineFigures:
    """Measured figures: rows, milliseconds and their parts of each micro-batch, in order.

    Parts are what Spark says of the batches of its streaming queries. `lanes` are samples, about
    one a second, of the seconds that the parts of a batch of ours took. `cpu` are samples, too:
    how many batches were done, and the CPU seconds so far of all processes. `killed_after` is how
    many were done when an executor was killed.
    """

    rows: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    lanes: list[dict[str, float]] = field(default_factory=list)
    cpu: list[tuple[int, float]] = field(default_factory=list)
    results: int = 0
    killed_after: int | None = None

    def add(self, progress: Iterable[dict[str, Any]]) -> None:
        """Take in what Spark says of its micro-batches; those without rows do not count."""
        for one in progress:
            if one["numInputRows"]:
                parts = dict(one["durationMs"])
                self.rows.append(one["numInputRows"])
                self.milliseconds.append(parts.pop("triggerExecution"))
                self.parts.append(parts)


def in_own_process(
    run: PipelineSetting, variables: Mapping[str, str] | None = None
) -> PipelineFigures:
    """Measure in a new process, with some more variables.

    Raises:
        InternalError: It failed.
    """
    command = [sys.executable, "-P", "-m", "penstock_bench.pipeline_run"]
    done = subprocess.run(
        command,
        input=json.dumps(asdict(run)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, MARK: uuid4().hex, **(variables or {})},
    )
    if done.returncode:
        msg = f"measuring {run.way} failed: {done.stderr[-2000:]}"
        raise InternalError(msg)
    return PipelineFigures(**json.loads(done.stdout.splitlines()[-1]))


def measured(run: PipelineSetting, folder: Path) -> PipelineFigures:
    """Warm up, and measure, in this process."""
    from penstock.spark.spark_session import start_session

    other = {} if run.way in pipeline_penstock.QUERIES else OF_SPARK
    settings = {**SETTINGS, **other, **run.settings}
    spark = start_session("penstock bench", master=run.master, settings=settings)
    once = _run_frame if run.way in FRAMES else _run_penstock
    if run.warm:
        warming = replace(run, data=run.warm, seconds=run.warm_seconds, filling=0)
        once(spark, warming, folder / "warm")
    ran = once(spark, run, folder / "run")
    spark.stop()
    return ran


def _run_frame(spark: SparkSession, run: PipelineSetting, folder: Path) -> PipelineFigures:
    """Run one of Spark's own ways; what comes of it goes nowhere."""
    ran = PipelineFigures()
    frame = FRAMES[run.way](spark, Path(run.data), run.window)
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(folder))
    query = writer.trigger(availableNow=True).start()

    def ended_within(most: float) -> bool:
        return bool(query.awaitTermination(most))  # type: ignore[arg-type]

    _wait(ended_within, partial(_batches_of, query), run, ran)
    query.stop()
    progress = [dict(json.loads(one.json)) for one in query.recentProgress]
    ran.add(progress)
    observed = [one.get("observedMetrics", {}).get(pipeline_native.OBSERVED) for one in progress]
    ran.results = sum(one["n"] for one in observed if one)
    return ran


def _run_penstock(spark: SparkSession, run: PipelineSetting, folder: Path) -> PipelineFigures:
    """Run a workload of ours, with a home that is as durable as any."""
    options = {"maxFilesPerTrigger": "1", **run.options}
    made = pipeline_penstock.statements(run.way, Path(run.data), run.window, options)
    pipeline = pipeline_penstock.pipeline_of(
        spark, folder, made, run.tasks, one_by_one=run.one_by_one
    )
    ran = PipelineFigures()
    commits = Commits(ran)
    pipeline.listeners.append(commits.add)
    pipeline.start(finite=True)
    _wait(commits.ended_within(pipeline), lambda: len(ran.rows), run, ran, pipeline)
    pipeline.stop()
    if pipeline.failure is not None:
        raise pipeline.failure
    pipeline.listeners.remove(commits.add)
    if run.flush:
        pipeline.flush()
    ran.results = pipeline_penstock.results_of(pipeline)
    pipeline.home.close()
    return ran


class Commits:
    """Times the micro-batches of a pipeline, from commit to commit."""

    def __init__(self, ran: PipelineFigures) -> None:
        self._ran = ran
        self._last = time.perf_counter()
        self._rows = 0

    def add(self, record: Record) -> None:
        """Take in a record that was published just now; those without rows do not count."""
        rows = sum(one.rows for one in record.streams.values())
        if rows > self._rows:
            now = time.perf_counter()
            self._ran.rows.append(rows - self._rows)
            self._ran.milliseconds.append((now - self._last) * 1000)
            self._rows, self._last = rows, now

    def ended_within(self, pipeline: Pipeline) -> Callable[[float], bool]:
        """A pipeline ends within some seconds."""

        def ended(seconds: float) -> bool:
            deadline = time.monotonic() + seconds
            while pipeline.is_running and time.monotonic() < deadline:
                time.sleep(0.01)
            return not pipeline.is_running

        return ended


def _wait(
    ended_within: Callable[[float], bool],
    batches_done: Callable[[], int],
    run: PipelineSetting,
    ran: PipelineFigures,
    pipeline: Pipeline | None = None,
) -> None:
    """Wait until a query has ended, or has run for long enough; take samples meanwhile."""
    began = sampled = time.monotonic()
    while not ended_within(POLL_SECONDS):
        now = time.monotonic()
        if run.kill_on and ran.killed_after is None and batches_done() >= run.kill_after:
            ran.killed_after = batches_done() if kill_executor(Path(run.kill_on)) else None
        if now - sampled < SAMPLE_SECONDS:
            continue
        sampled = now
        batches = batches_done()
        if not ran.cpu or ran.cpu[-1][0] != batches:
            ran.cpu.append((batches, cpu_seconds()))
        if batches < run.filling:
            began = now
            continue
        if pipeline is not None and pipeline.status.seconds not in ran.lanes[-1:]:
            ran.lanes.append(dict(pipeline.status.seconds))
        if run.seconds and now - began > run.seconds and batches >= run.filling + LEAST_BATCHES:
            return


def _batches_of(query: StreamingQuery) -> int:
    last = query.lastProgress
    return 0 if last is None else int(last.batchId) + 1


def cpu_seconds() -> float:
    """The CPU time of all processes of this run: Java, Spark's Python workers, and ours."""
    mark = f"{MARK}={os.environ.get(MARK)}".encode()
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        # Processes of others cannot be read, and any may end meanwhile.
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure what the input of this process says."""
    run = PipelineSetting(**json.load(sys.stdin))
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        ran = measured(run, Path(folder))
    sys.stdout.write(f"{json.dumps(asdict(ran))}\n")


if __name__ == "__main__":
    main()

"""Latency: from a file's landing to the commit of what its rows led to, under a steady load.

`python -m penstock_bench.pipeline_latency` reads a `Load` from its input, and prints seconds.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock_bench import pipeline_penstock
from penstock_bench.pipeline_data import WINDOW
from penstock_bench.pipeline_run import MASTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.store.records import Record

WORKLOAD = "join"


@dataclass(frozen=True)
class Load:
    """Files to be dropped at a steady pace.

    Args:
        staged: The folder of the input; its files are moved from there.
        rows_per_file: How many rows each file has.
        files: How many files each stream has.
        pace: Seconds from file to file.
    """

    staged: str
    rows_per_file: int
    files: int
    pace: float


def latencies(load: Load) -> list[float]:
    """The latency of each file in seconds, in a new process.

    Raises:
        InternalError: It failed.
    """
    command = [sys.executable, "-P", "-m", "penstock_bench.pipeline_latency"]
    text = json.dumps(asdict(load))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"measuring the latency failed: {done.stderr[-2000:]}"
        raise InternalError(msg)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(load: Load, folder: Path) -> list[float]:
    """Run the join while another process drops files."""
    from penstock.spark.spark_session import start_session

    landing = folder / "landing"
    for stream in pipeline_penstock.streams_of(WORKLOAD):
        (landing / stream).mkdir(parents=True)
    spark = start_session("penstock bench", master=MASTER)
    made = pipeline_penstock.statements(WORKLOAD, landing, WINDOW, {})
    pipeline = pipeline_penstock.pipeline_of(spark, folder / "home", made, 2)
    records: list[Record] = []
    pipeline.listeners.append(records.append)
    pipeline.start()
    own = multiprocessing.get_context("spawn")
    dropping = own.Process(target=drop, args=(load, str(landing)))
    dropping.start()
    dropping.join()
    pipeline.drain()
    pipeline.stop()
    pipeline.home.close()
    spark.stop()
    return _per_file(load, landing, records)


def drop(load: Load, landing: str) -> None:
    """Move the files of all streams to where they are looked for, one of each at a time."""
    began = time.time()
    for number in range(load.files):
        time.sleep(max(began + number * load.pace - time.time(), 0.0))
        for stream in pipeline_penstock.streams_of(WORKLOAD):
            path = Path(load.staged) / stream / f"{number:06d}.parquet"
            # The time of the file is when it landed.
            os.utime(path)
            path.rename(Path(landing) / stream / path.name)


def _per_file(load: Load, landing: Path, records: Sequence[Record]) -> list[float]:
    """For each file, the time until the first record with all rows up to its last."""
    found = []
    following = iter(records)
    record = next(following)
    streams = pipeline_penstock.streams_of(WORKLOAD)
    for number in range(load.files):
        needed = (number + 1) * load.rows_per_file
        while min(record.streams[stream].rows for stream in streams) < needed:
            record = next(following)
        paths = [landing / stream / f"{number:06d}.parquet" for stream in streams]
        found.append(record.written_at - max(path.stat().st_mtime for path in paths))
    return found


def main() -> None:
    """Measure what the input of this process says."""
    load = Load(**json.load(sys.stdin))
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        found = measured(load, Path(folder))
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main()

"""A pipeline over a DataFrame that is killed in the middle: each row counts once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import penstock
from tiers import only_long

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import os, sys
from pathlib import Path
import penstock
from penstock.spark.spark_session import launch_environment
from pyspark.sql import SparkSession

os.environ.update(launch_environment("local[2]"))
folder = Path(sys.argv[1])
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
db = penstock.connect(home=folder / "home", spark=spark)
read = spark.readStream.schema("ts BIGINT, k INT").option("maxFilesPerTrigger", 1)
db.stream("s", read.json(str(folder / "in")), watermark="ts")
if not db.queries:
    counted = "SELECT k, COUNT(*) AS n, SUM(ts) AS total FROM s [RANGE 50] GROUP BY k"
    db.execute(f"CREATE QUERY q AS {counted}")
db.on_commit(lambda record: print(record.number, flush=True))
if sys.argv[2] == "to the end":
    db.finish()
    for one in db["q"].changes().to_pylist():
        print(tuple(one.values()), flush=True)
    db.close()
else:
    db.wait_idle()
"""
FILES, ROWS = 60, 5


def run(folder: Path, how: str, commits: int = 0) -> list[str]:
    """Run the program; with a number of commits, kill it after so many."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, "-P", str(program), str(folder), how],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        said = []
        for line in running.stdout:
            said.append(line.strip())
            if commits and len(said) >= commits:
                # In the middle of what comes next.
                time.sleep(0.05 * (len(said) % 3))
                os.killpg(running.pid, signal.SIGKILL)
                break
    return said


@only_long
def test_each_row_of_a_dataframe_counts_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    rows = [(number, number * 7 % 5) for number in range(FILES * ROWS)]
    for number in range(FILES):
        part = rows[number * ROWS : (number + 1) * ROWS]
        lines = "".join(f'{{"ts": {ts}, "k": {k}}}\n' for ts, k in part)
        path = tmp_path / "in" / f"{number:03}.json"
        path.write_text(lines)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    for commits in (1, 4, 7):
        run(tmp_path, "until killed", commits)
    said = [line for line in run(tmp_path, "to the end") if line.startswith("(")]
    with penstock.connect_inline() as db:
        db.execute("""
            CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
            CREATE QUERY q AS
            SELECT k, COUNT(*) AS n, SUM(ts) AS total FROM s [RANGE 50] GROUP BY k;
        """)
        db.insert("s", rows)
        db.finish()
        assert sorted(said) == sorted(
            str(tuple(one.values())) for one in db["q"].changes().to_pylist()
        )
    assert len(said) > FILES

"""Workers of a Spark that somebody else has started, with a Python that has not Penstock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyspark

PROGRAM = """
import os, sys
from pyspark.sql import SparkSession
import penstock
from penstock.errors import PipelineFailed
from penstock.spark.spark_session import launch_environment

os.environ.update(launch_environment("local[1]"))
os.environ["PYSPARK_PYTHON"] = sys.argv[1]
SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
with penstock.connect("local[1]", sys.argv[2]) as db:
    db.execute("CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    query = db.query("SELECT k FROM s [RANGE 5]", "q")
    db.insert("s", [(1, 1), (9, 2)])
    for ask in (db.wait_idle, lambda: list(query.changes(follow=True)), db.finish):
        try:
            ask()
        except PipelineFailed as failure:
            print(failure.message)
    for shown in (db.failure, repr(db["q"]), repr(db)):
        print(" ".join(shown.split()))
"""


def test_workers_that_cannot_import_the_package_say_so_on_every_handle(tmp_path: Path) -> None:
    packages = Path(pyspark.__file__).parents[1]
    python = tmp_path / "python"
    # The packages that Penstock needs are there, and it is not.
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(python), str(tmp_path / "home")],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.splitlines()
    cause = (
        "the pipeline has stopped: the Python of Spark's workers cannot import what they need"
        " (No module named 'penstock'); when Spark starts, PYSPARK_PYTHON has to name one that has"
        " Penstock"
    )
    assert done.returncode == 0, done.stderr
    assert said[:4] == [cause] * 4
    assert all(f"it has failed: {cause}" in one for one in said[4:])
    assert len(said) == 6

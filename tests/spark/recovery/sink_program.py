"""A driver with sinks, run as a process of its own so that tests can kill it.

Usage: sink_program.py SETTINGS.json - with the home, the statements, and Spark's settings. It takes
in all files that are there, takes it that this is the end, and ends when all sinks are written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import penstock
from penstock.spark.spark_engine import spark_engine


def main(settings: dict[str, str]) -> None:
    own = json.loads(settings["spark"])
    db = penstock.connect("local[2,4]", settings["home"], 2, settings=own)
    if not list(spark_engine(db).catalog.of_kind("sink")):
        db.execute(settings["statements"])
    db.wait_idle()
    db.finish()
    sinks = spark_engine(db).sinks
    if not sinks.wait_written(300):
        sys.exit(f"not all is written: {sinks.errors}")
    db.close()


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text("utf-8")))

"""A driver as users have one, run as a process of its own so that tests can kill it.

Usage: driver_program.py SETTINGS.json - with the home, the plan to run, how many tasks, and
Spark's master and settings. It takes in all files that are there, says all that is left, and ends
with 0; with 1 and a sentence on stderr if something is wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from penstock.errors import PenstockError
from penstock.pipeline.plans import PipelinePlan
from penstock.planner.physical.physical_plan import PhysicalPlan
from penstock.spark.pipeline import Pipeline
from penstock.spark.spark_session import start_session
from penstock.store.layout import Home


def main(settings: dict[str, str]) -> None:
    home = Home(Path(settings["home"]))
    home.open()
    values = json.loads(settings["plan"])
    physical = [PhysicalPlan.from_json(json.loads(one["physical"])) for one in values["groups"]]
    wanted = PipelinePlan.from_json(values, physical)
    own = json.loads(settings["spark"])
    spark = start_session("recovery", master=settings["master"], settings=own)
    most = int(settings["most_tasks"])
    pipeline = Pipeline(spark, home, int(settings["tasks"]), most or None)
    if pipeline.ledger.plan.plan != wanted:
        pipeline.ledger.change_plan(wanted)
    pipeline.start(finite=True)
    pipeline.wait()
    if pipeline.ledger.record.kind != "flush" and settings["flush"]:
        pipeline.flush()
    spark.stop()
    home.close()


if __name__ == "__main__":
    from pyspark.errors import PySparkException

    try:
        main(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    except (PenstockError, PySparkException) as error:
        sys.exit(str(error))

"""Spark on trial: the pipeline as users run it, one micro-batch for each feed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.spark.pipeline import Pipeline
from penstock.spark.spark_session import start_session
from penstock.store.inserted_rows import bring
from penstock.testing.spark import read_by_spark
from penstock_fuzz.pipelines import change_relations, new_home, plan_of, ran, stream_rows

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.store.layout import Home
    from penstock.store.records import Record
    from penstock_fuzz.trial import Trial, TrialResult

TASKS = 2


class SparkContender:
    """Runs trials on Spark, all in one session; every other one with input that Spark reads."""

    replans = False
    takes_edits = False

    def __init__(self) -> None:
        self._spark = start_session("penstock fuzz")
        self._spark.sparkContext.setLogLevel("ERROR")
        self._trials = 0

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        """Feed a trial to the end; nothing is shed.

        Micro-batches of Spark's are not always those of the trial, which decisions go by.
        """
        trial = replace(trial, shedding=None)
        with new_home() as home:
            pipeline = Pipeline(self._spark, home, TASKS)
            ledger = pipeline.ledger
            wanted = plan_of(trial, plan)
            by_spark = self._trials % 2 == 1
            if by_spark:
                wanted = replace(wanted, statements=read_by_spark(wanted.statements))
            self._trials += 1
            ledger.change_plan(wanted)
            change_relations(trial, ledger, None)
            if ledger.plan.streams:
                self._run(pipeline, home, trial, by_spark=by_spark)
            else:
                for feed in trial.feeds:
                    change_relations(trial, ledger, feed)
                    pipeline.tick()
            pipeline.flush()
            return ran(home, ledger, trial, plan)

    def _run(self, pipeline: Pipeline, home: Home, trial: Trial, *, by_spark: bool) -> None:
        """Run to the end of what was brought.

        Spark reads the rows of one feed after the other, tasks all that wait together: for them
        all changes of relations have to be there before, as none may come later than its rows.
        """
        feeds = trial.feeds
        for feed in feeds:
            for name, rows in stream_rows(trial, pipeline.ledger, feed).items():
                bring(home, name, rows)
        first = 1 if by_spark else len(feeds)
        for feed in feeds[:first]:
            change_relations(trial, pipeline.ledger, feed)
        coming = iter(feeds[first:])

        def before_the_next(_record: Record) -> None:
            feed = next(coming, None)
            if feed is not None:
                change_relations(trial, pipeline.ledger, feed)

        pipeline.listeners.append(before_the_next)
        pipeline.start(finite=True)
        pipeline.wait()

"""Penstock: the statements of each workload, and a pipeline that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.pipeline.plans import PipelinePlan
from penstock.spark.pipeline import Pipeline
from penstock.spark.program import Program
from penstock.store.layout import Home
from penstock.store.result_files import result_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

_FOUR = (
    "SELECT a.v, b.v AS w, c.v AS x, d.v AS y "
    "FROM a [RANGE {w}], b [RANGE {w}], c [RANGE {w}], d [RANGE {w}] "
    "WHERE a.k = b.k AND a.k = c.k AND a.k = d.k"
)
_JOIN = "FROM a [RANGE {w}], b [RANGE {w}] WHERE a.k = b.k"

QUERIES: dict[str, tuple[str, ...]] = {
    "join": (f"SELECT a.v, b.v AS w {_JOIN}",),
    "aggregate": (
        "SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS top FROM a [RANGE {w}] GROUP BY k",
    ),
    "distinct": ("SELECT DISTINCT k FROM a [RANGE {w}]",),
    "global": ("SELECT COUNT(*) AS n, SUM(v) AS total, MAX(v) AS top FROM a [RANGE {w}]",),
    "regrouped": (f"SELECT a.v, COUNT(*) AS n, SUM(b.v) AS total {_JOIN} GROUP BY a.v",),
    "one": ("SELECT k, COUNT(*) AS n FROM a [RANGE {w}] WHERE v = 0 GROUP BY k",),
    "hundred": (
        *(f"SELECT k, v FROM a [RANGE {{w}}] WHERE v = {n}" for n in range(50)),
        *(
            f"SELECT k, COUNT(*) AS n FROM a [RANGE {{w}}] WHERE v = {n} GROUP BY k"
            for n in range(50)
        ),
    ),
    "ten": (
        f"SELECT a.v, b.v AS w {_JOIN}",
        f"SELECT a.k, a.v {_JOIN} AND a.v < b.v",
        "SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS top FROM a [RANGE {w}] GROUP BY k",
        "SELECT k, COUNT(*) AS n FROM b [RANGE {w}] GROUP BY k",
        "SELECT k, AVG(v) AS middle FROM b [RANGE {w}] GROUP BY k",
        "SELECT k, MIN(v) AS least FROM a [RANGE {w}] WHERE v > 500 GROUP BY k",
        "SELECT DISTINCT k FROM a [RANGE {w}]",
        "SELECT DISTINCT k FROM b [RANGE {w}]",
        "SELECT k, v FROM a [RANGE {w}] WHERE v > 990",
        "SELECT k, v * 2 AS twice FROM b [NOW] WHERE v < 10",
    ),
    "four at once": (_FOUR,),
    "four in a tree": (_FOUR,),
}
"""The queries of each workload; {w} is the length of windows."""
SETTINGS = {"four at once": "SET joins = multiway", "four in a tree": "SET joins = tree"}
"""What is set for the queries of a workload."""


def streams_of(workload: str) -> tuple[str, ...]:
    """The streams that a workload reads."""
    if workload in SETTINGS:
        return ("a", "b", "c", "d")
    return ("a", "b") if workload in ("join", "ten", "regrouped") else ("a",)


def statements(workload: str, data: Path, window: int, options: Mapping[str, str]) -> list[str]:
    """The streams over the files of an input, and the queries."""
    made = [SETTINGS[workload]] if workload in SETTINGS else []
    for stream in streams_of(workload):
        listed = {"path": str(data / stream), **options}
        chosen = ", ".join(f"{name} '{value}'" for name, value in listed.items())
        made.append(
            f"CREATE STREAM {stream} (ts BIGINT, k BIGINT, v BIGINT, WATERMARK FOR ts AS ts) "
            f"USING parquet OPTIONS ({chosen})"
        )
    for number, text in enumerate(QUERIES[workload]):
        made.append(f"CREATE QUERY q{number} AS {text.format(w=window)}")
    return made


def pipeline_of(
    spark: SparkSession,
    folder: Path,
    made: Sequence[str],
    tasks: int,
    *,
    one_by_one: bool = False,
) -> Pipeline:
    """A pipeline with a home of its own, ready to start."""
    home = Home(folder)
    home.open()
    pipeline = Pipeline(spark, home, tasks)
    pipeline.ledger.change_plan(plan_of(made, tasks, one_by_one=one_by_one))
    return pipeline


def plan_of(made: Sequence[str], tasks: int, *, one_by_one: bool) -> PipelinePlan:
    """The plan that a connection makes of statements, executed all at once or each on its own."""
    program = Program(PipelinePlan(), 0, tasks)
    for text in made:
        for outcome in program.session.execute(text):
            program.take_in(outcome, text, None)
        if one_by_one:
            program.plan()
    return program.plan()


def results_of(pipeline: Pipeline) -> int:
    """The number of elements that the results of all queries have so far."""
    home = pipeline.home
    queries = [name for group in pipeline.ledger.plan.plan.groups for name in group.queries]
    return sum(
        len(block)
        for record in home.chain.since(0)
        for query in queries
        for block in result_blocks(home, record, query)
    )

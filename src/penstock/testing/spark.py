"""The Spark engine for stream tests: a pipeline with a home of its own for each case."""

from __future__ import annotations

import re
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.planner.physical.building import Choices
from penstock.reference.inputs import RelationHistory
from penstock.spark.pipeline import Pipeline
from penstock.spark.session import start_session
from penstock.store.inserted_rows import bring
from penstock.store.layout import Home
from penstock.store.result_files import result_blocks
from penstock.testing.inline import (
    QUERY,
    answer_of,
    changes_table,
    refuse_bad_inputs,
    stream_table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.testing.engines import Answer, Question

_STREAM = re.compile(r"\bCREATE\s+STREAM\b[^;]*", re.IGNORECASE)
_OPTIONS = re.compile(r"\bOPTIONS\s*\([^()]*\)$", re.IGNORECASE)


def read_by_spark(statements: Sequence[str]) -> tuple[str, ...]:
    """Statements, with streams that Spark reads, rather than the tasks themselves."""
    return tuple(_STREAM.sub(lambda found: _with_reader(found[0]), one) for one in statements)


def _with_reader(statement: str) -> str:
    text = statement.rstrip()
    if _OPTIONS.search(text):
        return f"{text[:-1]}, reader 'spark')"
    return f"{text} OPTIONS (reader 'spark')"


class SparkEngine:
    """Runs a query on Spark: all input in one micro-batch, then the end.

    Of half of the queries the input is read by Spark, of the others by the tasks themselves.
    """

    def __init__(self, tasks: int = 2) -> None:
        self._tasks = tasks
        self._spark = start_session("penstock test")
        self._spark.sparkContext.setLogLevel("ERROR")

    def answer(self, question: Question) -> Answer:
        """The complete result."""
        refuse_bad_inputs(question.plan, question.inputs)
        with tempfile.TemporaryDirectory(prefix="penstock-test-") as folder:
            home = Home(Path(folder))
            home.open()
            try:
                return self._answered(home, question)
            finally:
                home.close()

    def _answered(self, home: Home, question: Question) -> Answer:
        pipeline = Pipeline(self._spark, home, self._tasks)
        create = f"CREATE QUERY {QUERY} AS {question.text}"
        choices = Choices.of(question.tactics)
        groups = groups_for({QUERY: question.plan}, 0, self._tasks, choices)
        statements = (*question.statements, create)
        if zlib.crc32(question.text.encode()) % 2:
            statements = read_by_spark(statements)
        plan = PipelinePlan(statements, tuple(groups))
        pipeline.ledger.change_plan(plan)
        (group,) = pipeline.ledger.plan.groups.values()
        for name, stream in group.streams.items():
            rows = question.inputs.streams.get(name, ())
            bring(home, name, stream_table(stream.schema, rows))
        for name, relation in group.relations.items():
            history = question.inputs.relations.get(name, RelationHistory())
            pipeline.ledger.change_relation(name, changes_table(relation.schema, history))
        pipeline.start(finite=True)
        pipeline.wait()
        pipeline.flush()
        blocks = [
            block for record in home.chain.since(0) for block in result_blocks(home, record, QUERY)
        ]
        failures = pipeline.ledger.record.failures.get(QUERY, {})
        return answer_of(question.plan, blocks, sum(failures.values()))

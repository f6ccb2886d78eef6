"""The Spark engine for stream tests: a pipeline for a case, or for many of them."""

from __future__ import annotations

import re
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.pipeline.plans import PipelinePlan, QueryGroup
from penstock.pipeline.query_groups import groups_for
from penstock.planner.physical.building import Choices
from penstock.reference.arrow_rows import stream_table
from penstock.reference.inputs import RelationHistory
from penstock.session import Session
from penstock.spark.pipeline import Pipeline
from penstock.spark.spark_session import start_session
from penstock.store.inserted_rows import bring
from penstock.store.layout import Home
from penstock.store.result_files import result_blocks
from penstock.testing.company import named_apart, settings_of
from penstock.testing.inline import (
    QUERY,
    answer_of,
    changes_table,
    refuse_bad_inputs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.testing.engines import CaseAnswer, Question

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


class SparkCaseEngine:
    """Runs queries on Spark: all input in one micro-batch, then the end.

    Of half of the queries the input is read by Spark, of the others by the tasks themselves.

    Args:
        tasks: How many tasks there are.
        settings: Statements that each pipeline runs first.
        look: Called with each pipeline that has finished, and the questions that it has answered.
    """

    def __init__(
        self,
        tasks: int = 2,
        settings: tuple[str, ...] = (),
        look: Callable[[Pipeline, Sequence[SparkQuestion]], None] = lambda *_: None,
    ) -> None:
        self._tasks = tasks
        self._settings = settings
        self._look = look
        self._spark = start_session("penstock test")
        self._spark.sparkContext.setLogLevel("ERROR")

    def answer(self, question: Question) -> CaseAnswer:
        """The complete result."""
        refuse_bad_inputs(question.plan, question.inputs)
        return self._answered([SparkQuestion(question, question, QUERY)])[0]

    def answers(self, questions: Sequence[Question]) -> list[CaseAnswer | PenstockError]:
        """The complete results; questions with the same settings share a pipeline."""
        found: dict[int, CaseAnswer | PenstockError] = {}
        companies: dict[tuple[str, ...] | int, dict[int, SparkQuestion]] = {}
        for number, question in enumerate(questions):
            try:
                refuse_bad_inputs(question.plan, question.inputs)
            except PenstockError as error:
                found[number] = error
                continue
            settings = settings_of(question)
            company = companies.setdefault(number if settings is None else settings, {})
            company[number] = _in_company(question, number)
        for company in companies.values():
            found.update(zip(company, self._answered(list(company.values())), strict=True))
        return [found[number] for number in range(len(questions))]

    def _answered(self, asked: Sequence[SparkQuestion]) -> list[CaseAnswer]:
        with tempfile.TemporaryDirectory(prefix="penstock-test-") as folder:
            home = Home(Path(folder))
            home.open()
            try:
                pipeline = Pipeline(self._spark, home, self._tasks)
                pipeline.ledger.change_plan(_plan_of(asked, self._tasks, self._settings))
                for one in asked:
                    _bring_inputs(pipeline, one)
                pipeline.start(finite=True)
                pipeline.wait()
                pipeline.flush()
                self._look(pipeline, asked)
                return [_answer_of(pipeline, one) for one in asked]
            finally:
                home.close()


@dataclass(frozen=True)
class SparkQuestion:
    """A question as it was asked, as it runs, and the name of its query.

    In company names have a prefix; `question` has the plan that the answer is read by.
    """

    question: Question
    running: Question
    query: str
    prefix: str = ""


def _in_company(question: Question, number: int) -> SparkQuestion:
    prefix = f"q{number}_"
    return SparkQuestion(question, named_apart(question, prefix), f"{prefix}{QUERY}", prefix)


def _plan_of(
    asked: Sequence[SparkQuestion], tasks: int, settings: Sequence[str] = ()
) -> PipelinePlan:
    """All queries in one catalog, each in a group of its own."""
    statements: list[str] = list(settings)
    session = Session()
    groups: list[QueryGroup] = []
    for one in asked:
        declared = [text for text in one.running.statements if text not in statements]
        for text in declared:
            session.execute(text)
        plan = session.bind(one.running.text).plan
        groups += groups_for({one.query: plan}, len(groups), tasks, Choices.of(one.running.tactics))
        create = f"CREATE QUERY {one.query} AS {one.running.text}"
        is_read_by_spark = zlib.crc32(one.question.text.encode()) % 2
        statements += read_by_spark(declared) if is_read_by_spark else declared
        statements.append(create)
    return PipelinePlan(tuple(statements), tuple(groups))


def _bring_inputs(pipeline: Pipeline, asked: SparkQuestion) -> None:
    """The rows of streams and the changes of relations that a query reads."""
    inputs = asked.question.inputs
    [group] = [one for one in pipeline.ledger.plan.groups.values() if asked.query in one.plans]
    for name, stream in group.streams.items():
        rows = inputs.streams.get(name.removeprefix(asked.prefix), ())
        bring(pipeline.home, name, stream_table(stream.schema, rows))
    for name, relation in group.relations.items():
        history = inputs.relations.get(name.removeprefix(asked.prefix), RelationHistory())
        pipeline.ledger.change_relation(name, changes_table(relation.schema, history))


def _answer_of(pipeline: Pipeline, asked: SparkQuestion) -> CaseAnswer:
    """The answer that a finished pipeline has written down to a query."""
    home = pipeline.home
    blocks = [
        block
        for record in home.chain.since(0)
        for block in result_blocks(home, record, asked.query)
    ]
    failures = pipeline.ledger.record.failures.get(asked.query, {})
    return answer_of(asked.question.plan, blocks, sum(failures.values()))

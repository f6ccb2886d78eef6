"""The answers of the reference evaluator, from CSV and JSON files: exact, and slow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import typer

from penstock.algebra import streams as st
from penstock.algebra.instants import read_instant
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.cli.answers import failure_warning, said
from penstock.cli.script_text import execute
from penstock.cql import syntax
from penstock.operators.block import Block
from penstock.reference.arrow_rows import arrow_columns
from penstock.reference.files import read_rows
from penstock.reference.inputs import Inputs, RelationHistory
from penstock.reference.oracle import Oracle
from penstock.reference.timeline import in_order
from penstock.results.answer_kind import require_timed, unit_of
from penstock.results.answer_text import AnswerText, snapshot_text
from penstock.results.paragraphs import Paragraphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from penstock.algebra.plan import Plan
    from penstock.cli.answers import OutputOptions
    from penstock.reference.timeline import Bag, Row
    from penstock.session import Outcome, Session

_Told = tuple[int, int, "Row"]
"""An instant, a sign and a row."""


def run_on_oracle(script: Path | None, text: str, options: OutputOptions) -> None:
    """Let the reference evaluator answer the queries of a script."""
    session, outcomes = execute(script, text)
    paragraphs = Paragraphs(typer.echo)
    answered = False
    declared = None
    for outcome in outcomes:
        plan = _asked(outcome)
        at = getattr(outcome.statement, "as_of", None)
        asked = options if at is None else replace(options, at=str(at.value))
        texts = said(outcome) if plan is None else _answer(session, outcome.name, plan, asked)
        answered |= paragraphs.say(texts)
        declared = outcome.message
    if not answered and declared:
        typer.echo(f"{declared}; there is no query to answer", err=True)


def _asked(outcome: Outcome) -> Plan | None:
    """The query that a statement asks, if it does."""
    statement = outcome.statement
    is_query = isinstance(statement, syntax.CreateQuery) and statement.kind == "QUERY"
    return outcome.plan if is_query or isinstance(statement, syntax.Select) else None


def _answer(
    session: Session, title: str | None, plan: Plan, options: OutputOptions
) -> Iterator[str]:
    """The answer of a query, as text."""
    oracle = Oracle(_inputs(session, plan))
    if options.is_timed:
        require_timed(plan)
    if options.at:
        instant = read_instant(options.at, unit_of(plan))
        rows = in_order(oracle.timeline(plan).at(instant))
        texts = snapshot_text(plan, title, instant, arrow_columns(plan.schema, rows))
    else:
        texts = _results(oracle, title, plan, intervals=options.intervals)
    yield from texts
    if oracle.failures.count:
        typer.echo(failure_warning(oracle.failures.by_function), err=True)


def _results(oracle: Oracle, title: str | None, plan: Plan, *, intervals: bool) -> Iterator[str]:
    text = AnswerText(plan, title, intervals=intervals)
    told = list(_told(oracle, plan))
    if told:
        yield from text.add(_block(plan, told))
    yield from text.end()


def _told(oracle: Oracle, plan: Plan) -> Iterator[_Told]:
    """Rows that are sent out, or the content before all input and its changes; in time order."""
    if isinstance(plan, st.RelationToStream):
        for emission in oracle.emissions(plan):
            yield emission.at, 1, emission.row
        return
    timeline = oracle.timeline(plan)
    yield from _signed(BEGINNING, 1, timeline.initial)
    for change in timeline.changes():
        yield from _signed(change.at, -1, change.removed)
        yield from _signed(change.at, 1, change.inserted)


def _signed(at: int, sign: int, bag: Bag) -> Iterator[_Told]:
    return ((at, sign, row) for row in in_order(bag))


def _block(plan: Plan, told: Sequence[_Told]) -> Block:
    return Block(
        arrow_columns(plan.schema, [row for _, _, row in told]),
        np.array([at for at, _, _ in told], np.int64),
        np.full(len(told), INFINITY, np.int64),
        np.array([sign for _, sign, _ in told], np.int8),
    )


def _inputs(session: Session, plan: Plan) -> Inputs:
    """The files of the streams and relations that a plan reads."""
    nodes = different_nodes(plan)
    names = {node.name for node in nodes if isinstance(node, st.Stream | st.Relation)}
    streams, relations = {}, {}
    for name in sorted(names):
        source = session.catalog.get(name)
        if isinstance(source, StreamDefinition):
            streams[name] = read_rows(source)
        elif isinstance(source, RelationDefinition):
            relations[name] = RelationHistory(read_rows(source))
    return Inputs(streams, relations)

"""`penstock run`: a script of statements, and the answers of its queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.script import ScriptFile, ScriptText, execute
from penstock.errors import count

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.reference.inputs import Inputs
    from penstock.reference.oracle import Oracle
    from penstock.reference.timeline import Bag, Row, Timeline
    from penstock.session import Outcome, Session


def run(
    script: ScriptFile = None,
    text: ScriptText = "",
    at: Annotated[
        str, typer.Option(help="Show what holds at this instant instead of every change.")
    ] = "",
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Show each row with the time in which it holds.")
    ] = False,
) -> None:
    """Run statements and print what their queries answer: every change, with its instant.

    The reference evaluator computes the answers from CSV and JSON files: exact, and meant for
    small inputs.
    """
    session, outcomes = execute(script, text)
    answered = False
    declared = None
    for outcome in outcomes:
        lines = _answer(session, outcome, at=at, intervals=intervals)
        if lines:
            typer.echo("\n".join(["", *lines] if answered else lines))
            answered = True
        declared = outcome.message
    if not answered and declared:
        typer.echo(f"{declared}; there is no query to answer", err=True)


def _answer(session: Session, outcome: Outcome, *, at: str, intervals: bool) -> list[str]:
    """What a statement answers; declarations answer nothing."""
    from penstock.cql import syntax
    from penstock.reference.oracle import Oracle
    from penstock.session import tabulated

    statement = outcome.statement
    if isinstance(statement, syntax.Show | syntax.Describe):
        return tabulated(outcome)
    if isinstance(statement, syntax.Explain):
        return [outcome.message or ""]
    is_query = isinstance(statement, syntax.CreateQuery) and statement.kind == "QUERY"
    if outcome.plan is None or not (is_query or isinstance(statement, syntax.Select)):
        return []
    columns = " | ".join(outcome.plan.schema.names)
    title = f"{outcome.name}: {columns}" if outcome.name else columns
    oracle = Oracle(_inputs(session, outcome.plan))
    lines = _intervals(outcome.plan, oracle) if intervals else _results(outcome.plan, oracle, at)
    if oracle.failures.count:
        kinds = ", ".join(name.upper() for name in oracle.failures.by_function)
        failed = count(oracle.failures.count, "expression")
        typer.echo(f"warning: {failed} failed and gave NULL ({kinds})", err=True)
    return [title, *lines]


def _inputs(session: Session, plan: Plan) -> Inputs:
    """The files of the streams and relations that a plan reads."""
    from penstock.algebra import streams as st
    from penstock.algebra.plan import different_nodes
    from penstock.catalog.definitions import RelationDefinition, StreamDefinition
    from penstock.reference.files import read_rows
    from penstock.reference.inputs import Inputs, RelationHistory

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


def _results(plan: Plan, oracle: Oracle, at: str) -> list[str]:
    from penstock.algebra import streams as st
    from penstock.algebra.time import TimeUnit
    from penstock.reference.compare import by_instant
    from penstock.streamtest.printing import print_table
    from penstock.streamtest.values import print_cell, read_instant

    unit = plan.unit or TimeUnit.TICK
    if at:
        instant = read_instant(at, unit)
        content = [(instant, _signed("", oracle.timeline(plan).at(instant)))]
    elif isinstance(plan, st.RelationToStream):
        sent = by_instant(oracle.emissions(plan))
        content = [(when, [("", row) for row in rows]) for when, rows in sent.items()]
    else:
        content = _changes(oracle.timeline(plan))

    def cells(row: Row) -> list[str]:
        return [print_cell(value, one) for value, one in zip(row, plan.schema.types, strict=True)]

    printed = [(when, [(sign, cells(row)) for sign, row in rows]) for when, rows in content]
    return print_table(printed, plan.schema.types, unit, None)


def _intervals(plan: Plan, oracle: Oracle) -> list[str]:
    """One line per row: the half-open interval in which it holds, and the row."""
    from penstock.algebra.time import BEGINNING, TimeUnit
    from penstock.reference.intervals import validities
    from penstock.streamtest.values import print_cell

    unit = plan.unit or TimeUnit.TICK
    lines = []
    for one in validities(oracle.timeline(plan)):
        start = "start" if one.start == BEGINNING else unit.format(one.start)
        cells = zip(one.row, plan.schema.types, strict=True)
        values = " | ".join(print_cell(value, type_) for value, type_ in cells)
        lines.append((f"[{start}, {unit.format(one.end)})", values))
    width = max((len(interval) for interval, _ in lines), default=0)
    return [f"{interval.ljust(width)}  {values}" for interval, values in lines]


def _signed(sign: str, bag: Bag) -> list[tuple[str, Row]]:
    from penstock.reference.timeline import in_order

    return [(sign, row) for row in in_order(bag)]


def _changes(timeline: Timeline) -> list[tuple[int, list[tuple[str, Row]]]]:
    """What was there before all input, then every change."""
    from penstock.algebra.time import BEGINNING

    content = [
        (change.at, _signed("-", change.removed) + _signed("+", change.inserted))
        for change in timeline.changes()
    ]
    initial = _signed("+", timeline.initial)
    return [(BEGINNING, initial), *content] if initial else content

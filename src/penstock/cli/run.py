"""`penstock run`: a script of statements, and the answers of its queries."""

from __future__ import annotations

from enum import Enum
from pathlib import Path  # noqa: TC003  # typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.answers import Answered, OutputOptions, failure_warning, lines_of
from penstock.cli.live import EVERY
from penstock.cli.script import ScriptFile, ScriptText, execute, read_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.reference.inputs import Inputs
    from penstock.reference.timeline import Emission, Timeline
    from penstock.session import Outcome, Session
    from penstock.spark.script import Script


class Trigger(Enum):
    """When a run ends."""

    available_now = "available-now"
    continuous = "continuous"


class Engine(Enum):
    """What computes the answers."""

    spark = "spark"
    oracle = "oracle"


def run(
    script: ScriptFile = None,
    text: ScriptText = "",
    at: Annotated[
        str, typer.Option(help="Show what holds at this instant instead of every change.")
    ] = "",
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Show each row with the time in which it holds.")
    ] = False,
    trigger: Annotated[
        Trigger,
        typer.Option(
            help="available-now: take in what is there, and end; continuous: go on until Ctrl-C."
        ),
    ] = Trigger.available_now,
    home: Annotated[
        Path | None,
        typer.Option(help="The folder of the pipeline; run again with it, and it goes on."),
    ] = None,
    master: Annotated[
        str, typer.Option(help="Spark's master URL; all cores of this machine by default.")
    ] = "local[*,4]",
    lanes: Annotated[
        int | None, typer.Option(min=1, help="How many lanes share the work of a query.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of Spark's, as key=value.")
    ] = None,
    progress: Annotated[
        float,
        typer.Option(
            min=0.0,
            envvar="PENSTOCK_PROGRESS",
            help="Seconds between lines of progress on stderr, where it is no terminal; 0: none.",
        ),
    ] = EVERY,
    engine: Annotated[
        Engine,
        typer.Option(help="oracle: the reference evaluator, on small CSV and JSON files."),
    ] = Engine.spark,
) -> None:
    """Run statements on Spark; print what queries answer, unless a sink takes it.

    By default it ends when all input that is there has been taken in, and prints every change of
    each answer, with its instant. With --trigger continuous, changes are printed as they come.
    """
    wish = OutputOptions(at, intervals)
    if engine is Engine.oracle:
        _ask_oracle(script, text, wish)
        return
    from penstock.errors import QueryError

    is_finite = trigger is Trigger.available_now
    if not is_finite and (at or intervals):
        msg = "--at and --intervals show answers that are complete"
        raise QueryError(msg, hint="Leave them out, or --trigger continuous.")
    spark_settings = _pairs(settings or [])
    understood = _understood(script, text, home)
    if not understood.asked and not understood.text:
        _say(understood, {}, wish)
        return
    if not understood.asked:
        _say(understood, {}, wish)
        typer.echo("there is no query to run", err=True)
        return
    from penstock.cli.first_use import tell_first_use
    from penstock.cli.script_run import ScriptRun

    tell_first_use()
    piping = ScriptRun(understood, master, home, lanes, spark_settings, progress)
    if is_finite:
        _say(understood, piping.run_to_end(), wish)
        piping.leave()
    else:
        _say(understood, {}, wish)
        piping.run_until_stopped()


def _understood(script: Path | None, text: str, home: Path | None) -> Script:
    """The statements, with those that the home knows; warnings are printed."""
    from penstock.errors import QueryError
    from penstock.spark.script import Script, declared_in

    if script is None and not text:
        msg = "there are no statements to read"
        raise QueryError(msg, hint='Name a file, or write -e "SELECT ...".')
    texts = [(read_script(script), str(script))] if script is not None else []
    understood = Script([*texts, (text, None)], declared_in(home))
    for warning in understood.warnings:
        typer.echo(f"warning: {warning}", err=True)
    return understood


def _pairs(settings: list[str]) -> dict[str, str]:
    from penstock.errors import QueryError

    for one in settings:
        if "=" not in one:
            msg = f'--set "{one}" has no value'
            raise QueryError(msg, hint="Write --set key=value.")
    return dict(one.split("=", 1) for one in settings)


def _say(script: Script, answers: dict[str, Answered], wish: OutputOptions) -> None:
    """Print what statements say and queries answer, in the order of the script."""
    from penstock.session import Outcome

    is_first = True
    for step in script.steps:
        if isinstance(step, Outcome):
            lines = _shown(step)
        else:
            found = answers.get(step.query)
            lines = [] if found is None else lines_of(found, wish)
        if lines:
            typer.echo("\n".join(lines if is_first else ["", *lines]))
            is_first = False


def _shown(outcome: Outcome) -> list[str]:
    """What SHOW, DESCRIBE and EXPLAIN say; other statements say nothing."""
    from penstock.cql import syntax
    from penstock.session import tabulated

    if isinstance(outcome.statement, syntax.Show | syntax.Describe):
        return tabulated(outcome)
    return [outcome.message or ""] if isinstance(outcome.statement, syntax.Explain) else []


def _ask_oracle(script: Path | None, text: str, wish: OutputOptions) -> None:
    """Let the reference evaluator answer from CSV and JSON files: exact, and slow."""
    session, outcomes = execute(script, text)
    answered = False
    declared = None
    for outcome in outcomes:
        lines = _shown(outcome) or _answer(session, outcome, wish)
        if lines:
            typer.echo("\n".join(["", *lines] if answered else lines))
            answered = True
        declared = outcome.message
    if not answered and declared:
        typer.echo(f"{declared}; there is no query to answer", err=True)


def _answer(session: Session, outcome: Outcome, wish: OutputOptions) -> list[str]:
    """What a query answers; declarations answer nothing."""
    from penstock.algebra.streams import RelationToStream
    from penstock.cql import syntax
    from penstock.reference.oracle import Oracle

    statement, plan = outcome.statement, outcome.plan
    is_query = isinstance(statement, syntax.CreateQuery) and statement.kind == "QUERY"
    if plan is None or not (is_query or isinstance(statement, syntax.Select)):
        return []
    oracle = Oracle(_inputs(session, plan))
    result: Timeline | Sequence[Emission]
    if isinstance(plan, RelationToStream) and not (wish.at or wish.intervals):
        result = oracle.emissions(plan)
    else:
        result = oracle.timeline(plan)
    lines = lines_of(Answered(outcome.name, plan, result), wish)
    if oracle.failures.count:
        typer.echo(failure_warning(oracle.failures.by_function), err=True)
    return lines


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

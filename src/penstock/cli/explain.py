"""`penstock explain`: the plan of a query as a tree, as JSON, or as a graph."""

from __future__ import annotations

import itertools
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from penstock.cli.script_text import ScriptFile, ScriptText, execute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.algebra.plan import Plan
    from penstock.catalog.definitions import Catalog
    from penstock.planner.explain.explain import Explaining
    from penstock.session import Outcome, Session


class ExplainedPlan(NamedTuple):
    """A plan that a statement made, the name it has, if any, and what is said of it.

    Of queries, `title` is what they would run as: those without a name are numbered. Where lanes
    have a budget when the statement comes, `is_scheduled`: progress charts matter.
    """

    name: str | None
    title: str
    explaining: Explaining
    is_scheduled: bool


class PlanFormat(Enum):
    """A format that a plan is printed in."""

    text = "text"
    json = "json"
    dot = "dot"
    svg = "svg"


def explain(
    script: ScriptFile = None,
    text: ScriptText = "",
    form: Annotated[
        PlanFormat, typer.Option("--format", help="text: a tree; json; dot: for Graphviz; svg.")
    ] = PlanFormat.text,
    charts: Annotated[
        bool, typer.Option("--charts", help="Progress charts, too; with svg, draw them instead.")
    ] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List the rewrite rules.")] = False,
) -> None:
    """Show the plan of every query in a script: what it means, and how it runs.

    Each line is an operator, its inputs below it. The letters behind it are the update pattern
    of its result: MON never expires, WKS expires in order of arrival, WK at a known time, STR
    may be withdrawn. Below it is the plan by which the query runs, if rewrite rules make another
    of it, with the rules that do. The last line says by which key the query can run on several
    lanes, or what keeps it on one. A progress chart says what operators leave of a block of rows,
    and after which time: by it, lanes with a budget choose what runs next.
    """
    from penstock.errors import QueryError

    if rules:
        _list_rules()
        return
    shown = _understood(*execute(script, text))
    if not shown:
        msg = "there is no query among the statements"
        raise QueryError(msg, hint="Add SELECT ..., CREATE QUERY or CREATE VIEW.")
    if charts and form is PlanFormat.dot:
        msg = "--charts draws no graph, so there is none for Graphviz"
        raise QueryError(msg, hint="Use --format svg, json or text.")
    typer.echo("\n".join(_rendered(shown, form, charts=charts)))


def _understood(session: Session, outcomes: Iterable[Outcome]) -> list[ExplainedPlan]:
    """The plans of a script: queries with those that they would be registered with."""
    from penstock.catalog.definitions import QueryDefinition
    from penstock.cql import syntax
    from penstock.expected_load import expected_by, stated_by
    from penstock.planner.explain.explain import Explaining
    from penstock.planner.physical.building import Choices
    from penstock.spark.explaining import registered_together

    plans: list[Plan] = []
    found: list[tuple[str | None, str, bool]] = []
    queries: dict[str, QueryDefinition] = {}
    alone: dict[str, Explaining] = {}
    selects = itertools.count(1)
    for outcome in outcomes:
        if outcome.plan is None:
            continue
        # Statements run one by one: each plan is shown under what is set when it comes.
        statement, plan, tactics = outcome.statement, outcome.plan, session.settings.tactics
        plans.append(plan)
        title = outcome.name or f"query {next(selects)}"
        found.append((outcome.name, title, session.settings.work.lane_budget is not None))
        runs = isinstance(statement, syntax.CreateQuery) and statement.kind == "QUERY"
        if runs or isinstance(statement, syntax.Select):
            stated = stated_by(session.catalog, plan)
            queries[title] = QueryDefinition(title, plan, "", tactics, rates=stated)
        else:
            rates = expected_by(session.catalog, [plan])
            alone[title] = Explaining({title: plan}, Choices.of(tactics), rates=rates)
    _warn_of_sources(session.catalog, plans)
    _warn_of_sinks(session.catalog)
    explaining = {**alone, **registered_together(queries, session.catalog)}
    return [
        ExplainedPlan(name, title, explaining[title], is_scheduled)
        for name, title, is_scheduled in found
    ]


def _warn_of_sources(catalog: Catalog, plans: Iterable[Plan]) -> None:
    """Say which sources of the queries could not be read as they are declared."""
    from penstock.algebra.plan import different_nodes
    from penstock.algebra.streams import Relation, Stream
    from penstock.catalog.definitions import RelationDefinition, StreamDefinition
    from penstock.cli.script_checks import check_source
    from penstock.errors import DataError

    nodes = [node for one in plans for node in different_nodes(one)]
    for name in sorted({one.name for one in nodes if isinstance(one, Stream | Relation)}):
        source = catalog.get(name)
        if not isinstance(source, StreamDefinition | RelationDefinition):
            continue
        try:
            check_source(source)
        except DataError as fault:
            typer.echo(f"warning: {fault}", err=True)


def _warn_of_sinks(catalog: Catalog) -> None:
    """Say which sinks could not be written as they are declared."""
    from penstock.catalog.definitions import SinkDefinition
    from penstock.cli.script_checks import check_sink
    from penstock.errors import DataError, QueryError
    from penstock.spark.sink_declarations import refuse_sink

    for sink in catalog:
        if not isinstance(sink, SinkDefinition):
            continue
        try:
            refuse_sink(None, sink)
            check_sink(sink)
        except (DataError, QueryError) as fault:
            typer.echo(f"warning: {fault}", err=True)


def _list_rules() -> None:
    from penstock.planner.explain.explain import described_rules

    rules = described_rules()
    width = max(len(name) for name, _ in rules)
    typer.echo("\n".join(f"{name:{width}}  {says}" for name, says in rules))


def _rendered(plans: list[ExplainedPlan], form: PlanFormat, *, charts: bool) -> Iterator[str]:
    import json

    if form is PlanFormat.json:
        found = [_json(one, charts=charts) for one in plans]
        yield json.dumps(found if len(found) > 1 else found[0], indent=2)
        return
    if form is not PlanFormat.text and charts:
        yield _drawn_charts(plans)
        return
    if form is not PlanFormat.text:
        from penstock.algebra.text import plans_dot

        # One graph for all: a picture in SVG is one document.
        named = len(plans) > 1
        graph = plans_dot(
            [one.explaining.drawn(one.title, one.title if named else None) for one in plans]
        )
        yield graph if form is PlanFormat.dot else _drawn(graph)
        return
    for number, one in enumerate(plans):
        if number:
            yield ""
        if one.name or len(plans) > 1:
            yield f"{one.title}:"
        yield one.explaining.text(one.title)
        if charts or one.is_scheduled:
            yield from one.explaining.charts(one.title).lines()


def _json(one: ExplainedPlan, *, charts: bool) -> dict[str, Any]:
    """A plan for programs."""
    found = {"name": one.name, **one.explaining.json(one.title)}
    if not charts and not one.is_scheduled:
        return found
    return {**found, "charts": one.explaining.charts(one.title).json()}


def _drawn_charts(plans: list[ExplainedPlan]) -> str:
    """The progress charts of all queries, as one picture."""
    from penstock.scheduling.chart_svg import charts_svg

    every = [one.explaining.charts(one.title) for one in plans]
    return charts_svg((path, one.labels) for one in every for path in one.paths)


def _drawn(graph: str) -> str:
    """A graph as a picture, by Graphviz.

    Raises:
        QueryError: Graphviz is not installed, or failed.
    """
    import shutil
    import subprocess

    from penstock.errors import QueryError

    program = shutil.which("dot")
    if program is None:
        msg = "--format svg needs Graphviz, and there is no command `dot`"
        raise QueryError(msg, hint="Install it (apt install graphviz), or use --format dot.")
    drawn = subprocess.run(
        [program, "-Tsvg"], input=graph, capture_output=True, encoding="utf-8", check=False
    )
    if drawn.returncode:
        msg = f"Graphviz failed: {drawn.stderr.strip()}"
        raise QueryError(msg, hint="--format dot shows what it was given.")
    return drawn.stdout

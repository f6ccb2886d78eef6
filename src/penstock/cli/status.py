"""`penstock status`: how a pipeline is doing, for people, programs and Prometheus."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.tables import scaled, size, table
from penstock.cli.work_tables import charts, intake, latencies, queues

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console, RenderableType
    from rich.table import Table

    from penstock.observe.facts import Facts, Instant, OperatorFacts, QueryFacts
    from penstock.observe.observation import Observer

EVERY = 2.0
"""Seconds between two looks with --watch."""
AGES = {"d": 86_400, "h": 3_600, "min": 60}
HomeFolder = Annotated[Path, typer.Option("--home", help="The folder of the pipeline.")]


class StatusFormat(Enum):
    """A format that the facts are printed in."""

    text = "text"
    json = "json"
    prometheus = "prometheus"


def status(
    home: HomeFolder,
    form: Annotated[
        StatusFormat,
        typer.Option("--format", help="text: tables; json; prometheus: its text format."),
    ] = StatusFormat.text,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again every two seconds, until Ctrl-C.")
    ] = False,
) -> None:
    """Show how a pipeline is doing, while it runs or after: queries, streams, state, errors.

    Everything is read from its home; the pipeline is not disturbed. The exit code is 1 if there
    is no pipeline in the folder.
    """
    from penstock.errors import PenstockError
    from penstock.observe.observation import Observer
    from penstock.store.layout import Home

    if watch and form is StatusFormat.prometheus:
        msg = "Prometheus asks again by itself; leave out --watch."
        raise typer.BadParameter(msg)
    observer = Observer(Home(home))
    try:
        if watch:
            _watch(observer, form)
        else:
            typer.echo(_printed(observer.look(), form), nl=False)
    except PenstockError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


def _printed(facts: Facts, form: StatusFormat) -> str:
    """The facts as text that ends with a line break."""
    if form is StatusFormat.json:
        return f"{_json(facts, indent=2)}\n"
    if form is StatusFormat.prometheus:
        from penstock.observe.prometheus import exposition

        return exposition(facts)
    return page(facts, _console())


def _watch(observer: Observer, form: StatusFormat) -> None:
    """Show the facts again and again: in place on a terminal, else one after the other."""
    import time

    from rich.live import Live

    console = _console()
    if form is StatusFormat.text and console.is_terminal:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(_together(observer.look()), refresh=True)
                time.sleep(EVERY)
    while True:
        facts = observer.look()
        # One JSON object a line, so that a program knows where each ends.
        text = f"{_json(facts)}\n" if form is StatusFormat.json else f"{page(facts, console)}\n"
        typer.echo(text, nl=False)
        time.sleep(EVERY)


def _json(facts: Facts, indent: int | None = None) -> str:
    import json
    from dataclasses import asdict

    return json.dumps({**asdict(facts), "commit_age": facts.commit_age}, indent=indent)


def _console() -> Console:
    """The terminal; where there is none, lines are as long as they need to be."""
    from rich.console import Console

    def console(width: int | None = None) -> Console:
        # Windows stand in square brackets, as rich's own marks do.
        return Console(width=width, highlight=False, markup=False, emoji=False)

    return console() if console().is_terminal else console(width=10_000)


def page(facts: Facts, console: Console) -> str:
    """The facts in tables; no line has spaces at its end."""
    with console.capture() as captured:
        console.print(_together(facts))
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _together(facts: Facts) -> RenderableType:
    from rich.console import Group

    return Group(*_parts(facts))


def _parts(facts: Facts) -> Iterator[RenderableType]:
    """The parts that are shown, one under the other; a table without rows is left out."""
    from rich.text import Text

    yield Text("\n".join(_head(facts)))
    tables = {
        "Queries": _queries(facts),
        "Streams": _streams(facts),
        "Retained": _retained(facts),
        "Conditions": _conditions(facts),
        "State": _state(facts),
        "In use": _in_use(facts),
        "Intake": intake(facts.work),
        "Queues": queues(facts.work),
        "Latency": latencies(facts.work),
        "Charts": charts(facts.work),
        f"Last batch (record {facts.status_record})": _batch(facts),
        "Sources": _pairs(("stream", "read up to"), _sources(facts)),
        "Sinks": _sinks(facts),
        "Disk": _disk(facts),
        "Last errors": _pairs(("ago", "error"), _errors(facts)),
    }
    for title, one in tables.items():
        if one.row_count:
            yield Text(f"\n{title}", style="bold")
            yield one
    for note in facts.notes:
        yield Text(f"\nNote: {note}.")


def _head(facts: Facts) -> Iterator[str]:
    yield f"home     {facts.home}"
    yield f"state    {_running(facts)}"
    age = _duration(facts.commit_age)
    kept = f"{facts.records} kept" if facts.records != facts.record + 1 else "all kept"
    yield f"record   {facts.record} ({facts.kind}), {age} old, {kept}"
    if facts.reading:
        yield f"files    {facts.reading}"
    for name, (rows, last) in facts.paused.items():
        yield f"paused   {name}: {rows:,} of its rows wait in lanes until {last} has come as far"
    waited_for = [one.name for one in facts.sinks if one.is_waited_for]
    if waited_for and facts.process is not None:
        yield f"waits    for sink {', '.join(waited_for)}: no rows are taken in until it is nearer"


def _running(facts: Facts) -> str:
    if not facts.is_taken:
        return "stopped"
    if facts.takes_rows is None:
        return "open; whether it takes in rows is not known yet"
    words = "running" if facts.takes_rows else "open, takes in no rows"
    return f"{words}, process {facts.process}"


def _queries(facts: Facts) -> Table:
    found = table(
        "query",
        "group",
        "lanes",
        "clock",
        "behind",
        "new results",
        "failures",
        "shed",
        "text",
        left=(0, 3, 8),
    )
    for one in facts.queries:
        found.add_row(
            one.name,
            "-" if one.group is None else str(one.group),
            str(one.lanes) if one.lanes else "-",
            _clock(one),
            _lag(one.lag, one.lag_seconds),
            "-" if one.new_results is None else f"{one.new_results:,}",
            ", ".join(f"{name.upper()} {count:,}" for name, count in one.failures.items()) or "0",
            f"{sum(one.shed.values()):,}",
            one.text,
        )
    return found


def _clock(query: QueryFacts) -> str:
    """The clock of a query, and the instant from which on it is exact."""
    if query.group is None:
        return "does not run"
    if query.catches_up:
        return "catching up"
    if query.exact_from is None:
        return _shown(query.clock)
    if query.exact_from.number is None:
        return f"{_shown(query.clock)}, not known to be exact"
    return f"{_shown(query.clock)}, exact from {query.exact_from.text}"


def _streams(facts: Facts) -> Table:
    found = table(
        "stream",
        "unit",
        "rows",
        "late",
        "aside",
        "shed",
        "rate",
        "watermark",
        "latest row",
        "values of columns",
        left=(0, 1, 7, 8, 9),
    )
    for one in facts.streams:
        counts = [f"{number:,}" for number in (one.rows, one.late, one.aside, one.shed)]
        rate = _rate(one.rate, "tick" if one.unit == "tick" else "second")
        values = ", ".join(f"{name} {count:,}" for name, count in one.values.items())
        instants = [_shown(one.watermark), _shown(one.latest)]
        found.add_row(one.name, one.unit, *counts, rate, *instants, values or "-")
    return found


def _retained(facts: Facts) -> Table:
    found = table(
        "stream", "retain", "since", "sub-windows", "rows", "bytes", "in logs", "oldest pin",
        left=(0, 1, 2),
    )  # fmt: skip
    for one in facts.retained:
        rule = one.rule if one.is_declared else f"{one.rule}, its longest window"
        counts = [f"{number:,}" for number in (one.sub_windows, one.rows)]
        sizes = [size(one.bytes), size(one.unsealed_bytes)]
        pin = "-" if one.oldest_pin is None else f"{one.oldest_pin:.0f} s"
        found.add_row(one.stream, rule, one.since or "the start", *counts, *sizes, pin)
    return found


def _conditions(facts: Facts) -> Table:
    found = table("condition", "asked of", "", "selectivity", left=(0, 2))
    for one in facts.conditions:
        what = "pairs" if one.of_pairs else "rows"
        kind = what if one.is_exact else f"{what}, a sample"
        share = "-" if one.selectivity is None else f"{one.selectivity:.3g}"
        found.add_row(one.condition, f"{one.asked:,}", kind, share)
    return found


def _state(facts: Facts) -> Table:
    found = table(
        "lane",
        "operator",
        "rows in",
        "rows out",
        "rate",
        "out/in",
        "withdrawn",
        "remembers",
        "memory",
        "seconds",
        left=(0, 1),
    )
    for one in facts.operators:
        share = "-" if one.withdrawn_share is None else f"{one.withdrawn_share:.0%}"
        ratio = "-" if one.selectivity is None else f"{one.selectivity:.3g}"
        counts = [f"{number:,}" for number in (one.rows_in, one.rows_out)]
        flow = [*counts, _rate(one.rate, one.per), ratio, share]
        kept = [f"{one.state_rows:,}", size(one.state_bytes)]
        found.add_row(_lane(one), one.label, *flow, *kept, f"{one.seconds:.3f}")
    return found


def _in_use(facts: Facts) -> Table:
    """Structures that operators chose for their rows; of joins of many, orders of probes."""
    found = table("lane", "operator", "keeps rows in", "probing", "changed", left=(0, 1, 2, 3))
    for one in (one for one in facts.operators if one.structures):
        orders = "; ".join(f"{name}: {' '.join(others)}" for name, others in one.orders.items())
        changed = f"{one.reordered:,}" if orders else "-"
        found.add_row(_lane(one), one.label, " + ".join(one.structures), orders or "-", changed)
    return found


def _lane(one: OperatorFacts) -> str:
    return f"{one.group}.{one.fragment}.{one.lane}"


def _rate(rate: float | None, per: str) -> str:
    """Rows in a step of event time.

    >>> _rate(1234.5, "second"), _rate(0.0251, "tick"), _rate(None, "tick")
    ('1,234/s', '0.0251/tick', '-')
    """
    if rate is None:
        return "-"
    number = f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}"
    return f"{number}/{'s' if per == 'second' else 'tick'}"


def _batch(facts: Facts) -> Table:
    found = table("rows", *facts.batch_seconds, left=())
    if facts.status_at is not None:
        seconds = [f"{one:.3f} s" for one in facts.batch_seconds.values()]
        found.add_row(f"{facts.batch_rows:,}", *seconds)
    return found


def _sources(facts: Facts) -> Iterator[tuple[str, str]]:
    import json

    for one in facts.sources:
        if one.files_read is None:
            yield one.stream, json.dumps(one.offset)
        else:
            files = "1 file" if one.files_read == 1 else f"{one.files_read:,} files"
            waiting = "" if one.files_waiting is None else f", {one.files_waiting:,} waiting"
            yield one.stream, files + waiting


def _sinks(facts: Facts) -> Table:
    found = table(
        "sink", "query", "format", "record", "commits behind", "results behind", "written by",
        "state", left=(0, 1, 2, 6, 7),
    )  # fmt: skip
    for one in facts.sinks:
        waited = "waited for" if one.is_waited_for else "goes on"
        counts = [f"{number:,}" for number in (one.record, one.commits, one.results)]
        state = waited if one.error is None else f"fails: {one.error}"
        found.add_row(one.name, one.query, one.format, *counts, one.way or "-", state)
    return found


def _disk(facts: Facts) -> Table:
    found = table("kind", "files", "size", left=(0,))
    for kind, one in sorted(facts.disk.items()):
        found.add_row(kind, f"{one.files:,}", size(one.bytes))
    return found


def _errors(facts: Facts) -> Iterator[tuple[str, str]]:
    for at, text in reversed(facts.errors):
        yield _duration(facts.seen_at - at), text


def _pairs(header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Table:
    found = table(*header, left=(0, 1))
    for row in rows:
        found.add_row(*row)
    return found


def _shown(instant: Instant) -> str:
    """An instant in its unit, and as a date where that is something else."""
    if instant.time is None or instant.time == instant.text:
        return instant.text
    return f"{instant.text} ({instant.time})"


def _lag(lag: int | None, seconds: float | None) -> str:
    if lag is None:
        return "-"
    return f"{lag:,}" if seconds is None else _duration(seconds)


def _duration(seconds: float) -> str:
    """A length of time in the largest unit that it has.

    >>> _duration(0.25), _duration(75), _duration(7300), _duration(200_000)
    ('0.2 s', '1.2 min', '2.0 h', '2.3 d')
    """
    return scaled(seconds, AGES) or f"{seconds:.1f} s"

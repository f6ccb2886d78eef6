"""`penstock test`: run stream tests, say what differs, or accept what was computed."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003  # typer reads the annotations when it runs
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.testing.collect import TestFile
    from penstock.testing.runner import Verdict


def run_tests(
    paths: Annotated[
        list[Path], typer.Argument(help="Files, or folders with *.stream and *.jsonl files.")
    ],
    engine: Annotated[
        str, typer.Option(help="What evaluates the queries: oracle, inline or spark.")
    ] = "oracle",
    update: Annotated[
        bool, typer.Option("--update", help="Write what was computed into the .stream files.")
    ] = False,
    wanted: Annotated[
        str, typer.Option("--filter", help="Only cases with this text in their title or path.")
    ] = "",
) -> None:
    """Run stream tests: streams in, answers at instants out, compared with what is written."""
    from penstock.testing.collect import collect
    from penstock.testing.engines import engine_called
    from penstock.testing.together import run_all

    if engine != "oracle":
        from penstock.cli.first_use import tell_first_use

        tell_first_use()
    chosen = engine_called(engine)
    files = collect(paths, wanted)
    counts: Counter[str] = Counter(passed=0, failed=0)
    with screen(sum(len(file.cases) for file in files)) as shown:
        for file in files:
            verdicts = []
            for verdict in run_all(file.cases, chosen):
                verdicts.append(verdict)
                shown.advance()
            counts.update(_conclude(file, verdicts, shown, update=update))
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    typer.echo(f"{outcomes}; {_cases(counts.total())} ran on {engine}")
    raise typer.Exit(1 if counts["failed"] else 0)


@dataclass(frozen=True)
class Screen:
    """The place for lines while tests run, and for progress."""

    say: Callable[[str], None]
    advance: Callable[[], None]
    lines_for_files: bool


@contextmanager
def screen(total: int) -> Iterator[Screen]:
    """A moving bar on a terminal; elsewhere a line for each file."""
    if not sys.stdout.isatty():
        yield Screen(typer.echo, lambda: None, lines_for_files=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("testing"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(highlight=False), transient=True) as bar:
        task = bar.add_task("", total=total)
        # Soft wrapping: a diff is read column by column, so the terminal must not reflow it.
        yield Screen(
            lambda text: bar.console.print(text, markup=False, soft_wrap=True),
            lambda: bar.advance(task),
            lines_for_files=False,
        )


def _conclude(
    file: TestFile, verdicts: Sequence[Verdict], shown: Screen, *, update: bool
) -> Counter[str]:
    """Report on a file whose cases have run, and rewrite it where that was asked for."""
    from penstock.testing.update import update as rewrite

    for note in rewrite(file, verdicts) if update else ():
        shown.say(note)
    counts: Counter[str] = Counter(passed=0, failed=0)
    for verdict in verdicts:
        if verdict.passed:
            counts["passed"] += 1
        elif update and verdict.replacements:
            counts["updated"] += 1
        else:
            counts["failed"] += 1
            shown.say(failure_text(verdict))
    if shown.lines_for_files and verdicts:
        failed = f", {counts['failed']} failed" if counts["failed"] else ""
        shown.say(f"{file.path}: {_cases(len(verdicts))}{failed}")
    return counts


def failure_text(verdict: Verdict) -> str:
    """A failed case as shown: where it stands, what it is called, what is wrong."""
    text = verdict.text.replace("\n", "\n  ")
    return f"FAILED {verdict.place}: {verdict.title}\n  {text}\n"


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"

"""`penstock run`: a script of statements, and the answers of its queries."""

from __future__ import annotations

import warnings
from enum import Enum
from pathlib import Path  # noqa: TC003  # typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.answers import OutputOptions, say
from penstock.cli.live_display import EVERY
from penstock.cli.script_text import ScriptFile, ScriptText, read_script
from penstock.cli.stopping import stop_at_once_on_signals

if TYPE_CHECKING:
    from penstock.cli.engine_choice import EngineOptions
    from penstock.spark.script import Script


class Trigger(Enum):
    """The end of a run: when there is no more input, or never."""

    available_now = "available-now"
    continuous = "continuous"


class EngineName(Enum):
    """The engine that computes the answers, by name."""

    auto = "auto"
    inline = "inline"
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
        str | None, typer.Option(help="Spark's master URL; all cores of this machine by default.")
    ] = None,
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
        EngineName,
        typer.Option(
            help="inline: in this process, without Spark; auto: that, if it is enough; oracle: the"
            " reference evaluator, on small CSV and JSON files."
        ),
    ] = EngineName.auto,
    check: Annotated[
        bool, typer.Option("--check", help="See that it could run, and run nothing.")
    ] = False,
    most_unreadable: Annotated[
        float,
        typer.Option(
            "--most-unreadable",
            min=0.0,
            max=1.0,
            help="The share of a stream's rows that may be unreadable: with more, or without one"
            " that could be read, it exits with 1.",
        ),
    ] = 1.0,
) -> None:
    """Run statements; print what queries answer, unless a sink takes it.

    By default it ends when all input that is there has been taken in, and prints every change of
    each answer, with its instant. With --trigger continuous, changes are printed as they come.
    """
    stop_at_once_on_signals()
    options = OutputOptions(at, intervals)
    if engine is EngineName.oracle:
        from penstock.cli.oracle_run import run_on_oracle

        run_on_oracle(script, text, options)
        return
    is_finite = trigger is Trigger.available_now
    _require_complete(is_finite or not at)
    spark_settings = _pairs(settings or [])
    understood = _understood(script, text, home)
    if not understood.asked:
        _say_alone(understood)
        return
    from penstock.cli.engine_choice import EngineOptions
    from penstock.cli.first_use import tell_first_use

    _refuse(understood, options)
    _check(understood, home)
    given = (("--home", home), ("--master", master), ("--set", settings))
    engine_options = EngineOptions(is_finite, tuple(name for name, one in given if one))
    is_inline, why = _choice(engine, understood, engine_options)
    if check:
        _say_it_could_run(understood, why)
        return
    tell_first_use()
    if progress:
        typer.echo(f"running {why}", err=True)
    if is_inline:
        from penstock.cli.inline_run import run_inline

        run_inline(understood, lanes, options, most_unreadable)
        return
    from penstock.cli.script_run import ScriptRun

    of_spark = _with_few_jars(spark_settings)
    ScriptRun(understood, master, home, lanes, of_spark, progress, most_unreadable).run(
        options, is_finite=is_finite
    )


def _with_few_jars(spark_settings: dict[str, str]) -> dict[str, str]:
    """Settings of a Spark that nobody but the script uses."""
    from penstock.spark.jars import SETTING

    return {SETTING: "few", **spark_settings}


def _require_complete(is_complete: bool) -> None:
    """Refuse to show an instant of what goes on."""
    from penstock.errors import QueryError

    if not is_complete:
        msg = "--at shows an answer that is complete"
        raise QueryError(msg, hint="Leave it out, or --trigger continuous.")


def _say_alone(script: Script) -> None:
    """Print what statements say that ask no query."""
    from penstock.results.paragraphs import Paragraphs

    say(script, Paragraphs(typer.echo))
    if script.text:
        typer.echo("there is no query to run", err=True)


def _say_it_could_run(script: Script, why: str) -> None:
    from penstock.errors import count

    typer.echo(f"{count(len(script.asked), 'query', 'queries')} could run {why}")


def _choice(engine: EngineName, script: Script, options: EngineOptions) -> tuple[bool, str]:
    """The choice of this process for a script, or of Spark, and a line that says why."""
    from penstock.cli.engine_choice import require_inline, said_choice

    if engine is EngineName.spark:
        return False, "on Spark, as --engine says"
    if engine is EngineName.inline:
        require_inline(script, options)
        return True, "in this process, as --engine says"
    is_inline, why = said_choice(script, options)
    return is_inline, f"{why} (--engine spark: on Spark)" if is_inline else why


def _check(script: Script, home: Path | None) -> None:
    """Refuse what cannot run, as far as it can be seen before anything starts."""
    from penstock.cli.script_checks import check_home, check_sinks, check_sources

    check_sources(script)
    check_sinks(script)
    check_home(home)


def _refuse(script: Script, options: OutputOptions) -> None:
    """Refuse what cannot be shown of an answer, before anything runs."""
    from penstock.algebra.instants import read_instant
    from penstock.results.answer_kind import require_timed, unit_of

    for asked in script.without_sinks():
        if options.is_timed:
            require_timed(asked.plan)
        if options.at:
            read_instant(options.at, unit_of(asked.plan))


def _understood(script: Path | None, text: str, home: Path | None) -> Script:
    """The statements, with those that the home knows; warnings are printed."""
    from penstock.errors import QueryError, QueryWarning
    from penstock.spark.script import Script

    if script is None and not text:
        msg = "there are no statements to read"
        raise QueryError(msg, hint='Name a file, or write -e "SELECT ...".')
    texts = [(read_script(script), str(script))] if script is not None else []
    understood = Script([*texts, (text, None)], _declared(home))
    for warning in understood.warnings:
        typer.echo(f"warning: {warning}", err=True)
    warnings.simplefilter("ignore", QueryWarning)  # They have been said.
    return understood


def _declared(home: Path | None) -> tuple[str, ...]:
    """The statements that a home has run, if there is one."""
    if home is None:
        return ()
    from penstock.spark.home_statements import declared_in  # It loads what is in homes.

    return declared_in(home)


def _pairs(settings: list[str]) -> dict[str, str]:
    from penstock.errors import QueryError

    for one in settings:
        if "=" not in one:
            msg = f'--set "{one}" has no value'
            raise QueryError(msg, hint="Write --set key=value.")
    return dict(one.split("=", 1) for one in settings)

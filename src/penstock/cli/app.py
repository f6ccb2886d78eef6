"""The typer application: the list of commands, and what becomes of their failures."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from penstock import __version__
from penstock.cli import (
    bench,
    demo,
    doctor,
    explain,
    fuzz,
    init,
    late,
    python,
    query_command,
    run,
    status,
    test,
)
from penstock.cli.stopping import plain_signals, stop_at_once_on_signals

app = typer.Typer(
    help="Continuous queries over data streams, exact at every instant, on Apache Spark.",
    no_args_is_help=True,
    add_completion=False,
    # Our bugs show as plain Python tracebacks, which can be pasted into a report.
    pretty_exceptions_enable=False,
)

# One line per command, in the order in which the help lists them.
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("run")(run.run)
app.command("query")(query_command.query)
app.command("status")(status.status)
app.command("late")(late.late)
app.command("explain")(explain.explain)
app.command("test")(test.run_tests)
app.command("python", context_settings={"ignore_unknown_options": True})(python.python)
app.command("fuzz")(fuzz.fuzz)
app.command("bench")(bench.bench)
app.command("doctor")(doctor.doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Options of `penstock` itself, before the command's name."""
    if context.invoked_subcommand != "run":
        plain_signals()


def main() -> None:
    """Run the command line: 0 done, 1 a check failed, 2 the user can mend it, 130 Ctrl-C."""
    stop_at_once_on_signals()
    try:
        app(prog_name="penstock")
    except Exception as error:
        # Here because only a failure needs it.
        from penstock.errors import InternalError, PenstockError

        if not isinstance(error, PenstockError) or isinstance(error, InternalError):
            raise
        typer.echo(str(error), err=True)
        sys.exit(2)
    finally:
        _flush_quietly()


def _flush_quietly() -> None:
    """Flush stdout; if its reader left (`| head`), make sure Python does not complain at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

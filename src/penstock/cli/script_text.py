"""Statements for `run` and `explain`: from a file, from the command line, or both."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.session import Outcome, Session

ScriptFile = Annotated[
    Path | None, typer.Argument(help="A file of statements, ended by semicolons.")
]
ScriptText = Annotated[
    str, typer.Option("-e", "--execute", help="Statements to read after the file, if any.")
]


def execute(script: Path | None, text: str) -> tuple[Session, Iterator[Outcome]]:
    """Statements to run one by one in a new session; warnings go to stderr.

    Raises:
        PenstockError: There is nothing to read, or a statement is at fault.
    """
    from penstock.errors import QueryError
    from penstock.session import Session

    if script is None and not text:
        msg = "there are no statements to read"
        raise QueryError(msg, hint='Name a file, or write -e "SELECT ...".')
    session = Session()
    file = session.run(read_script(script), str(script)) if script is not None else ()
    return session, _warned(session, chain(file, session.run(text)))


def _warned(session: Session, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    for outcome in outcomes:
        for warning in session.warnings_of(outcome):
            typer.echo(f"warning: {warning}", err=True)
        yield outcome


def read_script(script: Path) -> str:
    """The statements of a file, with paths as they are seen from where it is.

    Raises:
        DataError: It cannot be read.
    """
    from penstock.errors import DataError

    try:
        text = script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        msg = f"cannot read {script}: {reason}"
        raise DataError(msg) from None
    # The parser is loaded only where there is something to read.
    from penstock.cli.script_paths import with_whole_paths

    return with_whole_paths(text, script.absolute().parent)

"""`penstock python`: a Python prompt, or a Python script, with the package at hand."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

_BEGINNING = "import penstock; db = penstock.connect_inline()"


def python(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="What Python is given, such as a script; without it, a prompt."),
    ] = None,
) -> None:
    """Start the Python that has Penstock: a prompt with a connection `db`, or a script."""
    sys.stdout.flush()
    given = arguments or []
    if not given and sys.stdin.isatty():
        typer.echo(f">>> {_BEGINNING}", err=True)
        given = ["-i", "-c", _BEGINNING]
    os.execv(sys.executable, [sys.executable, *given])

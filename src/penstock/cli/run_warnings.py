"""Warnings at the end of a run: rows that were not taken in, and expressions that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from penstock.catalog.definitions import StreamDefinition
from penstock.cli.answers import failure_warning
from penstock.cli.late import rejected_lines
from penstock.errors import count
from penstock.files.folders import declared_folder, is_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.connection.connection import Connection
    from penstock.spark.script import Script

SOME = 3
"""So many rows that were not taken in are shown of each stream."""


def warn(db: Connection, script: Script, most_unreadable: float) -> bool:
    """Say what was not taken in, and what failed.

    Args:
        db: What has run the script.
        script: The script.
        most_unreadable: The share of a stream's rows that may be unreadable.

    Returns:
        Whether more could not be read of a stream, or nothing of it.
    """
    progress = db.engine.progress()
    for note in progress["notes"]:
        typer.echo(f"note: {note}", err=True)
    unread = []
    for name, one in progress["streams"].items():
        _warn_of_stream(db, name, one)
        if not one["rows"]:
            _warn_of_nothing(db, name)
        if _is_unread(one, most_unreadable):
            unread.append(f'{one["aside"]:,} of {count(one["rows"], "row")} of stream "{name}"')
    for asked in script.asked:
        query = progress["queries"][asked.query]
        if query["failures"]:
            typer.echo(failure_warning(query["failures"]), err=True)
        for stream, rows in query["shed"].items():
            shed = f'{count(rows, "row")} of stream "{stream}" were shed'
            typer.echo(f"warning: the answer is of a sample: {shed}", err=True)
    if unread:
        typer.echo(f"failed: {' and '.join(unread)} could not be read", err=True)
    return bool(unread)


def _is_unread(stream: Mapping[str, Any], most: float) -> bool:
    rows, aside = stream["rows"], stream["aside"]
    return bool(aside) and (aside == rows or aside > most * rows)


def _warn_of_stream(db: Connection, name: str, stream: Mapping[str, Any]) -> None:
    if stream["late"]:
        late = count(stream["late"], "row")
        how = _slack_hint(db, name, stream["late_by"])
        typer.echo(f'warning: {late} of stream "{name}" came too late, {how}', err=True)
    if stream["aside"]:
        aside = count(stream["aside"], "row")
        typer.echo(f'warning: {aside} of stream "{name}" could not be read', err=True)
    if stream["late"] or stream["aside"]:
        _show_some(db, name)


def _warn_of_nothing(db: Connection, name: str) -> None:
    """Say that a stream had no rows at all, which is more often a wrong path than meant."""
    stream = db.engine.catalog.find(name, "stream")
    assert isinstance(stream, StreamDefinition)
    why = ""
    if stream.format is not None and is_folder(stream):
        folder = declared_folder(stream)
        is_there = folder.new_files(())
        why = f": {folder} has none" if is_there else f": there is no file {folder}"
        if folder.path.is_dir() and folder.pattern is None and not is_there:
            why = f": there is no file in {folder}"
    typer.echo(f'warning: stream "{name}" brought no rows{why}', err=True)


def _slack_hint(db: Connection, name: str, late_by: int) -> str:
    """By how much rows were late, and the slack that would have taken them in."""
    stream = db.engine.catalog.find(name, "stream")
    assert isinstance(stream, StreamDefinition)
    unit, column = stream.unit, stream.time_column
    slack = unit.length(stream.slack + late_by)
    interval = slack if unit.micros is None else f"INTERVAL {slack}"
    by = unit.length(late_by).lower()
    return f"by up to {by}: WATERMARK FOR {column} AS {column} - {interval} takes them in"


def _show_some(db: Connection, stream: str) -> None:
    """Show the first rows of a stream that were not taken in."""
    rows = db.late(stream).to_arrow()
    for line in rejected_lines(rows.slice(0, SOME)):
        typer.echo(f"  {line}", err=True)
    if len(rows) > SOME:
        typer.echo(f"  ... and {len(rows) - SOME:,} more", err=True)

"""`penstock late`: the rows that a pipeline did not take in, and why."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.status import HomeFolder  # noqa: TC001  # typer reads it

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


class LateFormat(Enum):
    """A format that the rows are printed in."""

    text = "text"
    csv = "csv"
    json = "json"


def late(
    stream: Annotated[str, typer.Argument(help="The stream.")],
    home: HomeFolder,
    form: Annotated[
        LateFormat, typer.Option("--format", help="text; csv with all columns; json, a row a line.")
    ] = LateFormat.text,
) -> None:
    """Show the rows of a stream that were not taken in: late, without a time, or unreadable.

    They are kept in the home of the pipeline, which may run, until there are 256 MB of them.
    """
    import sys

    from penstock.observe.observation import Observer
    from penstock.store.layout import Home

    rows = Observer(Home(home)).late(stream)
    if form is LateFormat.csv:
        from pyarrow.csv import write_csv

        sys.stdout.flush()
        write_csv(rows, sys.stdout.buffer)
    elif form is LateFormat.json:
        import json

        for row in rows.to_pylist():
            typer.echo(json.dumps(row, default=str))
    else:
        for line in rejected_lines(rows):
            typer.echo(line)


def rejected_lines(rows: pa.Table) -> Iterator[str]:
    """A line for each row that was not taken in: why, what there is of it, and where it stands."""
    from penstock.store.rejected_rows import POSITION, REASON, TEXT

    for row in rows.to_pylist():
        reason, place, text = (row.pop(name) for name in (REASON, POSITION, TEXT))
        values = " | ".join("NULL" if one is None else str(one) for one in row.values())
        where = "" if place is None else f"  ({place})"
        yield f"{reason}: {values if text is None else text}{where}"

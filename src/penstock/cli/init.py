"""`penstock init`: a small project that runs, to begin with."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # typer reads it
from typing import Annotated

import typer

FILES = {
    "sensors.csv": (
        "at,room,degrees\n"
        "2026-01-01 08:00:00,kitchen,19.5\n"
        "2026-01-01 08:10:00,cellar,11.0\n"
        "2026-01-01 08:20:00,kitchen,22.5\n"
        "2026-01-01 08:50:00,cellar,10.0\n"
        "2026-01-01 09:30:00,kitchen,24.0\n"
    ),
    "sensors.cql": (
        "-- Readings of thermometers. Paths are seen from the folder of this script.\n"
        "CREATE STREAM sensors (\n"
        "    at TIMESTAMP, room STRING, degrees DOUBLE,\n"
        "    WATERMARK FOR at AS at - INTERVAL 5 MINUTES\n"
        ") USING csv OPTIONS (path 'sensors.csv');\n"
        "\n"
        "-- The warmest reading of the last hour in each room, at every instant.\n"
        "CREATE QUERY warmest AS\n"
        "SELECT room, MAX(degrees) AS degrees FROM sensors [RANGE 1 HOUR] GROUP BY room;\n"
    ),
    "sensors.stream": (
        "# What comes in, when, and what the answer must be: ./penstock test\n"
        "\n"
        "CREATE STREAM sensors (\n"
        "    at TIMESTAMP, room STRING, degrees DOUBLE, WATERMARK FOR at AS at\n"
        ");\n"
        "\n"
        "day 2026-01-01\n"
        "rows sensors\n"
        "at    | room    | degrees\n"
        "08:00 | kitchen |    19.5\n"
        "08:20 | kitchen |    22.5\n"
        "\n"
        "case a reading counts for an hour\n"
        "\n"
        "query\n"
        "SELECT room, MAX(degrees) AS degrees FROM sensors [RANGE 1 HOUR] GROUP BY room;\n"
        "\n"
        "changes\n"
        "@08:00:00  + kitchen | 19.5\n"
        "@08:20:00  - kitchen | 19.5\n"
        "           + kitchen | 22.5\n"
        "@09:20:00  - kitchen | 22.5\n"
    ),
}
"""The files of a project, by name."""


def init(
    folder: Annotated[Path, typer.Argument(help="The folder to make; it may be there, empty.")],
) -> None:
    """Write a small project: statements, their data, and a stream test. It runs as it is."""
    from penstock.errors import DataError

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            msg = f"there are files in {folder} already"
            raise DataError(msg, hint="Name a folder that is empty or not there yet.")
        for name, content in FILES.items():
            (folder / name).write_text(content, "utf-8")
    except OSError as fault:
        msg = f"the folder {folder} cannot be written: {fault.strerror}"
        raise DataError(msg, hint="Choose another path.") from None
    typer.echo(f"{folder} has {', '.join(FILES)}. Go on with:")
    typer.echo(f"  penstock run {folder / 'sensors.cql'}")
    typer.echo(f"  penstock test {folder}")

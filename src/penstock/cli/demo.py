"""`penstock demo`: a highway with a rush hour and an accident, watched by continuous queries."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.connection.connection import Connection
    from penstock.demo.board import Board


def demo(
    rows: Annotated[int, typer.Option(min=1000, help="Vehicles seen by detectors, in all.")] = (
        300_000
    ),
    out: Annotated[Path, typer.Option(help="Where the picture is written, a PNG.")] = Path(
        "highway.png"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Another seed makes other traffic.")] = 1,
    seconds: Annotated[
        float, typer.Option(min=0.0, help="How long the traffic takes to go in, at least.")
    ] = 30.0,
    home: Annotated[
        Path | None,
        typer.Option(help="A new folder for the pipeline, which is kept; else it is removed."),
    ] = None,
    master: Annotated[str, typer.Option(help="Spark's master URL.")] = "local[*,4]",
) -> None:
    """Four hours on a highway in about a minute: find the congestion that an accident makes.

    Traffic is generated and fed to a pipeline on Spark; its queries find congested stations (an
    average over a sliding window), crawling lanes (DISTINCT) and travel times (a join of two
    stations), live. A picture is written at the end. Ctrl-C ends it without one.
    """
    _require_place(out, home)
    typer.echo(f"generating {rows:,} rows and starting Spark, which takes some ten seconds")

    import penstock
    from penstock.demo.driving import Demonstration
    from penstock.demo.highway import traffic
    from penstock.demo.live import console, shown
    from penstock.demo.plot import write_picture
    from penstock.spark.jars import SETTING

    made = traffic(rows, seed)
    try:
        few = {SETTING: "few"}
        with penstock.connect(master, home, settings=few) as db, _quiet_end(db):
            demonstration = Demonstration(db)
            with shown(demonstration, console()) as look:
                demonstration.drive(made, look, seconds)
            taken = demonstration.rows
    except KeyboardInterrupt:
        typer.echo("interrupted: the pipeline has been stopped, there is no picture", err=True)
        raise typer.Exit(130) from None
    write_picture(demonstration.board, out)
    typer.echo(_summary(demonstration.board, taken, out, home))


@contextmanager
def _quiet_end(db: Connection) -> Iterator[None]:
    """After Ctrl-C, let Spark not log that a micro-batch was about to begin."""
    from penstock.spark.spark_engine import spark_engine

    try:
        yield
    except KeyboardInterrupt:
        spark_engine(db).spark.sparkContext.setLogLevel("OFF")
        raise


def _require_place(out: Path, home: Path | None) -> None:
    """See that all can be drawn and written, before a minute is spent.

    Raises:
        PenstockError: Something is missing, or there is no place.
    """
    from importlib.util import find_spec

    from penstock.errors import DataError, PenstockError

    if find_spec("matplotlib") is None:
        msg = "the demonstration ends with a picture, and there is no matplotlib to draw it"
        raise PenstockError(msg, hint="Install it: pip install 'penstock[pictures]'.")
    if not out.parent.is_dir():
        msg = f"there is no folder {out.parent} for the picture"
        raise DataError(msg, hint="Make it first, or name another place with --out.")
    if home is not None and home.exists() and (not home.is_dir() or any(home.iterdir())):
        msg = f"{home} is not an empty folder"
        raise DataError(msg, hint="The demonstration begins anew: name a new folder with --home.")


def _summary(board: Board, rows: int, out: Path, home: Path | None) -> str:
    """A summary of the demonstration, and what to look at next."""
    from penstock.demo.highway import ACCIDENT

    found = ", ".join(str(one) for one in sorted({one[0] for one in board.all_congestions()}))
    truth = ", ".join(str(one) for one in ACCIDENT.jams())
    status = "" if home is None else f"\n  ./penstock status --home {home}"
    return f"""\
{rows:,} rows taken in, {board.trips:,} trips joined.
Congested stations: {found or "none"}. Stations with a queue in the truth: {truth}.

Look at {out}: average speeds, the congestions that were found, and the truth.
Then:{status}
  docs/users/demo.md      the queries, and what else to ask
  docs/users/language.md  the language"""

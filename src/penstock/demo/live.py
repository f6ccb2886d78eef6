"""The display of the demonstration: the road on a terminal, lines of text elsewhere."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.demo.highway import LANES, STATIONS
from penstock.demo.scenario import THRESHOLD, TRIP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from penstock.demo.board import Board
    from penstock.demo.driving import Demonstration

LINE_SECONDS = 5.0
"""Without a terminal there is a line about so often."""
LATEST_EVENTS = 6
_COLOURS = {THRESHOLD: "red", 22.0: "yellow", 27.0: "green"}
"""Speeds below these have these colours."""


def console() -> Console:
    """The terminal that the demonstration is shown on."""
    return Console(highlight=False, markup=False, emoji=False)


@contextmanager
def shown(demonstration: Demonstration, where: Console) -> Iterator[Callable[[], None]]:
    """Show a demonstration; what is yielded brings the display up to date."""
    if not where.is_terminal:
        yield _Lines(demonstration, where).look
        return
    with Live(console=where, auto_refresh=False) as live:
        yield lambda: live.update(page(demonstration), refresh=True)


def page(demonstration: Demonstration) -> RenderableType:
    """The road as the queries see it."""
    board = demonstration.board
    with board.lock:
        latest = [str(one) for one in board.events[-LATEST_EVENTS:]]
        return Group(Text(_headline(demonstration)), _road(board), *map(Text, latest))


class _Lines:
    """Events as they come, and now and then how far things are."""

    def __init__(self, demonstration: Demonstration, where: Console) -> None:
        self._demonstration = demonstration
        self._where = where
        self._events = 0
        self._said = time.monotonic()

    def look(self) -> None:
        with self._demonstration.board.lock:
            news = self._demonstration.board.events[self._events :]
        self._events += len(news)
        for event in news:
            self._where.print(str(event), soft_wrap=True)
        if time.monotonic() - self._said > LINE_SECONDS:
            self._said = time.monotonic()
            self._where.print(_headline(self._demonstration), soft_wrap=True)


def _headline(demonstration: Demonstration) -> str:
    clock, rows = demonstration.clock, demonstration.rows
    if not rows:
        return "waiting for the first micro-batch, which starts the workers"
    elapsed = time.monotonic() - demonstration.began
    when = "the end" if demonstration.is_over else "--:--:--"
    when = when if clock is None else f"{clock:%H:%M:%S}"
    speed = f"{rows / max(elapsed, 1.0):,.0f} a second"
    return f"{when}  {rows:,} rows, {speed}{_trips(demonstration.board)}"


def _trips(board: Board) -> str:
    with board.lock:
        if not board.trip_seconds:
            return ""
        seconds = sum(board.trip_seconds) / len(board.trip_seconds)
    return f"; from station {TRIP[0]} to {TRIP[1]} in {seconds / 60:.1f} minutes"


def _road(board: Board) -> Table:
    """A column per station: its average speed, whether it is congested, and its lanes."""
    table = Table(box=None, padding=(0, 0, 0, 1), show_header=False, pad_edge=False)
    table.add_column(justify="left")
    stations = range(1, STATIONS + 1)
    for _ in stations:
        table.add_column(justify="right", width=2)
    table.add_row("station", *(f"{one}" for one in stations), style="dim")
    table.add_row("m/s", *(_speed(board.speeds.get(one)) for one in stations))
    for lane in range(LANES, 0, -1):
        table.add_row(f"lane {lane}", *(_detector(board, one, lane) for one in stations))
    table.add_row("congested", *(_mark(one in board.congested) for one in stations))
    return table


def _speed(speed: float | None) -> Text:
    if speed is None:
        return Text("-", style="dim")
    colour = next((one for limit, one in _COLOURS.items() if speed < limit), "bright_green")
    return Text(f"{speed:.0f}", style=colour)


def _detector(board: Board, station: int, lane: int) -> Text:
    if (station, lane) in board.crawling:
        return Text("▂▂", style="red")
    return Text("·", style="dim")


def _mark(is_congested: bool) -> Text:
    return Text("██" if is_congested else "", style="red")

"""A display of a pipeline while a command waits for it: in place on a terminal, else in lines."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from rich.console import RenderableType
    from rich.live import Live

    from penstock.algebra.time import TimeUnit
    from penstock.connection.connection import Connection

EVERY = 5.0
"""Seconds between two lines."""
REFRESH = 0.5
"""Seconds between two looks at a terminal."""
_SIZES = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


class Display:
    """Shows rows in and out, clocks, lags and the size of the state, on stderr.

    Args:
        db: What is shown.
        every: Seconds between two lines where there is no terminal; 0 shows nothing.
        began: When it was begun, by the monotonic clock; None: now.
    """

    def __init__(self, db: Connection, every: float = EVERY, began: float | None = None) -> None:
        self._db = db
        self._every = every
        self._shown_at = time.monotonic()
        self._began = self._shown_at if began is None else began
        self._rows = _rows_in(db.engine.progress())
        self._rows_at = self._shown_at
        self._speed = 0.0
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and self._every:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False, markup=False, emoji=False)
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, text: str) -> None:
        """Print results; on a terminal above the display."""
        if self._live is not None and sys.stdout.isatty():
            self._live.console.print(text, soft_wrap=True)
        else:
            typer.echo(text)

    def update(self, errors: Mapping[str, str]) -> None:
        """Look at the pipeline, and show how it is doing if it is time to.

        Args:
            errors: Why sinks do not get on, by name.
        """
        now = time.monotonic()
        if now - self._shown_at < (REFRESH if self._live is not None else self._every):
            return
        if not self._every:
            return
        self._shown_at = now
        progress = self._db.engine.progress()
        self._measure(_rows_in(progress), now)
        if self._live is not None:
            self._live.update(self._table(progress, errors), refresh=True)
        else:
            typer.echo(self._line(progress, errors), err=True)

    def _measure(self, rows: int, now: float) -> None:
        self._speed = (rows - self._rows) / max(now - self._rows_at, 1e-9)
        self._rows, self._rows_at = rows, now

    def _head(self, progress: Mapping[str, Any]) -> str:
        streams = progress["streams"].values()
        passed = f"{time.monotonic() - self._began:.0f} s"
        if not self._rows:
            return f"{passed}, planned, waiting for the first rows"
        parts = [
            passed,
            f"{self._rows:,} rows in",
            f"{self._speed:,.0f} rows/s",
            f"state {progress['state']['rows']:,} rows, {_size(progress['state']['bytes'])}",
        ]
        for part in ("late", "aside"):
            number = sum(one[part] for one in streams)
            parts += [f"{number:,} {part}"] if number else []
        return ", ".join(parts)

    def _queries(self, progress: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
        """Of each query its name, rows out, clock and lag."""
        found = []
        for name, one in progress["queries"].items():
            unit = self._unit(name)
            clock = "-" if one["clock"] is None else unit.format(one["clock"])
            found.append((name, f"{one['elements']:,}", clock, _lag(one["lag"], unit)))
        return found

    def _unit(self, query: str) -> TimeUnit:
        from penstock.algebra.time import TimeUnit

        return self._db[query].plan.unit or TimeUnit.TICK

    def _line(self, progress: Mapping[str, Any], errors: Mapping[str, str]) -> str:
        """All of it in one line."""
        queries = [
            f"{name}: {rows} out, clock {clock}, lag {lag}"
            for name, rows, clock, lag in self._queries(progress)
        ]
        failing = [f'sink "{name}" fails: {why}' for name, why in errors.items()]
        if not self._rows:
            return "; ".join([self._head(progress), *failing])
        return "; ".join([self._head(progress), *queries, *failing])

    def _table(self, progress: Mapping[str, Any], errors: Mapping[str, str]) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        table.add_column("query")
        for name in ("rows out", "clock", "lag"):
            table.add_column(name, justify="right")
        for row in self._queries(progress):
            table.add_row(*row)
        failing = [Text(f'sink "{name}" fails: {why}') for name, why in errors.items()]
        return Group(Text(self._head(progress)), table, *failing)


def _rows_in(progress: Mapping[str, Any]) -> int:
    return sum(one["rows"] for one in progress["streams"].values())


def _lag(lag: int | None, unit: TimeUnit) -> str:
    if lag is None:
        return "-"
    return str(lag) if unit.micros is None else f"{lag * unit.micros / 1e6:,.1f} s"


def _size(number: int) -> str:
    for one, name in _SIZES:
        if number >= one:
            return f"{number / one:.1f} {name}"
    return f"{number} B"

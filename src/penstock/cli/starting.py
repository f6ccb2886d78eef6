"""The start of Spark: it takes a while, in a thread, while this one says so and takes signals."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

Started = TypeVar("Started")

_LOOK_SECONDS = 0.1
_TERMINAL_SECONDS = 0.5
"""Seconds between two looks of somebody at a terminal."""


class StartDisplay:
    """Says how long a start takes, from its first moment, on stderr.

    Args:
        what: What is being started.
        every: Seconds between two lines where there is no terminal; 0 shows nothing.
    """

    def __init__(self, what: str, every: float) -> None:
        self._what = what
        self._on_terminal = sys.stderr.isatty()
        self._every = _TERMINAL_SECONDS if self._on_terminal and every else every
        self._began = self._shown = time.monotonic()
        if every:
            self._show(0.0)

    def update(self) -> None:
        """Say how long it takes, if it is time to."""
        now = time.monotonic()
        if self._every and now - self._shown >= self._every:
            self._shown = now
            self._show(now - self._began)

    def end(self) -> None:
        """Leave nothing on a terminal."""
        if self._on_terminal and self._every:
            typer.echo("\r\033[K", nl=False, err=True)

    def _show(self, seconds: float) -> None:
        line = f"{seconds:.0f} s, {self._what}"
        typer.echo(
            f"\r\033[K{line}" if self._on_terminal else line, nl=not self._on_terminal, err=True
        )


def started(
    begin: Callable[[], Started], display: StartDisplay, meanwhile: Callable[[], None]
) -> Started:
    """The result of a function; signals are handled while it runs, and other work is done.

    In the main thread Spark would take their place, and a signal would cut off a call to Java.
    """
    found: list[Started] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            found.append(begin())
        except BaseException as failure:  # Raised again, by who waits.
            failures.append(failure)

    thread = threading.Thread(target=work, name="penstock start", daemon=True)
    other = threading.Thread(target=meanwhile, name="penstock load", daemon=True)
    for one in (thread, other):
        one.start()
    while thread.is_alive() or other.is_alive():
        (thread if thread.is_alive() else other).join(_LOOK_SECONDS)
        display.update()
    display.end()
    if failures:
        raise failures[0]
    return found[0]

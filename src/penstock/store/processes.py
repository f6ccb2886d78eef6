"""Processes of this machine, by number: which are there, and which of them go on."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

HUNG_SECONDS = 10.0
"""A process that has shown no sign of life for so long, though it has work, hangs."""


def is_alive(process: int) -> bool:
    """There is such a process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def end(process: int) -> None:
    """End a process that may not be able to end by itself, and wait until it has."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    # Its sockets are closed when it is a zombie, and not when its memory is gone.
    while (_fields(process) or ["Z"])[0] not in "ZX":
        time.sleep(0.01)


class SignsOfLife(NamedTuple):
    """The traces that a process which goes on leaves: what it does now, its CPU time, its bytes."""

    state: str
    ticks: int
    moved: int


def signs_of_life(process: int) -> SignsOfLife | None:
    """The signs of life of a process so far; None if it has ended, or nothing can be known."""
    fields = _fields(process)
    try:
        lines = (Path("/proc") / str(process) / "io").read_text("utf-8").split()
    except OSError:
        return None
    if fields is None or fields[0] == "Z":
        return None
    # The first two of the lines are the characters read and written.
    ticks, moved = int(fields[11]) + int(fields[12]), int(lines[1]) + int(lines[3])
    return SignsOfLife(fields[0], ticks, moved)


def _fields(process: int) -> list[str] | None:
    """The facts that the system has of a process, from its state on; None if it is not there."""
    try:
        text = (Path("/proc") / str(process) / "stat").read_text("utf-8")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


class LifeWatch:
    """Tells a process that hangs from one that is slow.

    A slow one uses the processor, or moves bytes, or waits for its turn at either. One that was
    stopped, or waits for what never comes, does nothing of it.

    Args:
        process: The number of the process.
        patience: So many seconds it may show no sign of life.
    """

    def __init__(self, process: int, patience: float = HUNG_SECONDS) -> None:
        self._process = process
        self._patience = patience
        self._seen = signs_of_life(process)
        self._since = time.monotonic()

    @property
    def is_hung(self) -> bool:
        """It has shown no sign of life for too long, as far as was looked."""
        found = signs_of_life(self._process)
        is_waiting = found is not None and found.state in "RD"
        if found is None or is_waiting or found != self._seen:
            self._seen, self._since = found, time.monotonic()
        return time.monotonic() - self._since > self._patience

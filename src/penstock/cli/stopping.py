"""Stopping at once, on Ctrl-C or SIGTERM: while there is nothing that has to be put in order."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stop_at_once_on_signals() -> None:
    """Let a signal end this process, and those that it has started, with one line.

    Signals that `./penstock` holds back until now are answered at once.
    """
    for number in SIGNALS:
        signal.signal(number, stop_at_once)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def plain_signals() -> None:
    """Let signals do what they do to any Python program."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def stop_at_once(number: int, frame: FrameType | None = None) -> NoReturn:
    """End this process, and those that it has started.

    Args:
        number: The signal that wants it: the exit code is what shells say of it.
        frame: Of no interest.
    """
    del frame
    # Not by way of Python's files: the signal may have come while one of them was written.
    with contextlib.suppress(OSError):
        os.write(2, b"stopped.\n")
    for process in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    os._exit(128 + number)


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # Behind the name, which may have anything in it, are the state and the parent.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found = list(parents.get(process, ()))
    for one in found:
        found += parents.get(one, ())
    return found

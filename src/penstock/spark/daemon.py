"""Spark's daemon for Python workers, with what they need loaded before they are forked.

A worker then starts at once, and the collection of garbage after each task, which Spark asks for,
does not look at all the modules again. Workers that were stopped are ended, so that Spark runs
their tasks again: it would wait for them for ever. Named in `spark.python.daemon.module`.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.store.processes import HUNG_SECONDS, signs_of_life

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

LOOK_SECONDS = 1.0
"""So often workers are looked at."""
_DEATH_SIGNAL = 1
"""Linux' PR_SET_PDEATHSIG."""

LOADED = (
    "pandas",
    "pyarrow",
    "pyspark.worker",
    "penstock.spark.tasks",
    "penstock.pipeline.file_rows",
)
"""What every worker would load at its first task; Spark itself asks for pandas."""


def quiet(
    worker: Callable[[socket.socket, bool], int],
) -> Callable[[socket.socket, bool], int]:
    """A worker that says nothing when Spark ends and closes its pipe."""

    def work(channel: socket.socket, authenticated: bool) -> int:
        try:
            return worker(channel, authenticated)
        except BrokenPipeError:
            return 1

    return work


def bound_to_parent(
    worker: Callable[[socket.socket, bool], int],
) -> Callable[[socket.socket, bool], int]:
    """A worker that ends with the process that forked it, so that Spark starts both anew.

    Else it would go on without anybody who ends it, or the processes that it starts.
    """
    parent = os.getpid()

    def work(channel: socket.socket, authenticated: bool) -> int:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
            if os.getppid() != parent:
                return 1  # It was too late to be told.
        return worker(channel, authenticated)

    return work


class Overseer:
    """Ends workers that have been stopped for long; called now and then in the daemon."""

    def __init__(self, patience: float = HUNG_SECONDS) -> None:
        self._patience = patience
        self._stopped: dict[int, float] = {}

    def look(self) -> None:
        """See which workers are stopped, and end those that have been so for too long."""
        now = time.monotonic()
        stopped = [one for one in _children() if _is_stopped(one)]
        self._stopped = {one: self._stopped.get(one, now) for one in stopped}
        for process, since in self._stopped.items():
            if now - since > self._patience:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def watch(self) -> None:
        """Look now and then from now on; workers that are forked do not inherit that."""
        signal.signal(signal.SIGALRM, lambda _signal, _frame: self.look())
        signal.setitimer(signal.ITIMER_REAL, LOOK_SECONDS, LOOK_SECONDS)


def _children() -> list[int]:
    """The processes that this one has forked, where Linux says so."""
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text("utf-8")
    except OSError:
        return []
    return [int(one) for one in text.split()]


def _is_stopped(process: int) -> bool:
    found = signs_of_life(process)
    return found is not None and found.state in "Tt"


def load() -> None:
    """Load what workers need: modules, and the compiled loops that divide rows among lanes."""
    for name in LOADED:
        importlib.import_module(name)
    from penstock.pipeline.row_division import load_loops

    load_loops()


if __name__ == "__main__":
    from pyspark import daemon

    load()
    Overseer().watch()
    gc.collect()
    gc.freeze()
    vars(daemon)["worker"] = bound_to_parent(quiet(daemon.worker))
    daemon.manager()

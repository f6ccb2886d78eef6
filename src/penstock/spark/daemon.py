"""Spark's daemon for Python workers, with what they need loaded before they are forked.

A worker then starts at once, and the collection of garbage after each task, which Spark asks for,
does not look at all the modules again. Named in `spark.python.daemon.module`.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

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


def load() -> None:
    """Load what workers need: modules, and the compiled loops that divide rows among lanes."""
    for name in LOADED:
        importlib.import_module(name)
    from penstock.pipeline.row_division import load_loops

    load_loops()


if __name__ == "__main__":
    from pyspark import daemon

    load()
    gc.collect()
    gc.freeze()
    vars(daemon)["worker"] = bound_to_parent(quiet(daemon.worker))
    daemon.manager()

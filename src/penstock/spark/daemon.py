"""Spark's daemon for Python workers, with what they need loaded before they are forked.

A worker then starts at once, and the collection of garbage after each task, which Spark asks for,
does not look at all the modules again. Named in `spark.python.daemon.module`.
"""

from __future__ import annotations

import gc
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

LOADED = ("pandas", "pyarrow", "pyspark.worker", "penstock.spark.tasks")
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


if __name__ == "__main__":
    from pyspark import daemon

    for name in LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    vars(daemon)["worker"] = quiet(daemon.worker)
    daemon.manager()

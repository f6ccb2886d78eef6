"""One core for everybody: libraries are told to use one thread, and time is CPU time.

Imports only the standard library: the settings have to be made before the libraries load.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def use_one_thread() -> None:
    """Let Polars, NumPy, numba and Arrow compute in one thread; call before they are imported."""
    for name in THREADS:
        os.environ[name] = "1"
    import pyarrow as pa

    pa.set_cpu_count(1)


@dataclass(frozen=True, slots=True)
class Seconds:
    """The time that something took: the CPU time of all threads, and the time on the wall."""

    cpu: float
    wall: float


class Stopwatch:
    """Measures from its making on.

    Speeds are computed from CPU time. In one thread it equals the time on the wall, unless other
    programs want the core too; and a library that uses more threads than told gains nothing.
    """

    def __init__(self) -> None:
        self._cpu = time.process_time()
        self._wall = time.perf_counter()

    def read(self) -> Seconds:
        """The time so far."""
        return Seconds(time.process_time() - self._cpu, time.perf_counter() - self._wall)


def timed(work: Callable[[], Any]) -> Seconds:
    """The time of a piece of work; what it returns is thrown away after the measurement."""
    watch = Stopwatch()
    result = work()
    seconds = watch.read()
    del result
    return seconds

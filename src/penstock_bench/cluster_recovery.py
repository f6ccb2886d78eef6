"""The cost of a killed executor: by how much the micro-batches are later from then on."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock_bench.standalone import processes_in

if TYPE_CHECKING:
    from pathlib import Path

    from penstock_bench.pipeline_run import PipelineFigures

EXECUTOR = "CoarseGrainedExecutorBackend"
USUAL = 8
"""The last batches before the kill, and those at the end, say how long one usually takes."""
SLOW = 1.5
"""A batch that takes so many times the usual time still suffers."""


@dataclass(frozen=True)
class Recovered:
    """Seconds around a kill.

    Attributes:
        usual: A micro-batch takes so long otherwise.
        longest: The longest one from the kill on.
        slow: How many micro-batches from the kill on took much longer than usual.
        lost: By so much all of them together were later than usual ones.
    """

    usual: float
    longest: float
    slow: int
    lost: float


def recovered(ran: PipelineFigures) -> Recovered:
    """The seconds that a kill cost a run.

    Raises:
        InternalError: There was no kill, or the run ended too soon behind it.
    """
    killed, seconds = ran.killed_after, [one / 1000 for one in ran.milliseconds]
    if killed is None or len(seconds) < killed + USUAL + 2:
        msg = f"no executor was killed in time: after {killed} of {len(seconds)} micro-batches"
        raise InternalError(msg)
    usual = median([*seconds[max(killed - USUAL, 0) : killed], *seconds[-USUAL:]])
    slow = [one for one in seconds[killed:] if one > SLOW * usual]
    lost = sum(one - usual for one in slow)
    return Recovered(usual, max(seconds[killed:]), len(slow), lost)


def kill_executor(folder: Path) -> bool:
    """Kill the executors of a worker that has a folder; whether there was one."""
    found = processes_in(folder, EXECUTOR)
    for process in found:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return bool(found)

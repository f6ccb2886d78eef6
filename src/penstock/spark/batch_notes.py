"""Notes on a batch in the status of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.lane_host.work import Done
    from penstock.observe.status import Status


def note_batch(
    status: Status, done: Sequence[Done], seconds: Mapping[str, float], reading: str
) -> None:
    """Say how a batch went.

    Args:
        status: Where that is said.
        done: What its tasks say.
        seconds: How long its parts took the driver.
        reading: The way in which files were read, and why.
    """
    status.operators = {name: one for task in done for name, one in task.operators.items()}
    status.work = {name: one for task in done for name, one in task.work.items()}
    status.reading = reading
    status.seconds = dict(seconds)
    for part in ("read", "restore", "operators", "write"):
        status.seconds[part] = max((task.seconds.get(part, 0.0) for task in done), default=0.0)

"""Allotments: how far a lane works in one feed, by a time or by the steps of an earlier run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Step(NamedTuple):
    """A station did a step to an instant."""

    station: int
    instant: int


Steps: TypeAlias = "tuple[Step, ...]"


@dataclass(frozen=True)
class Allotment:
    """The work of a feed; what is not done stays in queues.

    Args:
        seconds: The time for it; a step is done in any case, and the last one ends as it may.
        steps: These and no others: those of a run that is repeated. Then no time counts.
        arrival: The instant at which the rows came; None: now.
    """

    seconds: float = 0.0
    steps: Steps | None = None
    arrival: float | None = None

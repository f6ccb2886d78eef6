"""Schedulers: who of a lane's stations runs next.

The order of work changes how much waits in queues, and for how long; it never changes a result: a
station takes a step only when all its inputs have got further, and sees that step whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.runtime.station import Station


class Scheduler(Protocol):
    """Chooses stations, one after the other; what one made has reached its readers by then."""

    def turns(self, stations: Sequence[Station]) -> Iterable[int]:
        """The places of the stations that run while time passes up to an instant.

        Args:
            stations: All stations of the lane, inputs before what reads them.
        """


class ToCompletion:
    """Each station once, inputs before what reads them: nothing is left in queues between them."""

    def turns(self, stations: Sequence[Station]) -> Iterable[int]:
        """All, in order."""
        return range(len(stations))

"""The leads of streams: how many rows of each wait until others have come as far in event time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from penstock.algebra.time import INFINITY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from penstock.store.records import StreamProgress


class _Taken(NamedTuple):
    """Rows that came together, and the watermark that their stream had then.

    Not the latest of them: what is later than its own watermark waits whatever others do.
    """

    watermark: int
    rows: int


class Lead(NamedTuple):
    """Rows of a stream that wait, and the stream that they wait for."""

    rows: int
    last: str


class Leads:
    """Counts the rows of streams that lanes hold, as other streams are not as far.

    Rows that were taken in before this was made are not counted.
    """

    def __init__(self) -> None:
        self._before: Mapping[str, StreamProgress] = {}
        self._taken: dict[str, deque[_Taken]] = {}
        self._rows: dict[str, int] = {}

    def note(self, streams: Mapping[str, StreamProgress]) -> None:
        """Take note of how far streams are after a commit."""
        for name, one in streams.items():
            came = one.rows - self._before.get(name, one).rows
            if came > 0:
                self._taken.setdefault(name, deque()).append(_Taken(one.watermark, came))
                self._rows[name] = self._rows.get(name, 0) + came
        self._before = dict(streams)

    def ahead(self, together: Iterable[Collection[str]]) -> dict[str, Lead]:
        """The streams of which rows wait.

        Args:
            together: The streams that some queries read together, for each such group.
        """
        waits: dict[str, tuple[int, str]] = {}
        for names in together:
            known = [one for one in names if one in self._before]
            last = min(known, key=lambda one: self._before[one].watermark, default="")
            for name in known if len(known) > 1 else ():
                # Also of the last: when it has overtaken others, its rows wait for these.
                reached = self._before[last].watermark, last
                waits[name] = min(waits.get(name, reached), reached)
        found: dict[str, Lead] = {}
        for name, taken in self._taken.items():
            mark, last = waits.get(name, (INFINITY, ""))
            while taken and taken[0].watermark <= mark:
                self._rows[name] -= taken.popleft().rows
            if taken and last != name:
                found[name] = Lead(self._rows[name], last)
        return found

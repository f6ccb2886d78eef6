"""The lag of sinks: how many results they have not written, and when the intake waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.spark.sink_writing import Sink
    from penstock.store.records import Record


class SinkLag:
    """Tells which sinks are so far behind that no more rows are to be taken in.

    A sink that begins with results of before may be behind by these, and the limit besides: so it
    comes nearer, and never goes further away. One that fails is not waited for.
    """

    def __init__(self) -> None:
        # Of each sink, the least that it has been behind: by identity, as names come back.
        self._least: dict[int, int] = {}

    def too_far(self, sinks: Sequence[Sink], record: Record, limit: int | None) -> list[str]:
        """The names of sinks that are too far behind.

        Args:
            sinks: All there are.
            record: The newest record.
            limit: So many results they may be behind; None: any number.
        """
        found: list[str] = []
        least: dict[int, int] = {}
        for one in sinks:
            behind = one.behind(record)
            least[id(one)] = min(self._least.get(id(one), behind), behind)
            if limit is not None and one.error is None and behind > least[id(one)] + limit:
                found.append(one.name)
        self._least = least
        return found


def facts_of(sinks: Sequence[Sink], record: Record) -> dict[str, dict[str, Any]]:
    """The words of the status about sinks that statements declare, by name."""
    return {
        one.name: {
            "query": one.progress.query,
            "format": one.progress.format,
            "record": one.progress.record,
            "commits": max(0, record.number - max(one.reached, one.progress.record)),
            "results": one.behind(record),
            "way": one.way,
            "error": one.error,
        }
        for one in sinks
    }

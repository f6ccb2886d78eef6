"""The facts about sinks: how far they have come, and who writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.observe.status import Status


@dataclass(frozen=True)
class SinkFacts:
    """A sink, as the process that runs the pipeline told of it last.

    Attributes:
        record: All results up to this record have been written.
        commits: How many records it is behind,
        results: and how many elements of its query.
        way: Who writes it: the driver, or tasks; None if it has not begun.
        is_waited_for: Whether no rows are taken in until it has come nearer.
        error: Why it does not get on, if it does not.
    """

    name: str
    query: str
    format: str
    record: int
    commits: int
    results: int
    way: str | None
    is_waited_for: bool
    error: str | None


def sink_facts(status: Status) -> Iterator[SinkFacts]:
    """The words of a status about sinks."""
    for name, one in status.sinks.items():
        yield SinkFacts(name=name, is_waited_for=name in status.waiting_for, **one)

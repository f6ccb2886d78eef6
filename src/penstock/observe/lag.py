"""Lag: the time queries are behind the rows that came in; one definition for all who tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Stream
from penstock.algebra.time import BEGINNING

if TYPE_CHECKING:
    from penstock.catalog.definitions import QueryDefinition
    from penstock.store.records import Record


def lag_of(record: Record, query: QueryDefinition) -> int | None:
    """From the clock of a query to the latest row of its streams, in event time.

    None before a row came, or its clock began to go.
    """
    names = {one.name for one in different_nodes(query.plan) if isinstance(one, Stream)}
    rows = [record.streams[name].latest for name in names if name in record.streams]
    latest = max(rows, default=BEGINNING)
    clock = record.clocks.get(query.name, BEGINNING)
    return None if BEGINNING in (latest, clock) else max(0, latest - clock)

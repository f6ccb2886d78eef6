"""Connections and queries as a prompt shows them: in words, and what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.errors import count
from penstock.planner.exactness import described_exactness
from penstock.results.answer_kind import unit_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.catalog.definitions import Definition
    from penstock.connection.connection import Connection
    from penstock.connection.query import Query

TRIED_AGAIN = "a micro-batch has failed, and is tried again"


def overview(catalog: Iterable[Definition]) -> pa.Table:
    """All declarations but sinks."""
    declared = [one for one in catalog if one.kind != "sink"]
    return pa.table(
        {
            "kind": pa.array([one.kind for one in declared], pa.string()),
            "name": pa.array([one.name for one in declared], pa.string()),
        }
    )


def headlines(connection: Connection) -> list[str]:
    """The state of a connection."""
    if connection.is_closed:
        return ["penstock connection, closed"]
    failed = [] if connection.failure is None else [f"it has failed: {connection.failure}"]
    failed += [] if connection.trouble is None else [f"{TRIED_AGAIN}: {connection.trouble}"]
    return [f"penstock connection, {connection.engine.title}", *failed]


def query_state(query: Query, rows: pa.Table | None) -> str:
    """The state of a query that is there, with the rows that it shows."""
    if not query.is_running:
        return f'query "{query.name}", stopped'
    clock, unit = query.clock, unit_of(query.plan)
    when = "nothing final yet" if clock is None else f"clock {unit.format(clock)}"
    what = "" if rows is None else f"{count(len(rows), 'row')}, "
    failed = "" if query.failure is None else f"; it has failed: {query.failure}"
    failed += "" if query.trouble is None else f"; {TRIED_AGAIN}: {query.trouble}"
    shed = sum(query.shed.values())
    exact = described_exactness(query.exact_from, unit)
    when += f", {exact}" if exact else ""
    sample = f"; of a sample: {count(shed, 'row')} shed" if shed else ""
    return f'query "{query.name}": {what}{when}{sample}{failed}'

"""SQLite as the judge of snapshots: at every instant a query is SQL over what its windows hold."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, note, settings

from penstock.reference.oracle import Oracle
from properties.generate import COLUMNS, INSTANTS, declared, inputs, rows_at
from properties.generate_queries import Query, queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.reference.inputs import Inputs
    from penstock.reference.timeline import Bag

SESSION = declared()
SQL_TYPES = {"INT": "INTEGER", "STRING": "TEXT"}


def snapshots(query: Query, given_: Inputs) -> Iterator[tuple[int, Bag]]:
    """SQLite's answer at every instant."""
    with sqlite3.connect(":memory:") as database:
        for number, source in enumerate(query.sources):
            columns = (f"{name} {SQL_TYPES[kind]}" for name, kind in COLUMNS[source.name].items())
            database.execute(f"CREATE TABLE source{number} ({', '.join(columns)})")
        for t in INSTANTS:
            for number, source in enumerate(query.sources):
                places = ", ".join("?" for _ in COLUMNS[source.name])
                database.execute(f"DELETE FROM source{number}")
                rows = rows_at(source, given_, t)
                database.executemany(f"INSERT INTO source{number} VALUES ({places})", rows)
            yield t, Counter(map(tuple, database.execute(query.sql)))
    database.close()


def assert_same_snapshots(query: Query, given_: Inputs) -> None:
    note(query.cql)
    plan = SESSION.bind(query.cql).plan
    result = Oracle(given_).timeline(plan)
    for t, expected in snapshots(query, given_):
        assert result.at(t) == expected, f"at {t}"


@settings(max_examples=1500, suppress_health_check=list(HealthCheck))
@given(queries(depth=2), inputs())
def test_every_snapshot_is_what_sqlite_says(query: Query, given_: Inputs) -> None:
    assert_same_snapshots(query, given_)

"""SQLite as the judge of snapshots: at every instant a query is SQL over what its windows hold."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from penstock.reference.oracle import Oracle
from properties.generate import COLUMNS, INSTANTS, Source, declared, inputs, rows_at, windows
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
        database.execute("PRAGMA case_sensitive_like = ON")
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


@settings(max_examples=1200, suppress_health_check=list(HealthCheck))
@given(queries(depth=2), inputs())
def test_every_snapshot_is_what_sqlite_says(query: Query, given_: Inputs) -> None:
    assert_same_snapshots(query, given_)


PLAIN = (
    "SELECT a.k, a.v FROM {0} AS a WHERE a.k IN (SELECT b.k FROM {1} AS b)",
    "SELECT a.k, a.v FROM {0} AS a WHERE a.k NOT IN (SELECT b.k FROM {1} AS b)",
    "SELECT a.c FROM {0} AS a WHERE a.c NOT IN (SELECT b.c FROM {1} AS b WHERE b.k = a.k)",
    "SELECT a.k, a.c FROM {0} AS a WHERE EXISTS (SELECT * FROM {1} AS b WHERE b.v > a.v)",
    "SELECT a.k, a.c FROM {0} AS a WHERE NOT EXISTS (SELECT * FROM {1} AS b WHERE b.k = a.k)",
    "SELECT a.k, (SELECT SUM(b.v) FROM {1} AS b) AS x FROM {0} AS a",
    "SELECT a.k, (SELECT MIN(b.c) FROM {1} AS b WHERE b.k = a.k) AS x FROM {0} AS a",
    "SELECT a.k, COUNT(DISTINCT a.v), SUM(DISTINCT a.v), COUNT(a.v), AVG(a.v), COUNT(*)"
    " FROM {0} AS a GROUP BY a.k",
    "SELECT a.k, b.v FROM {0} AS a LEFT JOIN {1} AS b ON a.k = b.k AND b.v > 0",
    "SELECT k, a.v, b.c FROM {0} AS a FULL JOIN {1} AS b USING (k)",
    "SELECT x.k, x.n, y.m FROM (SELECT k, COUNT(*) AS n FROM {0} AS a GROUP BY k) AS x"
    " JOIN (SELECT k, MAX(v) AS m FROM {1} AS b GROUP BY k HAVING COUNT(*) > 1) AS y ON x.k = y.k",
    "WITH w AS (SELECT k, v FROM {0} AS a WHERE c LIKE 'a%' OR v >= 0)"
    " SELECT x.k, y.v FROM w AS x, w AS y WHERE x.v = y.v",
    "SELECT k, v FROM {0} AS a UNION SELECT k, v FROM {1} AS b",
    "SELECT k, v FROM {0} AS a EXCEPT SELECT k, v FROM {1} AS b",
    "SELECT k, v FROM {0} AS a INTERSECT SELECT k, v FROM {1} AS b",
    "SELECT DISTINCT c FROM {0} AS a UNION ALL SELECT MAX(c) FROM {1} AS b",
)
sources = st.builds(Source, st.sampled_from("st"), windows())


@settings(max_examples=800)
@given(inputs(), st.sampled_from(PLAIN), st.tuples(sources, sources | st.just(Source("r"))))
def test_each_kind_of_query_alone(given_: Inputs, text: str, over: tuple[Source, ...]) -> None:
    assert_same_snapshots(Query(text, (), over), given_)

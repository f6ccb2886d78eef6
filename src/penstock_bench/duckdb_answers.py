"""The headline queries in DuckDB: SQL over all rows at once, in one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from penstock_bench.data import WINDOW
from penstock_bench.formulation import Answer, Formulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_bench.data import Tables

PAIR = f"""
SELECT l.k, l.v, r.v AS w, greatest(l.ts, r.ts) AS ts, least(l.ts, r.ts) + {WINDOW} AS te"""
NEAR = f"l.ts > r.ts - {WINDOW} AND l.ts < r.ts + {WINDOW}"

JOIN_BY_KEY = f"{PAIR} FROM l JOIN r ON l.k = r.k AND {NEAR}"

JOIN_BY_BUCKET = f"""
WITH near AS (SELECT *, ts // {WINDOW} + step AS bucket FROM r, (VALUES (-1), (0), (1)) AS t(step)),
home AS (SELECT *, ts // {WINDOW} AS bucket FROM l)
{PAIR} FROM home l JOIN near r ON l.k = r.k AND l.bucket = r.bucket WHERE {NEAR}"""

# Sums in DOUBLE, exact here: DuckDB's own of BIGINT are of 128 bits, and slower.
EVENTS = f"""
WITH events AS (
    SELECT k, ts AS t, v, v::DOUBLE AS amount, 1::DOUBLE AS one FROM s
    UNION ALL SELECT k, ts + {WINDOW}, NULL, -v::DOUBLE, -1 FROM s)"""
LIVE = f"PARTITION BY k ORDER BY t RANGE BETWEEN {WINDOW - 1} PRECEDING AND CURRENT ROW"
SO_FAR = "PARTITION BY k ORDER BY t ROWS UNBOUNDED PRECEDING"

AGGREGATE_BY_RUNNING_SUMS = f"""{EVENTS}
SELECT k, n::BIGINT AS n, total::BIGINT AS total, top, t AS ts, te FROM (
    SELECT k, t, sum(one) OVER so_far AS n, sum(amount) OVER so_far AS total,
        max(v) OVER live AS top, lead(t) OVER so_far AS te
    FROM events WINDOW live AS ({LIVE}), so_far AS ({SO_FAR}))
WHERE n > 0 AND t < te"""

AGGREGATE_BY_FRAMES = f"""{EVENTS}
SELECT k, n, total::BIGINT AS total, top, t AS ts, te FROM (
    SELECT k, t, count(v) OVER live AS n, sum(v::DOUBLE) OVER live AS total,
        max(v) OVER live AS top, lead(t) OVER (PARTITION BY k ORDER BY t) AS te
    FROM events WINDOW live AS ({LIVE}))
WHERE n > 0 AND t < te"""

AGGREGATE_AT_ARRIVALS = f"""
SELECT k, count(*) OVER live AS n, sum(v::DOUBLE) OVER live AS total, max(v) OVER live AS top, t
FROM (SELECT k, ts AS t, v FROM s) WINDOW live AS ({LIVE})"""

DISTINCT_ISLANDS = f"""
WITH neighbours AS (
    SELECT k, ts, lag(ts) OVER w AS before, lead(ts) OVER w AS after
    FROM s WINDOW w AS (PARTITION BY k ORDER BY ts)),
edges AS (
    SELECT k, ts, coalesce(ts - before >= {WINDOW}, TRUE) AS first,
        coalesce(after - ts >= {WINDOW}, TRUE) AS last
    FROM neighbours)
SELECT k, ts, {WINDOW} + CASE WHEN last THEN ts
    ELSE lead(ts) OVER (PARTITION BY k ORDER BY ts) END AS te
FROM (FROM edges WHERE first OR last) QUALIFY first"""


def sql(query: str) -> Callable[[Tables], Answer]:
    """The preparation of a query: an in-memory database with the rows in tables of its own."""

    def prepare(tables: Tables) -> Answer:
        connection = duckdb.connect(config={"threads": 1})
        connection.execute("SET preserve_insertion_order = false")
        for name, table in tables.items():
            connection.register("arrow_rows", table)
            connection.execute(f"CREATE TABLE {name} AS FROM arrow_rows")
            connection.unregister("arrow_rows")
        return lambda: connection.sql(query).to_arrow_table()

    return prepare


JOIN = (
    Formulation("DuckDB", "join on key, filter by time", sql(JOIN_BY_KEY)),
    Formulation("DuckDB", "join on key and time bucket", sql(JOIN_BY_BUCKET)),
)
AGGREGATE = (
    Formulation("DuckDB", "running sums, frame for MAX", sql(AGGREGATE_BY_RUNNING_SUMS)),
    Formulation("DuckDB", "frames", sql(AGGREGATE_BY_FRAMES)),
    Formulation(
        "DuckDB",
        "frames at arrivals",
        sql(AGGREGATE_AT_ARRIVALS),
        easier="no rows for expiries",
        complete=False,
    ),
)
DISTINCT = (Formulation("DuckDB", "islands by neighbours", sql(DISTINCT_ISLANDS)),)

"""A home that is opened with another number of lanes goes on as if it had always had as many."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

import penstock
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.connection.connection import Connection

SCRIPT = """
CREATE STREAM s (ts BIGINT, k INT, v BIGINT, WATERMARK FOR ts AS ts);
CREATE STREAM t (ts BIGINT, k INT, v BIGINT, WATERMARK FOR ts AS ts);
CREATE QUERY sums AS SELECT k, SUM(v) AS total, MIN(v) AS least FROM s [RANGE 40] GROUP BY k;
CREATE QUERY regrouped AS
    SELECT s.v % 3 AS r, COUNT(*) AS n FROM s [RANGE 40], t [RANGE 30] WHERE s.k = t.k
    GROUP BY s.v % 3;
CREATE QUERY everything AS SELECT COUNT(*) AS n, AVG(v) AS middle FROM s [RANGE 40];
CREATE QUERY last AS SELECT k, v FROM s [ROWS 3];
"""
QUERIES = ("sums", "regrouped", "everything", "last")


def rows(first: int) -> pa.Table:
    ts = list(range(first, first + 20))
    return pa.table({"ts": ts, "k": [n % 7 for n in ts], "v": [n * n % 11 for n in ts]})


def feed(db: Connection | Connection, first: int) -> None:
    for stream in ("s", "t"):
        db.insert(stream, rows(first))


def counted(table: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def test_the_state_is_divided_anew(connect: Callable[..., Connection]) -> None:
    expected = penstock.connect_inline()
    expected.execute(SCRIPT)
    for number, lanes in enumerate((2, 3, 1, 2)):
        db = connect(lanes=lanes)
        if not number:
            db.execute(SCRIPT)
        bound = spark_engine(db).running.pipeline.ledger.plan
        divided = [one.lanes for one in bound.fragments.values() if one.partitioning.routes]
        assert divided == [lanes] * len(divided)
        assert len(divided) > 2
        for first in (40 * number, 40 * number + 20):
            feed(db, first)
            feed(expected, first)
        db["sums"].wait_idle()
        for query in QUERIES:
            found = counted(db[query].snapshot())
            assert found == counted(expected[query].snapshot()), (query, lanes)
            assert db[query].progress()["clock"] is not None
        assert not spark_engine(db).running.pipeline.status.errors
        db.close()

"""CREATE OR REPLACE QUERY: the answer goes on as that of the new query, and readers see it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.errors import QueryError

if TYPE_CHECKING:
    from penstock.connection.connection import Connection

DECLARED = """
CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN 100;
CREATE QUERY q AS SELECT k, COUNT(*) AS n FROM s [RANGE 10] GROUP BY k;
"""


def opened(rows: int = 30) -> Connection:
    db = penstock.connect_inline()
    db.execute(DECLARED)
    db.insert("s", [(ts, ts % 2) for ts in range(rows)])
    return db


def content(db: Connection) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in db["q"].snapshot().to_pylist())


def test_who_reads_changes_sees_the_net_difference() -> None:
    db = opened()
    query = db["q"]
    held = Counter[tuple[object, ...]]()

    def read() -> set[int]:
        rows = query.changes(since="last").to_pylist()
        for row in rows:
            held[row["k"], row["n"]] += 1 if row["_sign"] == "+" else -1
        return {row["_at"] for row in rows}

    read()
    assert +held == content(db) == {(0, 5): 1, (1, 5): 1}
    db.execute("CREATE OR REPLACE QUERY q AS SELECT k, COUNT(*) AS n FROM s [RANGE 50] GROUP BY k")
    assert read() == set(), "what is final stays"
    db.insert("s", [(30, 0)])
    assert read() == {29}
    assert +held == content(db) == {(0, 15): 1, (1, 15): 1}


def test_instants_before_have_the_answer_of_then() -> None:
    db = opened()
    before = db["q"].snapshot(at=20).to_pylist()
    db.execute("CREATE OR REPLACE QUERY q AS SELECT k, COUNT(*) AS n FROM s [RANGE 50] GROUP BY k")
    assert db["q"].snapshot(at=20).to_pylist() == before


def test_one_of_other_columns_begins_anew() -> None:
    db = opened()
    query = db["q"]
    db.execute("CREATE OR REPLACE QUERY q AS SELECT COUNT(*) AS all_of_them FROM s [RANGE 50]")
    assert query.snapshot().to_pylist() == [{"all_of_them": 29}]
    assert db["q"].exact_from is None


def test_what_others_read_is_not_replaced() -> None:
    db = opened()
    db.execute("CREATE VIEW v AS SELECT k FROM q; CREATE QUERY r AS SELECT COUNT(*) AS n FROM v")
    with pytest.raises(QueryError, match='"q" is read by view "v", query "r"'):
        db.execute("CREATE OR REPLACE QUERY q AS SELECT k, 1 AS n FROM s [NOW]")
    db.execute("DROP QUERY r; DROP VIEW v")
    db.execute("CREATE OR REPLACE QUERY q AS SELECT k, COUNT(*) AS n FROM s [NOW] GROUP BY k")
    db.insert("s", [(31, 0), (32, 0)])
    assert content(db) == {(0, 1): 1}

"""Questions that cannot be answered are refused in a sentence, with what to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.connection.connection import Connection

DECLARED = """
CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN 100;
CREATE STREAM bare (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
CREATE STREAM dated (at TIMESTAMP, k INT, WATERMARK FOR at AS at) RETAIN 1 HOUR;
CREATE QUERY q AS SELECT k, COUNT(*) AS n FROM s [RANGE 20] GROUP BY k;
CREATE QUERY sent AS ISTREAM(SELECT k FROM s [RANGE 20]);
"""


def fed() -> Connection:
    db = penstock.connect_inline(keep=20)
    db.execute(DECLARED)
    for ts in range(0, 1000, 10):
        db.insert("s", [(ts, ts % 3)])
        db.insert("bare", [(ts, 1)])
    return db


MISTAKES = {
    "SELECT k FROM s AS OF 990": "may still change | It is final before 990",
    "SELECT k FROM s AS OF 5": "needs its rows from -94 on | The stream keeps 100",
    "SELECT k FROM s [RANGE 500]": "needs its rows from 490 on, and those from",
    "SELECT k FROM s [UNBOUNDED]": "needs all rows that came to 989",
    "SELECT k FROM s [PARTITION BY k ROWS 2]": "needs all rows that came",
    "SELECT k FROM s [ROWS 50]": "needs 50 rows up to 989",
    "SELECT k FROM bare": "none is retained | none of its queries has a window",
    "SELECT k FROM s AS OF TIMESTAMP '2024-01-01'": "counts ticks, not dates",
    "SELECT k FROM dated AS OF 5": "the event time is a TIMESTAMP",
    "SELECT k FROM s AS OF 'soon'": "counts ticks, not dates",
    "SELECT * FROM q AS OF 30": 'the result of query "q" at 30 is not kept any more',
    "SELECT kk FROM s": 'has no column "kk"',
    "SHOW STREAMS": "expected a query, found another statement",
    "SELECT k FROM s; SELECT k FROM s": "expected one query, found 2 statements",
}


def test_what_cannot_be_answered_is_said() -> None:
    db = fed()
    for question, parts in MISTAKES.items():
        with pytest.raises(PenstockError) as refused:
            db.ask(question)
        for part in parts.split(" | "):
            assert re.search(re.escape(part), str(refused.value)), (question, str(refused.value))


def test_a_question_reads_no_more_than_it_may() -> None:
    db = fed()
    db.execute("SET ask_limit = '0.1 kB'")
    with pytest.raises(PenstockError, match="more than ask_limit, 102"):
        db.ask("SELECT k FROM s")
    assert len(db.ask("SELECT k FROM s [RANGE 15]")) == 1
    db.execute("SET ask_limit = none")
    assert len(db.ask("SELECT k FROM s")) == 10


def test_after_the_end_every_instant_is_final() -> None:
    db = fed()
    db.finish()
    answer = db.ask("SELECT COUNT(*) AS n FROM s [RANGE 20]")
    assert (answer.at, answer.to_pylist()) == ("990", [{"n": 2}])
    assert db.ask("SELECT COUNT(*) AS n FROM s [RANGE 20] AS OF 5000").to_pylist() == [{"n": 0}]


def test_what_is_retained_survives_save_and_restore(tmp_path: object) -> None:
    db = fed()
    db.save(f"{tmp_path}/saved")
    again = penstock.connect_inline(restore=f"{tmp_path}/saved")
    question = "SELECT k, ts FROM s [RANGE 45] ORDER BY ts"
    assert again.ask(question).to_pylist() == db.ask(question).to_pylist()
    with pytest.raises(PenstockError, match="those from"):
        again.ask("SELECT k FROM s [RANGE 500]")


def test_retention_changes_while_it_runs() -> None:
    db = fed()
    db.execute("SET retain = 30")
    for ts in range(1000, 1100, 10):
        db.insert("bare", [(ts, 1)])
    assert len(db.ask("SELECT k FROM bare")) == 3
    db.execute("SET retain = none")
    with pytest.raises(PenstockError, match="none is retained"):
        db.ask("SELECT k FROM bare [RANGE 5]")
    db.execute("SET retain = auto")
    db.query("SELECT k FROM bare [RANGE 12]")
    db.insert("bare", [(1100, 1), (1105, 2), (1111, 3)])
    assert len(db.ask("SELECT k FROM bare [RANGE 8]")) == 1


@pytest.mark.parametrize("window", ["SINCE 1020", "BETWEEN 1020 AND 1030"])
def test_a_window_that_begins_later_is_empty(window: str) -> None:
    db = fed()
    db.execute("SET retain = unbounded")
    db.insert("bare", [(ts, 1) for ts in range(1000, 1050)])
    question = f"SELECT COUNT(*) AS n, SUM(k) AS k FROM bare [{window}] AS OF 1005"
    assert db.ask(question).to_pylist() == [{"n": 0, "k": None}]
    assert len(db.ask(f"SELECT k FROM bare [{window}] AS OF 1005")) == 0

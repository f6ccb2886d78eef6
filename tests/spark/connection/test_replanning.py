"""A query that runs on Spark is planned anew by what was measured, and answers as before."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import penstock
from penstock.errors import Refused, UnknownName
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.connection.connection import Connection

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT, v BIGINT, WATERMARK FOR ts AS ts);
CREATE STREAM b (ts BIGINT, k INT, v BIGINT, WATERMARK FOR ts AS ts);
CREATE STREAM c (ts BIGINT, k INT, v BIGINT, WATERMARK FOR ts AS ts);
CREATE QUERY triples AS
    SELECT a.ts AS one, b.ts AS two, c.ts AS three
    FROM a [RANGE 50] a JOIN b [RANGE 50] b ON a.k = b.k JOIN c [RANGE 50] c ON b.v = c.v;
CREATE QUERY ever AS SELECT k, COUNT(*) AS n FROM a [UNBOUNDED] GROUP BY k;
"""


def rows(first: int, keys: int, values: int) -> pa.Table:
    ts = list(range(first, first + 100))
    k, v = [n * 7 % keys for n in ts], [n * 11 % values for n in ts]
    return pa.table({"ts": ts, "k": k, "v": v})


def feed(db: Connection | Connection, number: int) -> None:
    """All of `a` and `b` have one key; few rows of `b` and `c` meet."""
    db.insert("a", rows(100 * number, 1, 50))
    db.insert("b", rows(100 * number, 1, 97))
    db.insert("c", rows(100 * number, 3, 97))


def replaced(db: Connection) -> bool:
    (group,) = (
        one
        for one in spark_engine(db).running.pipeline.ledger.plan.plan.groups
        if "triples" in one.queries
    )
    return bool(group.statistics)


def counted(table: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def test_another_plan_takes_over_while_rows_come(connect: Callable[..., Connection]) -> None:
    expected = penstock.connect_inline()
    expected.execute(SCRIPT)
    db = connect(lanes=2)
    db.execute(SCRIPT)
    query = db["triples"]
    for number in range(3):
        feed(db, number)
        feed(expected, number)
        db.wait_idle()
        time.sleep(1.1)  # Reports come with a batch now and then.
    before = query.explain()
    assert query.replan()
    assert not query.replan()
    for number in range(3, 7):
        feed(db, number)
        feed(expected, number)
        db.wait_idle()
        assert counted(query.snapshot()) == counted(expected["triples"].snapshot())
    deadline = time.monotonic() + 60
    while not replaced(db) and time.monotonic() < deadline:
        feed(db, number := number + 1)
        feed(expected, number)
        db.wait_idle()
    assert replaced(db)
    feed(db, number := number + 1)
    feed(expected, number)
    db.wait_idle()
    assert counted(query.snapshot()) == counted(expected["triples"].snapshot())
    assert query.explain() != before
    changes = Counter[tuple[object, ...]]()
    for table in query.changes():
        for row in table.to_pylist():
            changes[row["one"], row["two"], row["three"]] += 1 if row["_sign"] == "+" else -1
    assert +changes == counted(query.snapshot())
    assert not -changes
    shown = query.explain().splitlines()
    table = db.execute("EXPLAIN triples")
    assert table is not None
    assert table["plan"].to_pylist() == shown
    db.close()
    db = connect(lanes=2)
    query = db["triples"]
    assert not query.replan()
    feed(db, number := number + 1)
    feed(expected, number)
    db.wait_idle()
    assert counted(query.snapshot()) == counted(expected["triples"].snapshot())
    # The plan is the one that took over, though nothing has been measured since.
    runs_as = next(line for line in shown if line.startswith("Runs as"))
    assert runs_as in query.explain().splitlines()


def test_what_never_forgets_is_refused(connect: Callable[..., Connection]) -> None:
    db = connect(lanes=2)
    db.execute(SCRIPT)
    with pytest.raises(Refused, match=r"it has \[UNBOUNDED\]"):
        db["ever"].replan()
    with pytest.raises(Refused, match=r"(?s)line 1, column 8: .* it has \[UNBOUNDED\].*for ever"):
        db.execute("REPLAN ever")
    with pytest.raises(UnknownName):
        db.execute("REPLAN never")


def test_a_statement_plans_anew_once_something_is_measured(
    connect: Callable[..., Connection],
) -> None:
    db = connect(lanes=2)
    assert said(db, f"{SCRIPT} REPLAN triples") == (
        "nothing has been measured yet: planned anew when it has"
    )
    number = 0
    deadline = time.monotonic() + 60
    while not (due := planned(db)) and time.monotonic() < deadline:
        feed(db, number := number + 1)
        db.wait_idle()
        time.sleep(1.1)
    assert due or replaced(db)
    if due:
        assert said(db, "REPLAN triples").startswith(
            "planned anew already: takes over when the clock has come to "
        )
    while not replaced(db) and time.monotonic() < deadline:
        feed(db, number := number + 1)
        db.wait_idle()
    assert replaced(db)
    assert said(db, "REPLAN triples") == "runs by the best plan known already"
    db["triples"].stop()
    assert said(db, "REPLAN triples") == 'query "triples" does not run'


def said(db: Connection, text: str) -> str:
    table = db.execute(text)
    assert table is not None
    (line,) = table["plan"].to_pylist()
    return str(line)


def planned(db: Connection) -> bool:
    """Whether another plan runs beside the old one."""
    groups = spark_engine(db).running.pipeline.ledger.plan.plan.groups
    return any(one.replaces is not None for one in groups)

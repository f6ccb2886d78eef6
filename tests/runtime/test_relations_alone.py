"""Queries that read relations and no stream: time is what the changes say, and what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import penstock
from connection.inside import batch_of

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.connection.connection import Connection

DECLARATIONS = """
CREATE RELATION r1 (k INT);
CREATE RELATION r2 (k INT);
CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
"""
BOTH = "SELECT k FROM r1 UNION ALL SELECT k FROM s [NOW]"


@pytest.fixture(params=[1, 3], ids=["one lane", "three lanes"])
def db(request: pytest.FixtureRequest) -> Connection:
    made = penstock.connect_inline(lanes=request.param)
    made.execute(DECLARATIONS)
    return made


def rows(table: object) -> list[tuple[object, ...]]:
    found = [tuple(row.values()) for row in table.to_pylist()]  # type: ignore[attr-defined]
    return sorted(found, key=str)


def test_what_all_relations_held_before_all_input_was_there_from_the_beginning(
    db: Connection,
) -> None:
    product = db.query("SELECT r1.k AS a, r2.k AS b FROM r1, r2")
    entering = db.query("ISTREAM(SELECT r1.k AS a, r2.k AS b FROM r1, r2)")
    db.update("r1", insert=[(1,)])
    db.update("r2", insert=[(2,)])
    assert rows(product.changes()) == [(1, 2, None, "+")]
    assert rows(entering.emissions()) == []
    db.finish()
    assert rows(product.changes()) == [(1, 2, None, "+")]
    assert rows(entering.emissions()) == []


def test_relations_that_change_one_after_the_other_at_one_instant_change_together(
    db: Connection,
) -> None:
    union = db.query("RSTREAM(SELECT k FROM r1 UNION SELECT k FROM r2)")
    only_r1 = db.query("RSTREAM(SELECT k FROM r1 EXCEPT SELECT k FROM r2)")
    entering = db.query("ISTREAM(SELECT k FROM r1 EXCEPT SELECT k FROM r2)")
    db.update("r1", insert=[(1,)], at=10)
    db.update("r2", insert=[(1,), (2,)], at=10)
    db.update("r1", insert=[(3,)], at=10)
    assert rows(union.emissions()) == [(1, 10), (2, 10), (3, 10)]
    assert rows(only_r1.emissions()) == [(3, 10)]
    assert rows(entering.emissions()) == [(3, 10)]
    assert union.clock == 11


def test_what_has_been_read_is_final(db: Connection) -> None:
    query = db.query("SELECT k FROM r1")
    db.update("r1", insert=[(1,)], at=10)
    assert query.clock == 10
    assert rows(query.snapshot()) == [(1,)]
    assert rows(query.changes(since="last")) == [(1, 10, "+")]
    db.update("r1", insert=[(2,)], at=10)
    assert db.late("r1")["_reason"].to_pylist() == ["overdue: takes effect at 11"]
    assert rows(query.changes(since="last")) == [(2, 11, "+")]
    db.update("r1", delete=[(1,)], at=12)
    db.update("r1", insert=[(1,)], at=12)
    assert rows(query.changes(since="last")) == [], "it comes and goes within one instant"
    assert rows(query.changes(since="last")) == []
    assert query.clock == 13


@pytest.mark.parametrize("others", ["", "CREATE QUERY b AS SELECT k FROM r1;"])
@pytest.mark.parametrize("more", ["", "CREATE QUERY c AS SELECT r1.k FROM r1, t [RANGE 5];"])
def test_a_change_is_dated_by_the_clock_of_the_query_that_reads_it(
    db: Connection, others: str, more: str
) -> None:
    db.execute(f"{others} {more} CREATE QUERY a AS {BOTH};")
    db.insert("t", [(200, 1)])
    db.update("r1", insert=[(1,)], at=100)
    db.update("r1", insert=[(2,)], at=50)
    db.finish()
    assert rows(db["a"].changes()) == [(1, 100, "+"), (2, 50, "+")]
    if others:
        assert rows(db["b"].changes()) == [(1, 100, "+"), (2, 100, "+")]


def test_queries_that_read_no_relation_in_common_share_their_operators(db: Connection) -> None:
    db.execute("""
        CREATE QUERY a AS SELECT s.k FROM s [RANGE 5], r1;
        CREATE QUERY b AS SELECT s.k FROM s [RANGE 5], t [RANGE 5];
        CREATE QUERY c AS SELECT s.k FROM s [RANGE 5], t [RANGE 5], r2;
        CREATE QUERY d AS SELECT s.k FROM s [RANGE 5], t [RANGE 5], r1;
    """)
    batches = [batch_of(db[name]) for name in "abcd"]
    assert batches[0] is batches[1] is batches[2]
    assert batches[3] is not batches[0], "it reads r1 by another clock"


def test_a_row_leaves_no_earlier_than_it_came_whatever_other_streams_say(db: Connection) -> None:
    behind = db.query("SELECT r1.k FROM r1, t [RANGE 1000]")
    db.insert("t", [(1, 0)])
    db.insert("s", [(100, 1)])
    db.update("r1", insert=[(7,)], at=45)
    db.update("r1", delete=[(7,)], at=60)
    db.finish()
    assert rows(behind.changes()) == [(7, 45, "+"), (7, 60, "-")]


def test_a_stream_that_begins_later_does_not_turn_back_undated_changes(db: Connection) -> None:
    db.insert("s", [(100, 1)])
    db.update("r1", insert=[(7,)])
    db.insert("t", [(20, 1)])
    db.update("r1", delete=[(7,)])
    query = db.query("SELECT k FROM r1")
    db.finish()
    assert rows(query.changes()) == []


def test_an_instant_that_is_not_over_is_saved_as_such(db: Connection, tmp_path: Path) -> None:
    db.query("RSTREAM(SELECT k FROM r1 UNION SELECT k FROM r2)", name="q")
    db.update("r1", insert=[(1,)], at=10)
    db.save(tmp_path / "saved")
    again = penstock.connect_inline(restore=tmp_path / "saved")
    again.update("r2", insert=[(2,)], at=10)
    assert rows(again["q"].emissions()) == [(1, 10), (2, 10)]

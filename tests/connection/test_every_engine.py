"""A connection means the same over every engine."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest

from penstock.algebra.streams import RelationToStream
from penstock.builder import stream
from penstock.errors import DataError, NotSupported, QueryError, UnknownName
from penstock.reference.inputs import Inputs, RelationHistory
from penstock.reference.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from penstock.connection.connection import Connection
    from penstock.reference.timeline import Row, Timeline

DECLARED = """
CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 4);
CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
CREATE RELATION r (k INT, name STRING);
"""
QUERIES = {
    "grouped": "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 7] GROUP BY k",
    "joined": "SELECT s.k, v FROM s [RANGE 6], t [RANGE 5] WHERE s.k = t.k",
    "named": "SELECT s.k, v, name FROM s [RANGE 6] JOIN r ON s.k = r.k",
    "sent": "ISTREAM(SELECT k FROM s [NOW])",
    "closed": "SELECT k FROM s [RANGE 3] EMIT FINAL",
}
S: list[Row] = [(1, 1, 5), (3, 2, 6), (2, None, 1), (9, 1, -1), (7, 3, 2), (30, 2, 4)]
T: list[Row] = [(2, 1), (8, 1), (9, 3)]
INPUTS = Inputs({"s": S, "t": T}, {"r": RelationHistory([(1, "one"), (2, "two")])})


def rows(tables: Iterable[pa.Table]) -> list[Row]:
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


def expected(timeline: Timeline, before: int) -> Counter[Row]:
    """The changes as a connection shows them, those of instants before one."""
    found: Counter[Row] = Counter()
    for change in timeline.changes():
        if change.at < before:
            for sign, bag in (("-", change.removed), ("+", change.inserted)):
                for row, copies in bag.items():
                    found[(*row, change.at, sign)] += copies
    return found


def fed(db: Connection) -> Connection:
    """A connection with all queries, and the rows."""
    db.execute(DECLARED)
    db.update("r", insert=[(1, "one"), (2, "two")])
    db.execute("".join(f"CREATE QUERY {name} AS {text};" for name, text in QUERIES.items()))
    assert db.insert("s", S[:3]) == 3
    assert db.insert("t", T) == 3
    assert db.insert("s", S[3:]) == 3
    db.wait_idle()
    return db


def test_answers_are_what_the_oracle_says(db: Connection) -> None:
    fed(db)
    assert [db[name].clock for name in QUERIES] == [26, 9, 26, 26, 26]
    for name in ("grouped", "joined", "named"):
        query = db[name]
        line, clock = Oracle(INPUTS).timeline(query.plan), query.clock
        assert clock is not None
        assert Counter(rows(query.changes())) == expected(line, clock), name
        assert Counter(rows(query.snapshot())) == line.at(clock - 1), name
        for instant in (0, 2, 8):
            assert Counter(rows(query.snapshot(at=instant))) == line.at(instant), name
    assert rows(db["sent"].emissions()) == [(1, 1), (None, 2), (2, 3), (3, 7), (1, 9)]
    assert (1, 1, 4, "+") in rows(db["closed"].elements())
    facts = db.progress()
    assert facts["streams"]["s"] == {
        "rows": 6, "late": 0, "late_by": 0, "aside": 0, "forgotten": 0, "shed": 0,
        "watermark": 26, "latest": 30,
    }  # fmt: skip
    told = {name: facts["queries"]["grouped"][name] for name in ("running", "clock", "lag")}
    assert told == {"running": True, "clock": 26, "lag": 4}
    assert db["grouped"].operators().num_rows >= 2
    db.finish()
    line = Oracle(INPUTS).timeline(db["grouped"].plan)
    assert Counter(rows(db["grouped"].changes())) == expected(line, 2**62)
    with pytest.raises(QueryError, match="finish"):
        db.insert("s", [(40, 1, 1)])


def test_results_are_read_from_the_beginning_or_from_where_the_last_reading_ended(
    db: Connection,
) -> None:
    db.execute(DECLARED)
    query = db.query(QUERIES["grouped"])
    assert query.name == "query_1"
    assert query.clock is None
    db.insert("s", [(1, 1, 5), (8, 1, 6)])
    db.wait_idle()
    first = [(1, 1, 5, 1, "+")]
    assert rows(query.changes(since="last")) == first
    db.insert("s", [(14, 2, 1)])
    db.wait_idle()
    then = [(1, 1, 5, 8, "-"), (1, 1, 6, 8, "+")]
    assert rows(query.changes(since="last")) == then
    assert rows(query.changes(since="last")) == []
    assert rows(query.changes()) == first + then
    changes = query.changes()
    assert changes["_at"].to_pylist() == [1, 8, 8]
    assert rows(changes) == first + then, "it can be gone through again"
    assert pa.table(changes).num_rows == pl.DataFrame(changes).height == len(changes) == 3
    assert list(query.changes(timeout=0.1, follow=True, since="now")) == []
    with pytest.raises(QueryError, match="at 10 may still change"):
        query.snapshot(at=10)


def test_a_notebook_shows_tables(db: Connection) -> None:
    fed(db)
    assert repr(db["named"]).splitlines() == ['query "named": 0 rows, clock 26', "k | v | name"]
    shown = db["grouped"].snapshot(at=8)
    assert repr(shown).splitlines()[0] == "k    | n | total"
    assert "<td>NULL</td>" in shown._repr_html_()
    assert "<th>_sign</th>" in db["grouped"].changes()._repr_html_()
    assert 'query "named": 0 rows' in db["named"]._repr_html_()
    assert "<td>grouped</td>" in db._repr_html_()
    shown_queries = db.execute("SHOW QUERIES")
    assert shown_queries is not None
    assert shown_queries["query"].to_pylist() == list(QUERIES)
    assert "Window [RANGE 7]" in db["grouped"].explain()


def test_changes_are_followed_while_rows_come(db: Connection) -> None:
    db.execute(DECLARED)
    query, sent = db.query(QUERIES["grouped"]), db.query(QUERIES["sent"])
    called: list[Row] = []
    subscription = query.on_change(lambda table: called.extend(rows([table])))
    followed: list[Row] = []
    thread = threading.Thread(target=lambda: followed.extend(rows(sent)))
    thread.start()
    db.insert("s", [(1, 1, 5), (9, 2, 6)])
    assert rows([next(iter(query))]) == [(1, 1, 5, 1, "+")], "without wait_idle"
    db.insert("s", [(10, 1, 5)])
    db.finish()
    thread.join(60)
    subscription.wait(60)
    assert followed == [(1, 1), (2, 9), (1, 10)]
    assert called == rows(query.changes())
    assert len(called) == 6


def test_coroutines_go_along_with_a_query_while_others_run(db: Connection) -> None:
    db.execute(DECLARED)
    query = db.query(QUERIES["sent"])
    found: list[Row] = []

    async def listen() -> None:
        async for change in query:
            found.extend(rows([change]))

    async def bring() -> None:
        for at in (1, 6, 11):
            db.insert("s", [(at, at, 0)])
            await asyncio.sleep(0.01)
        await asyncio.to_thread(db.finish)

    async def both() -> None:
        await asyncio.gather(listen(), bring())

    asyncio.run(both())
    assert found == [(1, 1), (6, 6), (11, 11)]


def test_a_coroutine_that_waits_can_be_called_off(db: Connection) -> None:
    db.execute(DECLARED)
    query = db.query(QUERIES["sent"])

    async def first() -> None:
        async for _ in query:
            return

    async def called_off() -> None:
        await asyncio.wait_for(first(), 0.1)

    with pytest.raises(TimeoutError):
        asyncio.run(called_off())


def test_queries_come_and_go(db: Connection) -> None:
    db.execute(f"{DECLARED} CREATE QUERY a AS {QUERIES['grouped']};")
    stopped, following = db["a"], db["a"].changes(follow=True)
    other = db.query(QUERIES["sent"], name="Other")
    assert db["other"] is other
    db.insert("s", [(1, 1, 5), (8, 2, 6)])
    db.wait_idle()
    stopped.stop()
    assert rows(following) == [(1, 1, 5, 1, "+")], "who followed it is let go"
    assert not stopped.is_running
    assert repr(stopped) == 'query "a", stopped'
    with pytest.raises(QueryError, match='query "a" is stopped'):
        stopped.snapshot()
    stopped.start()
    db.insert("s", [(20, 1, 5)])
    db.wait_idle()
    assert rows(stopped.changes()) == [], "it has begun anew"
    other.drop()
    with pytest.raises(UnknownName, match="Other"):
        other.emissions()
    assert list(db.queries) == ["a"]
    db.execute("CREATE OR REPLACE QUERY a AS SELECT v FROM s [NOW]")
    assert stopped.columns == ("v",), "a handle is a name"


def test_relations_and_watermarks_move_without_rows(db: Connection) -> None:
    db.execute(DECLARED)
    query = db.query(QUERIES["named"])
    db.update("r", insert=[(1, "one")])
    db.insert("s", [(1, 1, 5)])
    db.advance("s", 4)
    assert query.clock == 4
    db.update("r", delete=[(1, "one")], insert=[(1, "uno")], at=5)
    db.advance("s", 20)
    assert query.clock == 20
    assert rows(query.changes()) == [
        (1, 5, "one", 1, "+"),
        (1, 5, "one", 5, "-"),
        (1, 5, "uno", 5, "+"),
        (1, 5, "uno", 7, "-"),
    ]
    db.insert("s", [(19, 7, 7), (None, 8, 8), (20, 9, 9)])
    db.wait_idle()
    late = {row["k"]: row["_reason"].partition(" by ")[0] for row in db.late("s").to_pylist()}
    assert late == {7: "late", 8: "no event time"}
    assert db.late("s").column_names == ["ts", "k", "v", "_position", "_raw", "_reason"]
    facts = db.progress()["streams"]["s"]
    assert [facts[name] for name in ("rows", "late", "aside")] == [4, 1, 1]


def test_queries_that_were_built_run_like_others(db: Connection) -> None:
    """Operators that SQL has no words for, and a condition with every kind of text in it."""
    db.execute(DECLARED)
    s, t, r = db.source("s"), db.source("t"), db.source("r")
    left = s.range(6).where("k <> 7 AND CAST(v AS STRING) <> 'it''s \\ \"é\"'").select("k")
    right = t.range(5).select("k")
    built = {
        "most": left.max_union(right),
        "none of": left.strict_difference(right),
        "merged": left.coalesce(),
        "cut": left.split(4),
        "odd": s.group_into("k % 2", 2)[1].range(5).aggregate(by=["k"], n="COUNT(*)"),
        "named": s.range(6).alias("a").join(r.alias("b"), on="a.k = b.k").select("b.name"),
        "sent": left.istream(),
    }
    for name, one in built.items():
        query = db.query(one, name=name)
        assert query.plan == one.plan, "it has come through as it was"
    assert db["most"].text.startswith("MaxUnion\n")
    db.update("r", insert=[(1, "one"), (2, "two")], at=0)
    db.insert("s", S)
    db.insert("t", T)
    db.finish()
    history = RelationHistory([(1, "one"), (2, "two")])
    oracle = Oracle(Inputs({"s": S, "t": T}, {"r": history}))
    for name, one in built.items():
        if isinstance(one.plan, RelationToStream):
            sent = [(*each.row, each.at) for each in oracle.emissions(one.plan)]
            assert Counter(rows(db[name].emissions())) == Counter(sent)
        else:
            found = Counter(rows(db[name].changes()))
            assert found == expected(oracle.timeline(one.plan), 2**62), name


MISTAKES: dict[str, tuple[Callable[[Connection], object], type[Exception], str]] = {
    "unknown stream": (lambda db: db.insert("ss", []), UnknownName, "Did you mean"),
    "a relation": (lambda db: db.insert("r", []), UnknownName, '"r" is a relation, not a stream'),
    "unknown query": (lambda db: db["nobody"], UnknownName, "no query"),
    "a statement": (lambda db: db.query("SHOW STREAMS"), QueryError, "expected a query"),
    "a taken name": (lambda db: db.query("SELECT k FROM s", "t"), QueryError, "already a stream"),
    "its column": (
        lambda db: db.query("SELECT kk FROM s [NOW]"), UnknownName, "line 1, column 8",
    ),
    "too few values": (lambda db: db.insert("s", [(1,)]), DataError, "row 1 has 1 value"),
    "another type": (
        lambda db: db.update("r", insert=[("x", "y")]), DataError, "not a value of type INT",
    ),
    "not there": (lambda db: db.update("r", delete=[(7, "x")]), DataError, "does not have"),
    "no instant": (lambda db: db.advance("s", "noon"), DataError, "counted in ticks"),
    "a source in use": (
        lambda db: (db.query("SELECT k FROM s [NOW]"), db.execute("DROP STREAM s")),
        QueryError, "is used by",
    ),
    "another stream": (
        lambda db: db.query(stream("s", "ts BIGINT, w INT", time="ts").now()),
        QueryError, r"otherwise than it is declared(?s:.*)db\.source",
    ),
}  # fmt: skip


def test_mistakes_are_answered_with_a_sentence(db: Connection) -> None:
    db.execute(DECLARED)
    for name, (mistake, kind, message) in MISTAKES.items():
        with pytest.raises(kind, match=message):
            mistake(db)
        assert len(db.queries) <= 1, name


def test_what_an_engine_cannot_do_it_says(db: Connection, engine: str, tmp_path: Path) -> None:
    query = fed(db)["grouped"]
    elsewhere: dict[str, list[Callable[[], object]]] = {
        "local": [
            query.replan,
            lambda: db.execute("REPLAN grouped"),
            lambda: db.execute("CREATE SINK x FROM grouped USING console"),
            lambda: db.sink("x", "grouped", print),
            lambda: db.on_commit(print),
            lambda: query.snapshot(format="spark"),
        ],
        "spark": [lambda: db.save(tmp_path / "saved"), lambda: db.late("r")],
    }
    for ask in elsewhere[engine]:
        with pytest.raises(NotSupported, match=r"(?s)\w+ \w+.*\n  \w+"):
            ask()
    assert db.failure is None
    db.resume()


def test_a_closed_connection_says_so(db: Connection) -> None:
    query = fed(db)["grouped"]
    waiting: list[object] = []
    thread = threading.Thread(target=lambda: waiting.append(rows(query)))
    thread.start()
    db.close()
    db.close()
    thread.join(60)
    assert waiting, "who waits is let go"
    asked: list[Callable[[], object]] = [
        lambda: db.execute("SHOW STREAMS"),
        lambda: db["grouped"],
        lambda: db.insert("s", []),
        lambda: db.late("s"),
        db.wait_idle,
        db.progress,
        query.snapshot,
    ]
    for ask in asked:
        with pytest.raises(QueryError, match="the connection is closed"):
            ask()
    assert repr(db) == "penstock connection, closed"
    assert repr(query) == 'query "grouped", dropped, or its connection is closed'

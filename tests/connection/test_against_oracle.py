"""Whatever is fed in whatever order: a connection shows what the oracle says, and it is final."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.algebra.streams import RelationToStream
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.reference.oracle import Oracle
from penstock_fuzz.trial import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.patterns import Strategy
    from penstock.connection.connection import Connection
    from penstock.connection.query import Query
    from penstock.reference.timeline import Row, Timeline

DECLARATIONS = """
CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 4);
CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
CREATE RELATION r (k INT, name STRING);
"""
QUERIES = {
    "grouped": "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 7] GROUP BY k",
    "stepping": "SELECT k, v FROM s [RANGE 6 SLIDE 3]",
    "stepping_sum": "SELECT k, SUM(v) AS total FROM s [RANGE 8 SLIDE 4] GROUP BY k",
    "counted": "SELECT COUNT(*) AS n FROM s [ROWS 3]",
    "different": "SELECT DISTINCT k FROM s [RANGE 5]",
    "named": "SELECT s.k, v, name FROM s [RANGE 6] JOIN r ON s.k = r.k",
    "only_s": "SELECT k FROM s [RANGE 9] EXCEPT ALL SELECT k FROM t [RANGE 9]",
    "entering": "ISTREAM(SELECT k FROM s [RANGE 5])",
    "leaving": "DSTREAM(SELECT s.k FROM s [RANGE 5], t [RANGE 3] WHERE s.k = t.k)",
    "sliding": "RSTREAM(SELECT k, COUNT(*) AS n FROM s [RANGE 6 SLIDE 3] GROUP BY k)",
}

keys = st.sampled_from([1, 2, None])
ahead = st.integers(-5, 9)
rows_of_s = st.lists(st.tuples(ahead, keys, st.integers(-2, 2)), min_size=1, max_size=8)
rows_of_t = st.lists(st.tuples(ahead, keys), min_size=1, max_size=4)
changes_of_r = st.tuples(st.integers(0, 5), st.integers(1, 2), st.sampled_from(["a", "b"]))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("s"), rows_of_s),
        st.tuples(st.just("t"), rows_of_t),
        st.tuples(st.just("r"), changes_of_r),
        st.tuples(st.just("advance"), st.tuples(st.sampled_from("st"), ahead)),
        st.tuples(st.just("save"), st.none()),
    ),
    min_size=3,
    max_size=9,
)
STEP = 6
"""How far time has got with each step: rows are some of them late, some within the slack."""


@dataclass
class Seen:
    """What one query showed in the end, and what it called final on the way."""

    query: str
    rows: list[Row] = field(default_factory=list)
    snapshots: list[tuple[int, Counter[Row]]] = field(default_factory=list)

    def look(self, query: Query) -> None:
        is_stream = isinstance(query.plan, RelationToStream)
        results = query.emissions() if is_stream else query.changes()
        rows = [tuple(row.values()) for row in results.to_pylist()]
        assert rows[: len(self.rows)] == self.rows, "what was shown was final"
        self.rows = rows
        if not is_stream and query.clock is not None and query.clock < 2**62:
            for at in (query.clock - 1, query.clock - 4):
                found = (
                    query.snapshot() if at == query.clock - 1 else query.snapshot(at=at)
                ).to_pylist()
                self.snapshots.append((at, Counter(tuple(row.values()) for row in found)))


@dataclass
class Fed:
    """What was fed: rows in their order, changes of the relation."""

    s: list[Row] = field(default_factory=list)
    t: list[Row] = field(default_factory=list)
    changes: list[RelationChange] = field(default_factory=list)

    def inputs(self, db: Connection) -> Inputs:
        streams = {}
        for name, rows in (("s", self.s), ("t", self.t)):
            late = [int(place) for place in db.late(name)["_position"].to_pylist()]
            streams[name] = [row for place, row in enumerate(rows) if place not in late]
        return Inputs(streams, {"r": RelationHistory((), self.changes)})


def change_relation(db: Connection, fed: Fed, change: tuple[int, int, str]) -> None:
    """Insert a row, or remove it if it is there in the end; dated when no clock is past it."""
    ahead, row = change[0], change[1:]
    clocks = [query.clock for query in db.queries.values() if query.clock is not None]
    last = max((one.at for one in fed.changes), default=0)
    at = max([0, last, *clocks]) + ahead
    there = Counter(one.sign for one in fed.changes if one.row == row)
    if there["+"] > there["-"]:
        db.update("r", delete=[row], at=at)
        fed.changes.append(RelationChange(at, "-", row))
    else:
        db.update("r", insert=[row], at=at)
        fed.changes.append(RelationChange(at, "+", row))


@settings(max_examples=80, deadline=None)
@given(
    steps,
    st.sampled_from(sorted(QUERIES)),
    st.integers(1, 3),
    st.sampled_from(STRATEGIES),
)
def test_a_connection_shows_what_the_oracle_says(
    feeds: list[tuple[str, object]], name: str, lanes: int, strategy: Strategy
) -> None:
    db = penstock.connect_inline(lanes=lanes, strategy=strategy)
    db.execute(f"{DECLARATIONS} CREATE QUERY watched AS {QUERIES[name]};")
    plan = db["watched"].plan
    fed, seen = Fed(), Seen(name)
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, what) in enumerate(feeds):
            db = perform(db, fed, kind, what, number * STEP, Path(folder))
            seen.look(db["watched"])
    inputs = fed.inputs(db)
    db.finish()
    seen.look(db["watched"])

    oracle = Oracle(inputs)
    if isinstance(plan, RelationToStream):
        sent = [(*one.row, one.at) for one in oracle.emissions(plan)]
        assert Counter(seen.rows) == Counter(sent)
        assert [row[-1] for row in seen.rows] == [one.at for one in oracle.emissions(plan)]
        return
    timeline = oracle.timeline(plan)
    assert Counter(seen.rows) == Counter(expected_changes(timeline))
    instants = [row[-2] for row in seen.rows if row[-2] is not None]
    assert instants == sorted(instants)
    for at, content in seen.snapshots:
        assert content == timeline.at(at), f"final at {at}"


def expected_changes(timeline: Timeline) -> list[Row]:
    """The changes as a connection shows them."""
    expected: list[Row] = [(*row, None, "+") for row in timeline.initial.elements()]
    for change in timeline.changes():
        expected += [(*row, change.at, "-") for row in change.removed.elements()]
        expected += [(*row, change.at, "+") for row in change.inserted.elements()]
    return expected


def perform(
    db: Connection, fed: Fed, kind: str, what: object, now: int, folder: Path
) -> Connection:
    match kind, what:
        case "s" | "t", list(rows):
            rows = moved(rows, now)
            (fed.s if kind == "s" else fed.t).extend(rows)
            db.insert(kind, rows)
        case "r", tuple(change):
            change_relation(db, fed, change)
        case "advance", (str(stream), int(instant)):
            db.advance(stream, now + instant)
        case _:
            db.save(folder / "saved")
            db = penstock.connect_inline(restore=folder / "saved")
    return db


def moved(rows: Sequence[Row], by: int) -> list[Row]:
    """Rows at other instants."""
    return [(at + by, *values) for at, *values in rows if isinstance(at, int)]


@settings(max_examples=60, deadline=None)
@given(rows_of_s, st.lists(changes_of_r, min_size=1, max_size=3), rows_of_s)
def test_a_query_registered_later_sees_the_rows_from_then_on_and_relations_as_they_are(
    before: list[Row], changes: list[tuple[int, int, str]], after: list[Row]
) -> None:
    db = penstock.connect_inline()
    db.execute(DECLARATIONS)
    fed = Fed()
    for change in changes:
        change_relation(db, fed, change)
    db.insert("s", before)
    query = db.query(QUERIES["named"])
    after = moved(after, STEP)
    db.insert("s", after)
    late = [int(place) for place in db.late("s")["_position"].to_pylist()]
    taken = [row for place, row in enumerate(after, start=len(before)) if place not in late]
    db.finish()
    inputs = Inputs({"s": taken}, {"r": RelationHistory((), fed.changes)})
    found = Counter(tuple(row.values()) for row in query.changes().to_pylist())
    assert found == Counter(expected_changes(Oracle(inputs).timeline(query.plan)))

"""State divided among another number of lanes: results go on as the oracle says."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from penstock.errors import InternalError
from penstock.operators.block import arriving
from penstock.operators.division import CannotDivide
from penstock.operators.saved_tables import arrays_of
from penstock.operators.window.merged_numbers import NUMBERS
from penstock.planner.partition.partitioning import partitioning_of
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lowering import operator_graph
from penstock.reference.arrow_rows import stream_table
from penstock.reference.compare import Tolerance
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.runtime import local_run as running_queries
from penstock.runtime.lane import Lane
from penstock.runtime.lane_output import together
from penstock.runtime.lanes import Router
from penstock.runtime.local_run import LocalRun
from penstock.runtime.repartition import repartitioned
from penstock.session import Session
from penstock.testing.engines import OracleEngine
from penstock.testing.inline import QUERY, answer_of, changes_table
from penstock_fuzz.check import compare_answers, tolerance_for

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.algebra.patterns import Strategy
    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Row

DECLARATIONS = """
    CREATE STREAM a (ts BIGINT, k BIGINT, v BIGINT, name STRING, WATERMARK FOR ts AS ts - 3);
    CREATE STREAM b (ts BIGINT, k BIGINT, v BIGINT, name STRING, WATERMARK FOR ts AS ts);
    CREATE RELATION r (k BIGINT, v BIGINT, name STRING);
    CREATE NONRETROACTIVE RELATION n (k BIGINT, v BIGINT, name STRING);
"""
SLACK = {"a": 3, "b": 0}
ROWS = 72
LANES = (1, 3, 2, 5, 1, 4, 2, 7)
"""How many lanes there are, from feed to feed."""

QUERIES = {
    "window": "SELECT * FROM a [RANGE 9 SLIDE 4]",
    "join": "SELECT a.k, a.v, b.name FROM a [RANGE 12], b [RANGE 7] WHERE a.k = b.k",
    "join on an expression": "SELECT a.v, b.v FROM a [RANGE 9], b [RANGE 9] WHERE a.k + 1 = b.v",
    "three by one key": (
        "SELECT q.v, r.name FROM (SELECT a.k, a.v FROM a [RANGE 9] JOIN b [RANGE 9]"
        " ON a.k = b.k AND a.v = b.k) AS q JOIN r ON q.k = r.k"
    ),
    "join with a relation": "SELECT a.k, r.name FROM a [RANGE 12] JOIN r ON a.k = r.k",
    "broadcast": "SELECT a.k, r.name FROM a [RANGE 12] JOIN r ON a.v < r.v",
    "left join": "SELECT * FROM a [RANGE 9] LEFT JOIN b [RANGE 5] ON a.k = b.k",
    "full join": "SELECT * FROM a [RANGE 9] FULL JOIN b [RANGE 5] USING (k)",
    "full join, a residual": (
        "SELECT a.k, b.v FROM a [RANGE 9] FULL JOIN b [RANGE 5] ON a.k = b.k AND a.v < b.v"
    ),
    "semi-join": (
        "SELECT a.v FROM a [RANGE 12] WHERE EXISTS"
        " (SELECT * FROM b [RANGE 6] WHERE a.k = b.k AND a.v < b.v)"
    ),
    "anti-join": (
        "SELECT a.v FROM a [RANGE 12] WHERE NOT EXISTS"
        " (SELECT * FROM b [RANGE 6] WHERE a.k = b.k AND a.v < b.v)"
    ),
    "correlated": (
        "SELECT a.k, a.v, (SELECT COUNT(*) FROM b [RANGE 6] WHERE a.k = b.k AND a.v < b.v) AS n"
        " FROM a [RANGE 12]"
    ),
    "scalar": "SELECT a.k FROM a [RANGE 12] WHERE a.v > (SELECT AVG(r.v) FROM r)",
    "distinct": "SELECT DISTINCT k, v FROM a [RANGE 12]",
    "distinct of rows withdrawn": "SELECT DISTINCT k FROM a [PARTITION BY k, v ROWS 2]",
    "rows": "SELECT * FROM a [PARTITION BY k ROWS 3 SLIDE 2]",
    "intersection": "SELECT k FROM a [RANGE 12] INTERSECT ALL SELECT k FROM b [RANGE 9]",
    "difference": "SELECT k FROM a [RANGE 12] EXCEPT ALL SELECT k FROM b [RANGE 9]",
    "union": "SELECT k FROM a [RANGE 12] UNION SELECT k FROM b [RANGE 9]",
    "counts and sums": (
        "SELECT k, COUNT(*), SUM(v), AVG(v / 7.0), STDDEV_POP(v), BOOL_OR(v > 3)"
        " FROM a [RANGE 12] GROUP BY k"
    ),
    "ranks": "SELECT k, MEDIAN(v), MIN(name), MAX(v) FROM a [RANGE 12] GROUP BY k",
    "texts": "SELECT k, MAX(name) FROM a [RANGE 12] GROUP BY k",
    "different texts": (
        "SELECT k, COUNT(DISTINCT name), SUM(DISTINCT v), MIN(name) FROM a [PARTITION BY k ROWS 4]"
        " GROUP BY k"
    ),
    "texts of pairs": (
        "SELECT a.k, MIN(r.name), MEDIAN(r.v), COUNT(DISTINCT r.name) FROM a [RANGE 12]"
        " JOIN r ON a.k = r.k GROUP BY a.k"
    ),
    "groups of an outer join": (
        "SELECT k, COUNT(a.v), COUNT(b.v) FROM a [RANGE 9] FULL JOIN b [RANGE 5] USING (k)"
        " GROUP BY k"
    ),
    "groups of groups": (
        "SELECT k, MAX(n) FROM (SELECT k, v, COUNT(*) AS n FROM a [RANGE 12] GROUP BY k, v)"
        " GROUP BY k"
    ),
    "what enters": "ISTREAM(SELECT k, COUNT(*) FROM a [RANGE 12] GROUP BY k)",
    "what leaves": "DSTREAM(SELECT DISTINCT k, v FROM a [RANGE 12])",
    "all at slides": "RSTREAM(SELECT k, COUNT(*) FROM a [RANGE 12 SLIDE 5] GROUP BY k)",
    "rows at slides": "RSTREAM(SELECT * FROM a [RANGE 12 SLIDE 5])",
    "numbers of rows withdrawn": (
        "SELECT a.v, b.v FROM a [PARTITION BY k ROWS 4] LEFT JOIN b [RANGE 6]"
        " ON a.k = b.k AND a.v < b.v"
    ),
    "restored": "RSTREAM RESTORE(SELECT k, v FROM a [RANGE 3 SLIDE 5])",
    "internal": "SELECT a.v FROM a [RANGE 9 INTERNAL], b [RANGE 9 INTERNAL] WHERE a.k = b.k",
    "internal, in again": (
        "SELECT a.v FROM a [RANGE 9 INTERNAL] WHERE EXISTS (SELECT * FROM b [RANGE 3 INTERNAL]"
        " WHERE a.k = b.k)"
    ),
    "read on arrival": "SELECT a.v, n.name FROM a [RANGE 12] JOIN n ON a.k = n.k",
    "read on arrival, rows": (
        "SELECT a.v, n.name FROM a [PARTITION BY k ROWS 3] JOIN n ON a.k = n.k"
    ),
    "aggregate on arrival": (
        "SELECT a.k, (SELECT COUNT(*) FROM n WHERE n.k = a.k) AS c FROM a [RANGE 12]"
    ),
    "a relation alone": "SELECT k, COUNT(*), MAX(name) FROM r GROUP BY k",
}


DROP_THEIR_KEY = {"broadcast", "scalar"}
"""Whole rows divide these, of which not all columns are kept; so negative rows know no lane."""


def planned(query: str) -> Plan:
    session = Session()
    session.execute(DECLARATIONS)
    return session.bind(query).plan


def random_rows(draw: random.Random, count: int) -> list[Row]:
    at = 0
    rows: list[Row] = []
    for _ in range(count):
        at += draw.choice((0, 0, 1, 1, 2))
        key = draw.choice((None, *range(9)))
        name = draw.choice((None, "", "x", "yy", "zzz"))
        rows.append((at, key, draw.randrange(6), name))
    return rows


def random_history(draw: random.Random, last: int) -> RelationHistory:
    initial: list[Row] = [(key, key % 4, f"n{key % 3}") for key in range(8)]
    there = list(initial)
    changes = []
    for at in range(1, last, 3):
        if there and draw.random() < 0.5:
            changes.append(RelationChange(at, "-", there.pop(draw.randrange(len(there)))))
        else:
            row: Row = (draw.randrange(9), draw.randrange(5), f"n{draw.randrange(4)}")
            there.append(row)
            changes.append(RelationChange(at, "+", row))
    return RelationHistory(tuple(initial), tuple(changes))


class Input:
    """Rows and changes, and what of them comes with each feed."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.streams = {name: random_rows(draw, ROWS) for name in ("a", "b")}
        self.relations = {name: random_history(draw, ROWS) for name in ("r", "n")}

    def inputs(self) -> Inputs:
        return Inputs(dict(self.streams), self.relations)

    def tables(self, running: LocalRun, number: int) -> dict[str, pa.Table]:
        """What comes with a feed: changes, which are dated, all with the first."""
        size = ROWS // len(LANES)
        tables = {
            name: stream_table(plan.schema, self.streams[name][number * size :][:size])
            for name, (plan, _) in running.graph.streams.items()
        }
        if number == 0:
            for name, (plan, _) in running.graph.relations.items():
                tables[name] = changes_table(plan.schema, self.relations[name])
        return tables


def started(plan: Plan, lanes: int, strategy: Strategy = "upa") -> LocalRun:
    return LocalRun({QUERY: plan}, SLACK, lanes, Choices(strategy, 4))


def moved(running: LocalRun, plan: Plan, lanes: int, strategy: Strategy = "upa") -> LocalRun:
    """The same queries on another number of lanes."""
    other = started(plan, lanes, strategy)
    other.restore(running.save())
    assert len(other.lanes.lanes) == lanes
    return other


@pytest.mark.parametrize("strategy", ["upa", "negative"])
@pytest.mark.parametrize("name", QUERIES)
def test_results_go_on_whatever_the_number_of_lanes(name: str, strategy: Strategy) -> None:
    plan = planned(QUERIES[name])
    assert partitioning_of(plan).is_partitioned
    given = Input(7)
    running = started(plan, LANES[0], strategy)
    results = running.feed(given.tables(running, 0))
    if name in DROP_THEIR_KEY and strategy == "negative":
        with pytest.raises(CannotDivide):
            moved(running, plan, LANES[1], strategy)
        return
    for number, lanes in enumerate(LANES[1:], start=1):
        running = moved(running, plan, lanes, strategy)
        results.extend(running.feed(given.tables(running, number)))
    results.extend(moved(running, plan, 3, strategy).finish())
    answer = answer_of(plan, results.blocks.get(QUERY, []), 0)
    expected = OracleEngine().evaluated(plan, given.inputs())
    tolerance = tolerance_for(plan, given.inputs())
    assert compare_answers(plan, expected, answer, tolerance) is None


@pytest.mark.parametrize("name", ["join", "full join", "ranks", "distinct", "rows", "union"])
def test_each_lane_knows_what_it_would_know_had_there_always_been_as_many(name: str) -> None:
    plan = planned(QUERIES[name])
    given = Input(11)
    running, always = started(plan, 1), started(plan, 4)
    for number, lanes in enumerate((1, 3, 4)):
        running = moved(running, plan, lanes)
        for one in (running, always):
            one.feed(given.tables(one, number))
    kept = [[report.state_rows for report in lane.reports()] for lane in running.lanes.lanes]
    expected = [[report.state_rows for report in lane.reports()] for lane in always.lanes.lanes]
    assert kept == expected
    assert sum(sum(lane) > 0 for lane in kept) > 1


def test_a_text_is_forgotten_with_the_last_row_that_holds_it() -> None:
    plan = planned(
        "SELECT k, MIN(name), COUNT(DISTINCT name) FROM a [PARTITION BY k ROWS 2] GROUP BY k"
    )
    running = started(plan, 2)
    schema = running.graph.streams["a"][0].schema
    rows = [(at, at % 4, 0, f"text {at % 10}") for at in range(40)]
    for number, lanes in enumerate((3, 1, 4, 2)):
        running = moved(running, plan, lanes)
        running.feed({"a": stream_table(schema, rows[10 * number :][:10])})
    running.feed({"a": stream_table(schema, [(60 + n, n % 4, 0, "last") for n in range(8)])})
    running.feed({"a": stream_table(schema, [(90, 0, 0, "last")])})
    pools = [
        table["text"].to_pylist()
        for segments in running.save().lanes
        for name, table in segments.items()
        if "/pool" in name
    ]
    assert {text for pool in pools for text in pool} == {b"last"}


def test_numbers_do_not_grow_with_the_changes_of_lanes() -> None:
    plan = planned(QUERIES["anti-join"])
    given = Input(3)
    running = started(plan, 1)
    for number, lanes in enumerate((2, 5, 3, 4, 2, 7)):
        running.feed(given.tables(running, number))
        for _ in range(5):
            running = moved(running, plan, lanes)
            running = moved(running, plan, 1)
    following = [
        table["number"][0].as_py() % NUMBERS
        for segments in running.save().lanes
        for name, table in segments.items()
        if name.endswith("/next/known")
    ]
    assert following
    assert max(following) <= ROWS


def test_state_that_does_not_say_where_it_belongs_is_not_guessed() -> None:
    # How many keys have each count is known; which ones, the rows to be sent out do not say.
    plan = planned("RSTREAM(SELECT COUNT(*) AS c FROM a [RANGE 12 SLIDE 5] GROUP BY k)")
    given = Input(7)
    running = started(plan, 2)
    for number in range(4):
        running.feed(given.tables(running, number))
    other = started(plan, 3)
    with pytest.raises(CannotDivide, match="the state of RStream") as refused:
        other.restore(running.save())
    assert "as many lanes as before" in str(refused.value)
    assert moved(running, plan, 2)


def as_they_are(plans: dict[str, Plan], **_: object) -> dict[str, Plan]:
    return plans


def test_pairs_that_other_lanes_would_have_are_not_guessed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Without rules the casts keep the equalities out of the joins: in each lane all rows are
    # paired, and which pairs a row withdraws depends on what else is in its lane.
    monkeypatch.setattr(running_queries, "plans_to_run", as_they_are)
    plan = planned(
        "SELECT a.v FROM a [PARTITION BY k ROWS 2], b [PARTITION BY k ROWS 2], a [RANGE 9] AS c"
        " WHERE CAST(a.k AS INT) = CAST(b.k AS INT) AND CAST(a.k AS INT) = CAST(c.k AS INT)"
    )
    assert partitioning_of(plan).is_partitioned
    given = Input(7)
    running, other = (
        LocalRun({QUERY: plan}, SLACK, lanes, Choices(joins="tree")) for lanes in (2, 1)
    )
    running.feed(given.tables(running, 0))
    with pytest.raises(CannotDivide, match="the state of Product"):
        other.restore(running.save())


def test_lanes_at_different_instants_are_brought_to_one_first() -> None:
    plan = planned("SELECT k, COUNT(*) AS c FROM a [RANGE 4] GROUP BY k")
    graph, partitioning = operator_graph({QUERY: plan}), partitioning_of(plan)
    schema = graph.streams["a"][0].schema
    lanes = [Lane(graph) for _ in range(2)]
    router = Router(partitioning.routes["a"], schema, 2)
    rows = arriving(
        tuple(arrays_of(stream_table(schema, [(1, key, 0, "") for key in range(8)]))),
        np.ones(8, np.int64),
    )
    results = together(
        [
            lane.feed({"a": router.share(rows, number)}, {"a": watermark})
            for number, (lane, watermark) in enumerate(zip(lanes, (3, 20), strict=True))
        ]
    )
    with pytest.raises(InternalError, match="different instants at Stream a"):
        repartitioned(graph, partitioning, [lane.segments() for lane in lanes], 1)
    results.extend(together([lane.feed({}, {"a": 20}) for lane in lanes]))
    (only,) = repartitioned(graph, partitioning, [lane.segments() for lane in lanes], 1)
    lane = Lane(graph)
    lane.restore(only)
    assert lane.clock(QUERY) == 20
    results.extend(lane.finish())
    answer = answer_of(plan, results.blocks[QUERY], 0)
    given = [(1, key, 0, "") for key in range(8)]
    expected = OracleEngine().evaluated(plan, Inputs({"a": given}, {}))
    assert compare_answers(plan, expected, answer, Tolerance()) is None


def test_state_of_as_many_lanes_is_not_touched() -> None:
    plan = planned(QUERIES["join"])
    running = started(plan, 3)
    running.feed(Input(1).tables(running, 0))
    segments = running.save().lanes
    assert repartitioned(running.graph, running.partitioning, segments, 3) == segments

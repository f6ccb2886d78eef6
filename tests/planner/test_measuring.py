"""Statistics come from the reports of lanes, are written down, and change which plan is chosen."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra.text import plan_text
from penstock.operators.block import arriving
from penstock.planner.explain.explain import explained
from penstock.planner.optimizing import optimized
from penstock.planner.statistics.measuring import (
    conditions_seen,
    measured,
    selectivity_of,
    streams_seen,
)
from penstock.planner.statistics.statistics import Statistics
from penstock.runtime.local_run import LocalRun
from penstock.runtime.operator_report import OperatorReport, StreamReport
from penstock.session import Session
from penstock.state.lane_hash import hashes_of
from penstock.state.sketches import Sketch

DECLARED = (
    "CREATE STREAM a (ts BIGINT, k INT, v INT, j INT, WATERMARK FOR ts AS ts)",
    "CREATE STREAM b (ts BIGINT, k INT, x INT, m INT, WATERMARK FOR ts AS ts)",
    "CREATE STREAM c (ts BIGINT, m INT, z INT, WATERMARK FOR ts AS ts)",
)
JOINED = """SELECT a.v, b.x, c.z FROM a [RANGE 100], b [RANGE 100], c [RANGE 100]
            WHERE a.k = b.k AND b.m = c.m AND a.v > 5 AND c.z > 5"""
NEGATED = """SELECT a.v, b.x FROM a [RANGE 100], b [RANGE 100]
             WHERE a.k = b.k AND NOT EXISTS (SELECT * FROM c [RANGE 100] WHERE c.m = a.j)"""
KNOWN = Statistics(
    {"a": 0.5},
    {("a", "k"): 12.0, ("b", "x"): 1e6},
    {"(a.v > 5)": 0.25},
    {("a", "k"): 4.0},
    {"(SELECT COUNT(*) FROM a [NOW])": (0.5, 0.25)},
)


def session() -> Session:
    made = Session()
    for text in DECLARED:
        made.execute(text)
    return made


def chosen(text: str, statistics: Statistics | None = None) -> str:
    return plan_text(optimized({"q": session().bind(text).plan}, statistics)["q"].plan)


def values(*found: int) -> dict[str, int | str]:
    made = Sketch()
    made.add(hashes_of([pa.array(found, pa.int64())], len(found)))
    return made.to_json()


def stream(
    rows: int, first: int, latest: int, *, whole: bool = False, k: int = 0
) -> dict[str, object]:
    seen = StreamReport("a", rows, first, latest, whole, {"k": values(*range(k, k + 300))})
    return asdict(OperatorReport("Stream a", rows, rows, 0, 0, 0.0, stream=seen))


def filtered(
    rows: int, out: int, key: str = "(a.v > 5)", **parts: tuple[int, int]
) -> OperatorReport:
    return OperatorReport("Filter", rows, out, 0, 0, 0.0, predicate=key, parts=parts)


def test_statistics_are_written_down_and_read_again() -> None:
    text = json.dumps(KNOWN.to_json())
    assert Statistics.from_json(json.loads(text)) == KNOWN
    assert Statistics.from_json({}) == Statistics()
    assert not Statistics()
    assert KNOWN


def test_what_hardly_differs_is_written_alike_and_in_order() -> None:
    one = Statistics({"b": 1.23456, "a": 7.0}, {}, {"y": 0.33341, "x": 1.0})
    other = Statistics({"a": 7.001, "b": 1.23111}, {}, {"x": 1.0, "y": 0.33299})
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())
    assert list(one.to_json()["rates"]) == ["a", "b"]


def test_shares_of_lanes_are_added() -> None:
    found = measured({"0.0.0": [stream(600, 0, 999)], "0.0.1": [stream(400, 5, 990, k=300)]})
    assert found.rates == {"a": 1.0}
    assert found.values["a", "k"] == pytest.approx(1000, rel=0.6)
    assert streams_seen([[stream(600, 0, 999)], [stream(400, 5, 990, k=300)]])["a"].rows == 1000


def test_rows_that_all_lanes_get_are_counted_once() -> None:
    lanes = {f"0.0.{n}": [stream(600, 0, 599, whole=True)] for n in range(3)}
    assert measured(lanes).rates == {"a": 1.0}


def test_of_several_readers_of_a_stream_the_one_counts_that_has_seen_most() -> None:
    lanes = {"0.0.0": [stream(600, 0, 599)], "1.0.0": [stream(300, 300, 449)]}
    assert measured(lanes).rates == {"a": 1.0}


def test_selectivities_are_those_of_all_lanes() -> None:
    found = measured([[filtered(300, 30)], [filtered(100, 70)]])
    assert found.selectivities == {"(a.v > 5)": 0.25}


def test_parts_are_known_by_samples_unless_all_rows_say_it() -> None:
    both = "(a.k = 1) AND (a.v > 5)"
    split = filtered(1000, 50, both, **{"(a.k = 1)": (200, 20), "(a.v > 5)": (200, 90)})
    assert measured([[split]]).selectivities == {both: 0.05, "(a.k = 1)": 0.1, "(a.v > 5)": 0.45}
    alone = filtered(1000, 500)
    assert measured([[split, alone]]).selectivities["(a.v > 5)"] == 0.5


def test_a_predicate_that_nothing_passed_is_rare_not_impossible() -> None:
    assert measured([[filtered(1000, 0)]]).selectivities == {"(a.v > 5)": 0.0005}


def test_little_is_not_relied_on() -> None:
    assert measured([[stream(20, 0, 40), filtered(20, 3)]]) == Statistics()
    assert measured([[stream(20, 0, 19)]], least_rows=1).rates == {"a": 1.0}
    assert measured({}) == Statistics()


def test_of_a_join_pairs_say_what_its_condition_lets_pass() -> None:
    key = "(a [RANGE 5].v > b [NOW].x)"
    lanes = [
        [OperatorReport("Join", 50, 9, 0, 0, 0.0, predicate=key, pairs=pairs, waiting=50)]
        for pairs in ((300, 60), (100, 40))
    ]
    assert measured(lanes).selectivities == {key: 0.25}
    seen = conditions_seen([[asdict(one) for one in reports] for reports in lanes])[key]
    assert (seen.asked, seen.held, seen.of_pairs, seen.is_exact) == (400, 100, True, True)


def test_of_aggregates_it_is_counted_what_they_send_and_withdraw() -> None:
    key = "(SELECT COUNT(*) FROM a [RANGE 5] GROUP BY a.k)"
    report = OperatorReport("Aggregate", 150, 120, 0, 0, 0.0, 40, 50, made_of=key)
    assert measured([[report], [asdict(report)]]).outputs == {key: (0.8, 0.4)}
    assert measured([[report]], least_rows=200).outputs == {}
    plan = session().bind("SELECT k, COUNT(*) AS n FROM a [RANGE 5] GROUP BY k").plan
    known = Statistics({"a": 10.0}, outputs={key: (0.8, 0.4)})
    assert "Aggregate COUNT(*) BY a.k  [STR] 12 rows/tick" in explained(plan, statistics=known)


def test_rows_that_wait_count_for_no_selectivity() -> None:
    report = OperatorReport("Join", 100, 40, 0, 0, 0.0, waiting=20)
    assert selectivity_of(report) == 0.5
    assert selectivity_of(asdict(OperatorReport("Join", 5, 0, 0, 0, 0.0, waiting=5))) is None


def test_a_measured_selectivity_changes_the_order_of_joins() -> None:
    assert "Join a.k = b.k" in chosen(JOINED).split("Join b.m = c.m")[1]
    rare = Statistics(selectivities={"(c.z > 5)": 0.001, "(a.v > 5)": 0.95})
    assert "Join b.m = c.m" in chosen(JOINED, rare).split("Join a.k = b.k")[1]


def test_measured_values_change_the_place_of_a_negation() -> None:
    assert "Join a.k = b.k" in chosen(NEGATED).split("AntiJoin")[1]
    many_pairs = Statistics(values={("a", "k"): 2.0, ("b", "k"): 2.0})
    assert "AntiJoin" in chosen(NEGATED, many_pairs).split("Join a.k = b.k", 1)[1]


THREE = """SELECT a.v FROM a [RANGE 100], b [RANGE 100], c [RANGE 100]
           WHERE a.k = b.k AND b.m = c.m AND a.v < b.x AND b.k < c.z"""


def test_a_measured_condition_on_two_streams_changes_the_order_of_joins() -> None:
    conditions = ("(a [RANGE 100].v < b [RANGE 100].x)", "(b [RANGE 100].k < c [RANGE 100].z)")
    plans = [
        chosen(THREE, Statistics(selectivities={rare: 0.001, often: 0.95}))
        for rare, often in (conditions, conditions[::-1])
    ]
    # What lets least pass is joined first, so it stands below.
    assert plans[0].index("b.k < c.z") < plans[0].index("a.v < b.x")
    assert plans[1].index("a.v < b.x") < plans[1].index("b.k < c.z")


def test_what_lanes_measured_leads_to_the_other_plan() -> None:
    plan = session().bind(JOINED).plan
    running = LocalRun({"q": plan}, lanes=2)
    generator = np.random.default_rng(7)
    size = 20_000
    ts = np.arange(size) // 2

    def column(most: int) -> pa.Array:
        return pa.array(generator.integers(0, most, size).astype(np.int32))

    rare = pa.array((generator.random(size) < 0.004).astype(np.int32) * 9)
    running.feed(
        {
            "a": pa.table({"ts": ts, "k": column(800), "v": column(100), "j": column(3)}),
            "b": pa.table({"ts": ts, "k": column(800), "x": column(9), "m": column(900)}),
            "c": pa.table({"ts": ts, "m": column(900), "z": rare}),
        }
    )
    found = measured([lane.reports() for lane in running.lanes.lanes])
    assert found.rates == {"a": 2.0, "b": 2.0, "c": 2.0}
    assert found.values["b", "m"] == pytest.approx(900, rel=0.2)
    assert found.values["a", "v"] == pytest.approx(100, rel=0.1)
    assert found.values["a", "j"] == pytest.approx(3, abs=0.1)
    assert found.selectivities["(a.v > 5)"] == pytest.approx(0.94, abs=0.01)
    assert found.selectivities["(c.z > 5)"] == pytest.approx(0.004, abs=0.002)
    assert chosen(JOINED, Statistics.from_json(found.to_json())) != chosen(JOINED)


def lanes_with(keys: np.ndarray[tuple[int], np.dtype[np.int64]], lanes: int) -> LocalRun:
    """Lanes that have seen a stream with these keys, by which it is divided."""
    made = session()
    text = "SELECT k, COUNT(*) AS n FROM a [RANGE 100] GROUP BY k"
    running = LocalRun({"q": made.bind(text).plan}, {"a": 0}, lanes)
    for start in range(0, len(keys), 1000):
        ts = np.arange(start, start + 1000)
        part = pa.array(keys[start : start + 1000], pa.int32())
        block = arriving((pa.array(ts), part, part, pa.array(ts % 7, pa.int32())), ts)
        running.lanes.feed({"a": block}, {"a": start + 1000})
    return running


@pytest.mark.parametrize("lanes", [1, 3])
def test_it_is_measured_how_much_some_values_prevail(lanes: int) -> None:
    shares = 1 / np.arange(1, 1001)
    shares /= shares.sum()
    keys = np.random.default_rng(2).choice(1000, 20_000, p=shares)
    running = lanes_with(keys, lanes)
    found = measured([lane.reports() for lane in running.lanes.lanes])
    assert found.even["a", "k"] == pytest.approx(1 / (shares**2).sum(), rel=0.3)
    # Not divided by it, and as frequent as one another: nothing is said.
    assert ("a", "j") not in found.even


def test_values_that_prevail_make_more_pairs() -> None:
    rates = {"a": 1.0, "b": 1.0, "c": 1.0}
    count = dict.fromkeys((("a", "k"), ("b", "k")), 2000.0)
    even = Statistics(rates, count)
    skewed = Statistics(rates, count, {}, dict.fromkeys(count, 40.0))
    # Most rows are thrown out by the negation, which is best done before they make many pairs.
    assert chosen(NEGATED, skewed) != chosen(NEGATED, even)


def test_explain_of_what_runs_says_what_is_measured() -> None:
    plan = session().bind("SELECT v FROM a [RANGE 10] WHERE v > 5").plan
    assert "Statistics" not in explained(plan)
    assert "Statistics: nothing is measured yet\n" in explained(plan, statistics=Statistics())
    text = explained(plan, statistics=KNOWN)
    said = "measured (rates of a; values of 1 column; selectivities of 1 filter)"
    assert f"Statistics: {said}\n" in text
    # Of 0.5 rows in a tick, a quarter.
    assert "Filter v > 5  [MON] 0.12 rows/tick" in text

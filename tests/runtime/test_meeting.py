"""How often rows meet is measured where they do, and estimates and plans go by it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from connection.inside import batch_of
from penstock import connect_inline
from penstock.algebra.text import plan_text
from penstock.planner.optimizing import optimized
from penstock.planner.statistics.measuring import conditions_seen, measured
from penstock.planner.statistics.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.connection.connection import Connection
    from penstock.connection.query import Query

TICKS, ROUNDS = 500, 4
APART = 1000
"""Added to keys that are to be no others' keys."""
JOINED = "SELECT a.v, b.v AS w FROM a [RANGE 100] a JOIN b [RANGE 100] b ON a.k = b.k"
WITH_PARTNER = (
    "SELECT v FROM a [RANGE 100] WHERE EXISTS (SELECT * FROM b [RANGE 20] WHERE b.k = a.k)"
)
WITHOUT = WITH_PARTNER.replace("EXISTS", "NOT EXISTS")
BEYOND_KEYS = WITHOUT.replace("b.k = a.k", "b.k = a.k AND b.v < a.v")
NEGATED = """SELECT s.v, c.v AS w FROM (SELECT k, v FROM a [RANGE 100] WHERE NOT EXISTS
             (SELECT * FROM b [RANGE 100] WHERE b.k = a.k)) AS s
             JOIN c [RANGE 100] c ON s.k = c.k"""
CHAIN = """SELECT a.v FROM a [RANGE 100] a JOIN b [RANGE 100] b ON a.k = b.k
           JOIN c [RANGE 100] c ON b.j = c.j"""
SENT = r" (?:\[[A-Z]+\]) ([0-9.]+)(k?) rows/tick"


def connected(lanes: int = 1, joins: str = "tree") -> Connection:
    db = connect_inline(lanes=lanes)
    for name in "abc":
        db.execute(f"CREATE STREAM {name} (ts BIGINT, k INT, j INT, v INT, WATERMARK FOR ts AS ts)")
    db.execute(f"SET joins = {joins}")
    return db


def feed(db: Connection, query: str, apart: Mapping[str, int], keys: int = 10) -> Query:
    """Rows of all streams, a row in a tick; `apart` says by how much the keys of one are moved."""
    made = db.query(query)
    for number in range(ROUNDS):
        ts = np.arange(number * TICKS, (number + 1) * TICKS)
        for stream in [one for one in "abc" if f"{one} [" in query]:
            moved = {one: apart.get(f"{stream}.{one}", 0) for one in "kj"}
            drawn = {one: (ts * 7919 % 1009 % keys + moved[one]).astype(np.int32) for one in "kj"}
            db.insert(stream, pa.table({"ts": ts, **drawn, "v": (ts % 50).astype(np.int32)}))
    return made


def statistics(query: Query) -> Statistics:
    return measured([lane.reports() for lane in batch_of(query).lanes.lanes])


def estimated(query: Query, operator: str) -> float:
    """What EXPLAIN expects an operator to send in a tick."""
    found = re.search(rf"{operator}.*? {SENT}", query.explain().partition("Runs as")[2])
    assert found is not None
    return float(found[1]) * (1000 if found[2] else 1)


def sent(query: Query, operator: str) -> float:
    """What it has sent in a tick."""
    rows = [one for one in query.operators().to_pylist() if one["operator"].startswith(operator)]
    return float(rows[-1]["rows_out"]) / (TICKS * ROUNDS)


def chosen(query: Query) -> str:
    return plan_text(optimized({"q": query.plan}, statistics(query))["q"].plan)


@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize("apart", [0, 5, APART])
@pytest.mark.parametrize(
    ("text", "operator"),
    [(JOINED, "Join"), (WITH_PARTNER, "SemiJoin"), (WITHOUT, "AntiJoin"), (NEGATED, "AntiJoin")],
)
def test_estimates_are_near_what_is_sent(text: str, operator: str, apart: int, lanes: int) -> None:
    query = feed(connected(lanes), text, {"b.k": apart})
    assert len(batch_of(query).lanes.lanes) == lanes
    really = sent(query, operator)
    assert really / 2 - 0.02 <= estimated(query, operator) <= really * 2 + 0.02
    if apart == APART:
        assert really == 0 if operator in ("Join", "SemiJoin") else really > 0.9
    assert "selectivities of" in query.explain()


def test_pairs_of_equal_keys_are_counted_beside_what_else_is_asked() -> None:
    beyond = f"{JOINED} AND a.v < b.v"
    query = feed(connected(), beyond, {"b.k": 5})
    found = statistics(query).selectivities
    equal = "(a [RANGE 100].k = b [RANGE 100].k)"
    # Half of ten keys are those of the other stream, too.
    assert found[equal] == pytest.approx(0.05, rel=0.3)
    assert found["(a [RANGE 100].v < b [RANGE 100].v)"] == pytest.approx(0.5, rel=0.3)
    assert sent(query, "Join") / 2 < estimated(query, "Join") < sent(query, "Join") * 2


@pytest.mark.parametrize("lanes", [1, 3])
def test_the_share_of_pairs_does_not_depend_on_lanes(lanes: int) -> None:
    query = feed(connected(lanes), JOINED, {})
    seen = conditions_seen([lane.reports() for lane in batch_of(query).lanes.lanes])
    (share,) = (one.share for one in seen.values() if one.of_pairs)
    assert share == pytest.approx(0.1, rel=0.1)
    # Rows meet those of a hundred ticks, which are fewer at the beginning.
    (asked,) = (one.asked for one in seen.values() if one.of_pairs)
    assert asked == pytest.approx(2 * TICKS * ROUNDS * 100, rel=0.05)


def test_a_negation_that_asks_for_more_than_equal_keys_is_measured() -> None:
    query = feed(connected(), BEYOND_KEYS, {"b.k": 5})
    really = sent(query, "AntiJoin")
    assert really / 2 < estimated(query, "AntiJoin") < really * 2


def test_rows_without_end_meet_all_that_come() -> None:
    text = JOINED.replace("b [RANGE 100]", "b [UNBOUNDED]")
    query = feed(connected(), text, {}, keys=50)
    share = statistics(query).selectivities["(a [RANGE 100].k = b [UNBOUNDED].k)"]
    assert share == pytest.approx(1 / 50, rel=0.2)


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_relation_that_all_lanes_have_is_counted_once(lanes: int) -> None:
    db = connected(lanes)
    db.execute("CREATE RELATION r (k INT, name STRING)")
    db.update("r", insert=[(key, str(key)) for key in range(20)])
    text = "SELECT a.j, COUNT(*) AS n FROM a [RANGE 100] a JOIN r ON a.k = r.k GROUP BY a.j"
    query = feed(db, text, {})
    assert len(batch_of(query).lanes.lanes) == lanes
    share = statistics(query).selectivities["(a [RANGE 100].k = r.k)"]
    assert share == pytest.approx(1 / 20, rel=0.1)


def test_few_pairs_say_nothing_where_values_say_more() -> None:
    db = connected()
    query = db.query(JOINED)
    ts = np.arange(150)
    for name in "ab":
        keys = (ts * 7 % 1009 + (500 if name == "b" else 0)).astype(np.int32)
        db.insert(name, pa.table({"ts": ts, "k": keys, "j": keys, "v": keys}))
    equal = "(a [RANGE 100].k = b [RANGE 100].k)"
    assert equal not in statistics(query).selectivities
    assert equal in conditions_seen([lane.reports() for lane in batch_of(query).lanes.lanes])


def test_the_order_of_joins_follows_which_keys_meet() -> None:
    first = chosen(feed(connected(), CHAIN, {"a.k": APART}))
    second = chosen(feed(connected(), CHAIN, {"c.j": APART}))
    # What meets least is joined first, so it stands below.
    assert first.index("b.j = c.j") < first.index("a.k = b.k")
    assert second.index("a.k = b.k") < second.index("b.j = c.j")


def test_the_place_of_a_negation_follows_which_keys_meet() -> None:
    apart = chosen(feed(connected(), NEGATED, {"c.k": APART}))
    met = chosen(feed(connected(), NEGATED, {}))
    # Where the join leaves nothing, nothing is left to be negated.
    assert is_negated_first(met)
    assert not is_negated_first(apart)


def test_the_place_of_a_negation_follows_how_many_rows_it_lets_pass() -> None:
    plan = connected().query(NEGATED).plan
    asked = "NOT EXISTS (b [RANGE 100] ON (a [RANGE 100].k = b [RANGE 100].k))"
    few_pairs = {"(a [RANGE 100].k = c [RANGE 100].k)": 0.004}
    plans = [
        optimized(
            {"q": plan},
            Statistics(
                dict.fromkeys("abc", 1.0),
                selectivities={**few_pairs, asked: passing},
                outputs={asked: (passing, 0.0)},
            ),
        )
        for passing in (0.001, 1.0)
    ]
    assert [is_negated_first(plan_text(one["q"].plan)) for one in plans] == [True, False]


def is_negated_first(plan: str) -> bool:
    return "AntiJoin" in plan.split("Join a.k = c.k", 1)[1]


def test_what_was_measured_of_meetings_is_written_down() -> None:
    found = statistics(feed(connected(), NEGATED, {"b.k": 5}))
    assert any(key.startswith("NOT EXISTS") for key in found.selectivities)
    assert any(key.startswith("NOT EXISTS") for key in found.outputs)
    assert Statistics.from_json(found.to_json()) == found

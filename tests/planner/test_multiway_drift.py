"""Rates that change while a join of many windows runs: which orders follow, and what it answers."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import penstock
from connection.inside import batch_of
from penstock.algebra.time import INFINITY
from penstock.operators.block import arriving
from penstock.operators.multi_join import multi_join_reordering
from penstock.operators.multi_join.multi_join_reordering import ReorderingJoin
from penstock.planner.cost.join_orders import best_orders, orders_at
from penstock.planner.operator_facts import follows_rate
from penstock.planner.optimizing import optimized
from penstock.planner.partition.fragments import fragments_of
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock.planner.statistics.statistics import Statistics
from penstock.runtime.lane import Lane
from penstock.session import Session
from planner.many_windows import declared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.planner.cost.join_model import JoinModel

MULTIWAY, TREE = Choices(joins="multiway"), Choices(joins="tree")
KEYS = 100
WINDOWS = "a [ROWS 50], b [RANGE 100], c [RANGE 100], d [ROWS 100]"
ON_ONE_KEY = f"SELECT a.v FROM {WINDOWS} WHERE a.k = b.k AND b.k = c.k AND c.k = d.k"


def bound(query: str, known: Statistics | None = None) -> Plan:
    session = Session()
    session.execute(declared("abcde"))
    return optimized({"q": session.bind(query).plan}, known)["q"].plan


def knowing(**rates: float) -> Statistics:
    return Statistics(rates=rates, values={(name, "k"): float(KEYS) for name in "abcde"})


def model_at(plan: Plan, known: Statistics) -> JoinModel:
    (way,) = MultiwayChoices([plan], MULTIWAY, known).all_of(plan)
    return way.many.model


@pytest.mark.parametrize("fast", "abcd")
def test_orders_after_a_drift_are_those_that_the_planner_would_choose(fast: str) -> None:
    plan = bound(ON_ONE_KEY)
    slow = {"a": 1.0, "b": 0.5, "c": 2.0, "d": 0.1}
    before = model_at(plan, knowing(**slow))
    after = model_at(plan, knowing(**{**slow, fast: slow[fast] * 10}))
    changed = before.at_rates([side.rate for side in after.sides])
    assert [one.live for one in changed.sides] == pytest.approx([one.live for one in after.sides])
    assert best_orders(changed) == best_orders(after)
    orders = best_orders(before)
    followed = orders_at(changed, orders)
    assert after.total(followed) <= after.total(best_orders(after)) / 0.9


@pytest.mark.parametrize(
    ("source", "follows"),
    [
        ("a [RANGE 9]", True),
        ("a [ROWS 9]", False),
        ("a [PARTITION BY k ROWS 9]", False),
        ("(SELECT k FROM a [ROWS 9] WHERE v > 3) AS x", False),
        ("(SELECT k FROM a [RANGE 9] WHERE v > 3) AS x", True),
        ("(SELECT k, COUNT(*) FROM a [RANGE 9] GROUP BY k) AS x", False),
    ],
)
def test_windows_that_count_rows_hold_as_many_at_any_rate(source: str, follows: bool) -> None:
    assert follows_rate(bound(f"SELECT k FROM {source}")) is follows


def fed(lane: Lane, rates: Mapping[str, int], steps: range) -> list[Block]:
    """What comes out when some rows of each stream come in each step."""
    blocks = {}
    for place, (name, rate) in enumerate(rates.items()):
        ts = np.repeat(np.arange(steps.start, steps.stop, dtype=np.int64), rate)
        draw = np.random.default_rng(steps.start + place)
        keys, values = (pa.array(draw.integers(0, KEYS, len(ts)).astype(np.int32)) for _ in "kv")
        blocks[name] = arriving((pa.array(ts), keys, values, values.cast(pa.string())), ts)
    return lane.feed(blocks, dict.fromkeys(rates, steps.stop)).blocks.get("q", [])


def changes(blocks: Sequence[Block]) -> Counter[tuple[object, ...]]:
    """How many copies of each row come and go at each instant."""
    found: Counter[tuple[object, ...]] = Counter()
    for block in blocks:
        rows = zip(*(column.to_pylist() for column in block.columns), strict=True)
        times = zip(block.ts.tolist(), block.te.tolist(), block.signs.tolist(), strict=True)
        for row, (ts, te, sign) in zip(rows, times, strict=True):
            found[(*row, ts)] += sign
            found[(*row, te)] -= sign
    return Counter({key: count for key, count in found.items() if count})


def answers(
    plan: Plan, choices: Choices, known: Statistics, rates: Sequence[Mapping[str, int]]
) -> tuple[Lane, Counter[tuple[object, ...]]]:
    lane = Lane(operator_graph({"q": plan}, choices, statistics=known))
    blocks: list[Block] = []
    for number, each in enumerate(rates):
        blocks += fed(lane, each, range(300 * number, 300 * (number + 1)))
    blocks += lane.feed({}, dict.fromkeys(rates[0], INFINITY)).blocks.get("q", [])
    return lane, changes(blocks)


def test_answers_across_a_drift_are_those_of_a_tree() -> None:
    windows = "a [ROWS 20], b [RANGE 12], c [RANGE 12]"
    query = f"SELECT a.v, b.v AS bv, c.ts FROM {windows} WHERE a.k = b.k AND b.k = c.k"
    known = knowing(a=4.0, b=4.0, c=4.0)
    plan = bound(query, known)
    drift = [{"a": 4, "b": 4, "c": 4}, {"a": 1, "b": 40, "c": 1}, {"a": 1, "b": 1, "c": 40}]
    drift = [one for one in drift for _ in range(2)]
    lane, found = answers(plan, MULTIWAY, known, drift)
    (join,) = [one.operator for one in lane.stations if isinstance(one.operator, ReorderingJoin)]
    assert join.reordered >= 2
    assert found
    assert found == answers(plan, TREE, known, drift)[1]


def joins_of(lane: Lane) -> list[ReorderingJoin]:
    return [one.operator for one in lane.stations if isinstance(one.operator, ReorderingJoin)]


BESIDE_A_COUNT = (
    "SELECT a.v FROM a [RANGE 100], b [ROWS 200], c [RANGE 100] WHERE a.k = b.k AND b.k = c.k"
)
B, A, C = range(3)
"""Its inputs, in the order of the cheapest tree: b, which withdraws rows, is joined last."""


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are enough to look at rates."""
    monkeypatch.setattr(multi_join_reordering, "LEAST_ROWS", 400)


@pytest.mark.usefixtures("soon")
def test_it_is_a_drift_if_all_rates_are_wrong_together() -> None:
    # Thought to hold 1,000 rows, the windows of time are smaller than that of 200 rows.
    thought, same = knowing(a=10.0, b=10.0, c=10.0), knowing(a=1.0, b=1.0, c=1.0)
    plan = bound(BESIDE_A_COUNT)
    rates = [dict.fromkeys("abc", 1)] * 3
    (join,) = joins_of(answers(plan, MULTIWAY, thought, rates)[0])
    (right,) = joins_of(answers(plan, MULTIWAY, same, rates)[0])
    assert (join.reordered, right.reordered) == (1, 0)
    assert join.orders == right.orders
    assert join.orders[C] == (A, B)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("lanes", [1, 4])
def test_a_lane_with_frequent_keys_has_more_of_windows_that_count_as_well(lanes: int) -> None:
    # The window of time would be the larger one, if only that had four times as many rows.
    known = knowing(a=1.0, b=1.0, c=1.0)
    lane = Lane(
        operator_graph({"q": bound(BESIDE_A_COUNT)}, MULTIWAY, statistics=known, lanes=lanes)
    )
    for start in range(0, 900, 300):
        fed(lane, dict.fromkeys("abc", 1), range(start, start + 300))
    (join,) = joins_of(lane)
    assert (join.reordered, join.orders[C]) == (0, (A, B))


@pytest.mark.usefixtures("soon")
def test_lanes_that_share_the_rows_see_no_drift_in_their_shares() -> None:
    db = penstock.connect_inline(lanes=4)
    db.execute(declared("abc"))
    db.execute("SET joins = multiway")
    query = db.query(BESIDE_A_COUNT.replace("ROWS 200", "PARTITION BY k ROWS 2"))
    draw = random.Random(3)
    for start in range(0, 6000, 1000):
        for name in "abc":
            times = range(start, start + 1000)
            db.insert(name, [(at, draw.randrange(KEYS), 0, "") for at in times])
    joins = [one for lane in batch_of(query).lanes.lanes for one in joins_of(lane)]
    assert [one.reordered for one in joins] == [0] * 4
    thought = dict(zip("abc", joins[0]._ordering.rates, strict=True))
    # They have seen as many rows as were thought to come, in all.
    assert all(
        rate == pytest.approx(thought[name], rel=0.6)
        for one in joins
        for name, rate in zip("abc", one._rates, strict=True)
    )


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("source", ["r", "(SELECT COUNT(*) AS k FROM d [RANGE 9]) AS r"])
def test_rows_that_are_there_from_the_beginning_have_no_rate(source: str) -> None:
    db = penstock.connect_inline()
    db.execute(declared("abcd"))
    db.execute("CREATE RELATION r (k BIGINT, name STRING)")
    db.execute("SET joins = multiway")
    db.update("r", insert=[(key, f"n{key}") for key in range(KEYS)])
    query = db.query(
        f"SELECT a.v FROM a [RANGE 300], b [RANGE 300], c [RANGE 300], {source}"
        " WHERE a.k = b.k AND b.k = c.k AND c.k = r.k"
    )
    (join,) = [one for lane in batch_of(query).lanes.lanes for one in joins_of(lane)]
    draw = random.Random(1)
    for start in range(0, 3000, 300):
        # From the sixth step on c is slow.
        for name, every in {"a": 1, "b": 1, "c": 1 if start < 1500 else 100, "d": 50}.items():
            times = range(start, start + 300, every)
            db.insert(name, [(at, draw.randrange(1000), 0, "") for at in times])
        # All that came so far did not come in all the time there ever was.
        assert min(join._rates[:3]) > 0.001
    assert join._rates[:3] == pytest.approx([1.0, 1.0, 0.01], rel=0.5)
    assert join.orders[0][0] == 2
    if source == "r":
        assert join.reordered >= 1


def test_a_part_of_the_tree_may_be_kept_below_the_one_operator() -> None:
    # Pairs of a and b are rare: rows of the others find them sooner than in two windows.
    rates = {"a": 4, "b": 16, "c": 16, "d": 4}
    windows = "a [RANGE 300], b [RANGE 40], c [RANGE 40], d [RANGE 300]"
    query = (
        f"SELECT a.v, b.v AS bv, c.v AS cv, d.v AS dv FROM {windows}"
        " WHERE a.k = b.k AND a.v = b.v AND b.k = c.k AND c.k = d.k"
    )
    values = {(name, column): float(KEYS) for name in "abcd" for column in "kv"}
    known = Statistics(rates={name: float(rate) for name, rate in rates.items()}, values=values)
    plan = bound(query, known)
    (way,) = MultiwayChoices([plan], Choices(), known).all_of(plan)
    assert way.is_chosen
    assert way.kept is not None
    assert len(way.many.inputs) == 3
    lane, found = answers(plan, Choices(), known, [rates, rates])
    labels = [one.node.label.split(" ")[:3] for one in lane.stations]
    assert ["Join", "of", "3"] in labels
    assert found
    assert found == answers(plan, TREE, known, [rates, rates])[1]


def test_each_lane_makes_room_for_its_share_of_the_rows() -> None:
    query = "SELECT a.v FROM a [RANGE 9], b [RANGE 9], c [RANGE 9] WHERE a.k = b.k AND b.k = c.k"
    plan, known = bound(query), knowing(a=100.0, b=1.0, c=1e5)

    def room(lanes: int) -> tuple[int, ...] | None:
        many = MultiwayChoices([plan], MULTIWAY, known, lanes=lanes).many(plan)
        assert many is not None
        return many.expected

    assert room(1) == (900, 9, 900_000)
    assert room(4) == (225, 2, 225_000)

    def bytes_of(lanes: int) -> int:
        (part,) = fragments_of("q", plan, MULTIWAY, lambda one: one.is_partitioned, known, lanes)
        return sum(one.operator.state_bytes for one in Lane(part.graph).stations)

    assert bytes_of(1000) < bytes_of(1) / 2

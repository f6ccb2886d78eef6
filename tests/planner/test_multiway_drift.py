"""Rates that change while a join of many windows runs: which orders follow, and what it answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra.time import INFINITY
from penstock.operators.block import arriving
from penstock.operators.multi_join_reordering import ReorderingJoin
from penstock.planner.building import Choices
from penstock.planner.fragments import fragments_of
from penstock.planner.join_orders import best_orders, orders_at
from penstock.planner.lowering import operator_graph
from penstock.planner.multiway import follows_rate
from penstock.planner.optimizing import optimized
from penstock.planner.statistics import Statistics
from penstock.planner.ways import Ways
from penstock.runtime.lane import Lane
from penstock.session import Session
from planner.many_windows import declared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.planner.join_model import JoinModel

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
    (way,) = Ways([plan], MULTIWAY, known).all_of(plan)
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
    followed = orders_at(before, [side.rate for side in after.sides], orders)
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
    (way,) = Ways([plan], Choices(), known).all_of(plan)
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
        many = Ways([plan], MULTIWAY, known, lanes=lanes).many(plan)
        assert many is not None
        return many.expected

    assert room(1) == (900, 9, 900_000)
    assert room(4) == (225, 2, 225_000)

    def bytes_of(lanes: int) -> int:
        (part,) = fragments_of("q", plan, MULTIWAY, lambda one: one.is_partitioned, known, lanes)
        return sum(one.operator.state_bytes for one in Lane(part.graph).stations)

    assert bytes_of(1000) < bytes_of(1) / 2

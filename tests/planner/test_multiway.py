"""Joins of three inputs or more: taken apart, chosen, explained, and run in other orders."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.text import plans_dot
from penstock.operators.block import arriving
from penstock.operators.multi_join import multi_join_reordering
from penstock.operators.multi_join.multi_join_reordering import ReorderingJoin
from penstock.planner.explain.explain import Explaining, explained
from penstock.planner.flattening import MOST_INPUTS
from penstock.planner.optimizing import optimized
from penstock.planner.partition.fragments import fragments_of
from penstock.planner.physical.agreements import agreed
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.multiway_choice import MOST_EXPECTED, MultiwayChoices
from penstock.planner.rewriting import Rewriting
from penstock.planner.rules.rule_list import ALWAYS
from penstock.planner.statistics.measuring import conditions_seen, measured
from penstock.planner.statistics.statistics import Statistics
from penstock.runtime.lane import Lane
from penstock.session import Session

if TYPE_CHECKING:
    import pytest

    from penstock.algebra.plan import Plan
    from penstock.planner.physical.multiway_choice import MultiwayChoice

MULTIWAY = Choices(joins="multiway")


def joined(condition: str) -> str:
    return f"SELECT a.v FROM a [RANGE 9], b [RANGE 9], c [RANGE 9] WHERE {condition}"


ONE_KEY = joined("a.k = b.k AND b.k = c.k AND a.v < c.v").replace("c [RANGE 9]", "c [ROWS 5]")
CHAIN = joined("a.k = b.k AND b.v = c.v")


def given(text: str) -> Plan:
    session = Session()
    for name in "abcd":
        declared = "(ts BIGINT, k INT, v INT, w DOUBLE, WATERMARK FOR ts AS ts)"
        session.execute(f"CREATE STREAM {name} {declared}")
    return session.bind(text).plan


def bound(text: str) -> Plan:
    return optimized({"q": given(text)})["q"].plan


def way_of(
    text: str, choices: Choices = MULTIWAY, known: Statistics | None = None
) -> MultiwayChoice:
    return way_of_plan(bound(text), known, choices)


def way_of_plan(
    plan: Plan, known: Statistics | None, choices: Choices = MULTIWAY
) -> MultiwayChoice:
    (way,) = MultiwayChoices([plan], choices, known).all_of(plan)
    return way


def labels(text: str, choices: Choices = MULTIWAY) -> list[str]:
    return [node.label for node in operator_graph({"q": bound(text)}, choices).nodes]


def test_equal_keys_are_one_agreement_and_the_rest_are_conditions() -> None:
    many = way_of(ONE_KEY).many
    assert many.label() == "Join of 3 a.k = b.k = c.k AND (a.v < c.v)"
    assert [[key.agreement for key in keys] for keys in many.agreed.keys] == [[0], [0], [0]]
    assert [one.inputs for one in many.agreed.conditions] == [(0, 2)]
    assert many.names == ["a", "b", "c"]


def test_different_attributes_are_different_agreements() -> None:
    keys = way_of(CHAIN).many.agreed.keys
    assert [[key.agreement for key in one] for one in keys] == [[0], [0, 1], [1]]


def test_columns_of_one_input_that_must_be_equal_are_filtered_there() -> None:
    # By cost, b and c are joined first, and b is filtered before.
    plan = Rewriting(ALWAYS).rewritten(given(joined("a.k = b.k AND b.v = a.k AND b.k = c.k")))
    asks = way_of_plan(plan, None).many.agreed
    assert [len(keys) for keys in asks.keys] == [1, 1, 1]
    assert [str(one) for one in asks.filters if one is not None] == ["1 = 2"]


def test_null_matches_null_in_an_agreement_of_its_own() -> None:
    on = "a.k IS NOT DISTINCT FROM b.k AND b.k = c.k"
    keys = way_of(joined(on)).many.agreed.keys
    assert [[key.null_matches for key in one] for one in keys] == [[True], [False, True], [False]]


def test_what_another_query_reads_stays_an_operator_of_its_own() -> None:
    session = Session()
    for name in "abc":
        session.execute(f"CREATE STREAM {name} (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    session.execute("CREATE VIEW both AS SELECT a.k FROM a [RANGE 9], b [RANGE 9] WHERE a.k = b.k")
    texts = {
        "one": "SELECT k FROM both",
        "two": "SELECT c.k FROM both, c [RANGE 9] WHERE both.k = c.k",
    }
    plans = {name: session.bind(text).plan for name, text in texts.items()}
    running = {name: one.plan for name, one in optimized(plans).items()}
    graph = operator_graph(running, MULTIWAY)
    assert not any(node.label.startswith("Join of") for node in graph.nodes)


def test_more_inputs_than_one_operator_takes_are_joined_in_several() -> None:
    names = [f"x{number}" for number in range(MOST_INPUTS + 3)]
    tables = ", ".join(f"a [RANGE 9] AS {name}" for name in names)
    equal = " AND ".join(f"{names[0]}.k = {name}.k" for name in names[1:])
    session = Session()
    session.execute("CREATE STREAM a (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    plan = session.bind(f"SELECT x0.k FROM {tables} WHERE {equal}").plan
    graph = operator_graph({"q": plan}, MULTIWAY)
    many = [node for node in graph.nodes if node.label.startswith("Join of")]
    assert max(len(node.inputs) for node in many) <= MOST_INPUTS
    assert len({number for node in many for number in node.inputs}) >= 2


def test_the_setting_decides_and_without_it_the_cost() -> None:
    assert labels(CHAIN, Choices(joins="tree")).count("Join a.k = b.k") == 1
    assert way_of(CHAIN, MULTIWAY).is_chosen
    # A row has many partners: a tree would keep them all.
    few = Statistics(values={(name, "k"): 2.0 for name in "abc"})
    text = joined("a.k = b.k AND b.k = c.k").replace("RANGE 9", "RANGE 900")
    assert way_of(text, Choices(), few).is_chosen
    assert way_of(text, Choices(), few).ratio > 1
    # Few rows of a have partners in b: a tree has them at hand for the many rows of c.
    fast = Statistics({"c": 100.0}, {("a", "k"): 1e6, ("a", "v"): 90.0, ("c", "v"): 90.0})
    apart = joined("a.k = b.k AND a.v = c.v").replace("RANGE 9", "RANGE 900")
    assert not way_of(apart, Choices(), fast).is_chosen


def test_explain_shows_orders_and_says_why() -> None:
    text = explained(bound(ONE_KEY), MULTIWAY)
    assert "Join of 3 a.k = b.k = c.k AND (a.v < c.v)  [STR]" in text
    assert "Joins: a, b and c in one operator (lazy evaluation, lazy expiration), as is set" in text
    assert "  a row of a probes c, then b (a.v < c.v): visits" in text
    tree = explained(bound(ONE_KEY), Choices(joins="tree"))
    assert "Joins: a, b and c two by two, as is set" in tree
    assert "Join of 3" in plans_dot([Explaining({"q": bound(ONE_KEY)}, MULTIWAY).drawn("q")])
    eager = replace(MULTIWAY, join_evaluation="eager")
    found = Explaining({"q": bound(ONE_KEY)}, eager).json("q")
    (joins,) = found["joins"]
    assert (joins["runs"], joins["because"], joins["evaluation"]) == ("multiway", "set", "eager")
    assert joins["orders"][0]["probes"] == ["c", "b"]
    assert joins["orders"][0]["asks"] == [[], ["a.v < c.v"]]
    assert found["runs"]["inputs"][0]["operator"] == "MultiJoin"


def test_fragments_without_a_common_key_join_what_they_have() -> None:
    text = (
        "SELECT a.v FROM a [RANGE 9], b [RANGE 9], c [RANGE 9], d [RANGE 9]"
        " WHERE a.k = b.k AND b.k = c.k AND c.v = d.v"
    )
    parts = fragments_of("q", bound(text), MULTIWAY, lambda one: one.is_partitioned)
    found = [[node.label for node in one.graph.nodes] for one in parts]
    many = [any(one.startswith("Join of 3") for one in part) for part in found]
    assert many.count(True) == 1
    assert all(one.is_divided for one in parts)


def fed(rates: dict[str, int], steps: range, lane: Lane) -> None:
    """Some rows of each stream in each step, of eight keys."""
    blocks = {}
    for name, rate in rates.items():
        ts = np.repeat(np.arange(steps.start, steps.stop, dtype=np.int64), rate)
        keys = pa.array((np.arange(len(ts)) % 8).astype(np.int32))
        columns = (pa.array(ts), keys, keys, pa.array(np.zeros(len(ts))))
        blocks[name] = arriving(columns, ts)
    lane.feed(blocks, dict.fromkeys(rates, steps.stop))


def test_orders_change_when_rates_do_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi_join_reordering, "LEAST_ROWS", 100)
    plans = {"q": bound(joined("a.k = b.k AND b.k = c.k"))}
    known = Statistics(values={(name, "k"): 8.0 for name in "abc"})
    lane = Lane(operator_graph(plans, MULTIWAY, statistics=known))
    (join,) = [one.operator for one in lane.stations if isinstance(one.operator, ReorderingJoin)]
    before = join.orders
    fed({"a": 4, "b": 4, "c": 4}, range(20), lane)
    assert (join.reordered, join.orders) == (0, before)
    fed({"a": 1, "b": 40, "c": 1}, range(20, 40), lane)
    fed({"a": 1, "b": 40, "c": 1}, range(40, 60), lane)
    assert join.reordered == 1
    assert join.orders[0] == (2, 1)
    assert join.orders[2] == (0, 1)


def test_flattening_keeps_the_columns_of_the_tree() -> None:
    text = joined("a.k = b.k AND b.k = c.k").replace("a.v", "c.v, a.k", 1)
    many = way_of(text).many
    names = [many.flat.names[place].name for place in many.flat.columns]
    assert names == ["c.v", "a.k"]
    assert agreed(many.flat) == many.agreed


def test_what_it_asks_of_several_inputs_is_measured() -> None:
    plans = {"q": bound(joined("a.k = b.k AND b.k = c.k AND a.v < b.w"))}
    lane = Lane(operator_graph(plans, MULTIWAY))
    fed({"a": 4, "b": 4, "c": 4}, range(40), lane)
    seen = conditions_seen([[asdict(one) for one in lane.reports()]])
    ((name, one),) = seen.items()
    assert "a [RANGE 9].v" in name
    assert "b [RANGE 9].w" in name
    # All of w are 0, and those of v 0 to 7.
    assert (one.of_pairs, one.held) == (True, 0)
    assert one.asked > 100
    known = measured([lane.reports()])
    assert known.selectivities[name] < 0.05
    assumed, found = (way_of_plan(plans["q"], one).many.model.asked[0] for one in (None, known))
    assert found.share < 0.05 < assumed.share


def test_tables_begin_with_room_for_what_was_measured() -> None:
    text = joined("a.k = b.k AND b.k = c.k")
    assert way_of(text).many.expected is None
    known = Statistics({"a": 100.0, "b": 1.0, "c": 1e9})
    assert way_of(text, MULTIWAY, known).many.expected == (900, 9, MOST_EXPECTED)


def test_what_is_assumed_of_other_streams_takes_no_room() -> None:
    text = joined("a.k = b.k AND b.k = c.k").replace("c [RANGE 9]", "c [ROWS 500]")
    assert way_of(text, MULTIWAY, Statistics({"a": 100.0})).many.expected == (900, 0, 0)
    assert way_of(text, MULTIWAY, Statistics({"a": 100.0, "c": 1.0})).many.expected == (900, 0, 500)

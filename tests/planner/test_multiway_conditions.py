"""Conditions of joins of three inputs or more: what may fail, what is dear, when it is asked."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.algebra.plan import different_nodes
from penstock.operators.multi_join.multi_join import MultiJoin, Theta
from penstock.operators.multi_join.multi_join_probes import course_of
from penstock.operators.multi_join.multi_join_reordering import ReorderingJoin
from penstock.planner.cost.condition_cost import condition_cost
from penstock.planner.explain.explain import explained
from penstock.planner.explain.explain_joins import joins_json
from penstock.planner.optimizing import optimized
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock.planner.statistics.statistics import Statistics
from penstock.runtime.lane import Lane
from penstock.session import Session
from planner.many_windows import declared, judged, some_trial

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.operators.multi_join.multi_join import Evaluation, Expiration

MULTIWAY = Choices(joins="multiway")
NAMES = "abcd"


def joined(condition: str, names: str = "abc") -> str:
    windows = ", ".join(f"{name} [RANGE 6]" for name in names)
    return f"SELECT a.ts, b.v, c.v AS w FROM {windows} WHERE {condition}"


def bound(query: str, known: Statistics | None = None) -> Plan:
    session = Session()
    session.execute(declared(NAMES))
    return optimized({"q": session.bind(query).plan}, known)["q"].plan


def joins_of(query: str) -> list[str]:
    labels = [node.label for node in operator_graph({"q": bound(query)}, MULTIWAY).nodes]
    return [one for one in labels if one.startswith(("Join", "Product", "Filter"))]


KEYS = "a.k = b.k AND b.k = c.k"
BANDS = {
    "of the inputs that meet first": f"{KEYS} AND a.v - b.v < 3",
    "of the inputs that meet last": f"{KEYS} AND a.v + c.v < 10",
    "with a harmless one beside it": f"{KEYS} AND a.v + c.v < 10 AND a.v < c.v",
    "on both sides": f"{KEYS} AND ABS(a.v - b.v) < 3 AND ABS(b.v - c.v) < 3",
    "of all three": f"{KEYS} AND a.v + b.v < c.v + 5",
    "that fails for some": f"{KEYS} AND a.v DIV b.v > 0",
    "behind a constant that fails": f"{KEYS} AND a.v < c.v AND 1 DIV 0 = 1",
    "with a text": f"{KEYS} AND a.s LIKE CONCAT('%', c.s)",
    "without keys": "a.v - b.v < -5 AND b.v - c.v < -1",
    "with keys that are computed": "a.v + 1 = b.v AND b.v - 1 = c.k",
}


@pytest.mark.parametrize("condition", BANDS.values(), ids=BANDS)
def test_conditions_that_may_fail_are_asked_in_the_one_operator(condition: str) -> None:
    many, *above = joins_of(joined(condition))
    assert many.startswith("Join of 3")
    assert above == (["Filter (1 DIV 0) = 1"] if "1 DIV 0" in condition else [])
    assert "Joins: a, b and c in one operator" in explained(bound(joined(condition)), MULTIWAY)


@pytest.mark.parametrize("condition", BANDS.values(), ids=BANDS)
@pytest.mark.parametrize("joins", ["multiway", "tree"])
def test_they_leave_the_answers_as_they_are(condition: str, joins: str) -> None:
    draw = random.Random(11)
    for lanes in (1, 2):
        query = joined(condition)
        judged(some_trial(draw, "abc", query, lanes=lanes, joins=joins, rows=30))


def test_a_key_of_several_inputs_keeps_what_it_is_computed_from() -> None:
    only = joins_of(joined("a.k = b.k AND a.v + b.v = c.v"))
    assert not any(one.startswith("Join of") for one in only)
    besides = joins_of(joined("a.k = b.k AND a.v + b.v = c.v AND c.k = d.k", NAMES))
    assert [one.split(" ", 3)[:3] for one in besides][-1] == ["Join", "of", "3"]
    assert besides[0] == "Join a.k = b.k"
    draw = random.Random(2)
    judged(some_trial(draw, NAMES, joined("a.k = b.k AND a.v + b.v = c.v AND c.k = d.k", NAMES)))


def test_a_key_of_several_inputs_is_a_condition_where_there_is_another_key() -> None:
    (many,) = joins_of(joined(f"{KEYS} AND a.v + b.v = c.v"))
    assert many.startswith("Join of 3 a.k = b.k = c.k AND ")


def asked_behind(condition: str, known: Statistics | None = None) -> dict[str, list[str]]:
    """What a row of `a` is asked behind each input that it probes."""
    plan = bound(joined(condition), known)
    (joins,) = joins_json(MultiwayChoices([plan], MULTIWAY, known).all_of(plan), MULTIWAY)
    order = joins["orders"][0]
    return dict(zip(order["probes"], order["asks"], strict=True))


def values(count: float) -> dict[tuple[str, str], float]:
    return {(name, column): count for name in NAMES for column in ("k", "v", "s")}


def test_functions_that_go_through_python_are_dear() -> None:
    session = Session()
    session.execute(declared("a"))

    def cost(text: str) -> float:
        plan = session.bind(f"SELECT k FROM a [NOW] WHERE {text}").plan
        (found,) = [one.predicate for one in different_nodes(plan) if hasattr(one, "predicate")]
        return condition_cost(found)

    ordered = ["k < v", "k + v < 3", "s = '1'", "s LIKE '%1%'", "s RLIKE '1+'",
               "REGEXP_REPLACE(s, '1', '2') = s", "s RLIKE CAST(k AS STRING)"]  # fmt: skip
    costs = [cost(one) for one in ordered]
    assert costs == sorted(costs)
    assert cost("SUBSTRING(s, 1, 2) = '1'") * 10 < cost("SUBSTRING(s, k, v) = '1'")


def test_of_conditions_that_can_be_asked_together_the_dear_one_comes_last() -> None:
    dear, cheap = "a.s RLIKE b.s", "a.v < b.v"
    for condition in (f"{KEYS} AND {dear} AND {cheap}", f"{KEYS} AND {cheap} AND {dear}"):
        # Rows of each have many partners: it is asked at once.
        asked = asked_behind(condition, Statistics(values=values(2)))
        assert asked["b"] == ["a.v < b.v", "RLIKE(a.s, b.s)"]


def test_a_condition_that_drops_more_comes_first_among_those_as_dear() -> None:
    known = Statistics(values=values(2) | {(name, "v"): 1000.0 for name in NAMES})
    asked = asked_behind(f"{KEYS} AND a.v <> b.v AND a.s < b.s AND a.v < b.v", known)
    assert asked["b"] == ["a.v < b.v", "a.s < b.s", "a.v <> b.v"]


def test_a_dear_condition_is_asked_late_where_it_filters_little() -> None:
    # Few rows have partners in both windows: c drops most before anybody has to ask.
    known = Statistics(rates=dict.fromkeys("abc", 10.0), values=values(500))
    dear = "NOT RLIKE(a.s, b.s)"
    assert [*asked_behind(f"{KEYS} AND NOT a.s RLIKE b.s", known).values()] == [[], [dear]]
    # What is cheap to ask had better be asked early, if c drops less.
    known = Statistics(rates=dict.fromkeys("abc", 10.0), values=values(150))
    assert asked_behind(f"{KEYS} AND a.v < b.v", known) == {"b": ["a.v < b.v"], "c": []}


def test_a_dear_condition_waits_for_a_probe_that_its_inputs_come_before() -> None:
    # A row of a finds 60 of b, and only by those what there is of c: for 6 of 100.
    counts = {("b", "v"): 1e6, ("c", "v"): 1e6}
    known = Statistics(rates=dict.fromkeys("abc", 1e4), values=values(1000) | counts)
    condition = "a.k = b.k AND b.v = c.v AND a.s RLIKE b.s"
    assert asked_behind(condition, known) == {"b": [], "c": ["RLIKE(a.s, b.s)"]}
    # If c finds as many, what is cheap spares more than it costs.
    known = Statistics(rates=dict.fromkeys("abc", 1e4), values=values(1000))
    cheap = condition.replace("a.s RLIKE b.s", "a.v < b.v")
    assert asked_behind(cheap, known) == {"b": ["a.v < b.v"], "c": []}


def test_a_dear_condition_is_asked_early_where_it_saves_more_probes() -> None:
    # Each row has many partners in c.
    rates = {"a": 1.0, "b": 1.0, "c": 1e5}
    known = Statistics(rates=rates, values=values(10))
    assert list(asked_behind(f"{KEYS} AND a.s RLIKE b.s", known)) == ["b", "c"]


def test_the_operator_asks_the_cheapest_first() -> None:
    def never(*_: object) -> None:
        raise AssertionError

    thetas = [Theta((0, 1), never, cost) for cost in (5.0, 1.0, 3.0)]  # type: ignore[arg-type]
    course = course_of(0, (1, 2), [(0,), (0,), (0,)], thetas)
    assert [[one.cost for one in each] for each in course.thetas] == [[], [1.0, 3.0, 5.0], []]
    late = course_of(0, (1, 2), [(0,), (0,), (0,)], thetas, (2, 0, 2))
    assert [[one.cost for one in each] for each in late.thetas] == [[], [1.0], [3.0, 5.0]]
    # New rows of one key look together until something is asked of them.
    assert (course.together, late.together) == (1, 1)
    assert course_of(0, (1, 2), [(0,), (0,), (0,)], thetas, (2, 2, 2)).together == 2


def join_of(query: str, choices: Choices, known: Statistics | None = None) -> ReorderingJoin:
    lane = Lane(operator_graph({"q": bound(query, known)}, choices, statistics=known))
    (join,) = [one.operator for one in lane.stations if isinstance(one.operator, ReorderingJoin)]
    return join


@pytest.mark.parametrize("evaluation", ["lazy", "eager"])
@pytest.mark.parametrize("expiration", ["lazy", "eager"])
def test_the_operator_runs_as_is_set(
    evaluation: Evaluation, expiration: Expiration, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, object] = {}
    build = MultiJoin.__init__

    def noting(*args: Any, **options: Any) -> None:
        made.update(options)
        build(*args, **options)

    monkeypatch.setattr(MultiJoin, "__init__", noting)
    set_so = Choices(joins="multiway", join_evaluation=evaluation, join_expiration=expiration)
    join_of(joined(KEYS), set_so)
    assert (made["evaluation"], made["expiration"]) == (evaluation, expiration)


def test_the_operator_asks_where_explain_says() -> None:
    counts = {("b", "v"): 1e6, ("c", "v"): 1e6}
    known = Statistics(rates=dict.fromkeys("abc", 1e4), values=values(1000) | counts)
    query = joined("a.k = b.k AND b.v = c.v AND a.s RLIKE b.s AND a.v < c.v")
    plan = bound(query, known)
    (joins,) = joins_json(MultiwayChoices([plan], MULTIWAY, known).all_of(plan), MULTIWAY)
    courses = [one.course for one in join_of(query, MULTIWAY, known)._combining]
    for shown, course in zip(joins["orders"], courses, strict=True):
        assert [*map("abc".__getitem__, (one.target for one in course.probes))] == shown["probes"]
        assert [len(one) for one in course.thetas] == [0, *map(len, shown["asks"])]


def test_what_is_asked_at_last_costs_for_every_combination() -> None:
    known = Statistics(values=values(2))

    def cost(condition: str) -> float:
        plan = bound(joined(condition), known)
        (way,) = MultiwayChoices([plan], MULTIWAY, known).all_of(plan)
        return way.cost.time

    assert cost(f"{KEYS} AND 1 DIV 0 = 1") > cost(KEYS) * 1.01


def test_a_tree_pays_for_dear_conditions_as_well() -> None:
    known = Statistics(values=values(2))
    way, dear = (
        MultiwayChoices([plan], MULTIWAY, known).all_of(plan)[0]
        for plan in (
            bound(joined(f"{KEYS} AND {one}"), known) for one in ("a.s < b.s", "a.s RLIKE b.s")
        )
    )
    assert dear.cost.time > 10 * way.cost.time
    assert dear.of_tree.time > 10 * way.of_tree.time

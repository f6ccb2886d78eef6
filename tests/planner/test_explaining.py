"""EXPLAIN shows what runs: its operators, their patterns, what they keep, and who shares them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

import pytest

from penstock.algebra.patterns import Strategy, pattern_of
from penstock.algebra.plan import different_nodes
from penstock.algebra.text import plans_dot
from penstock.planner.explain.explain import Explaining, explained
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.building import Building, Choices
from penstock.planner.physical.lower_plans import Lowering
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock.runtime.local_run import LocalRun
from penstock.session import Session
from penstock_fuzz.generate import generate
from penstock_fuzz.inline import initial_tables, tables_of_feed

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock_fuzz.trial import Trial

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
TRIALS = 150
DECLARED = """
CREATE STREAM a (at TIMESTAMP, k INT, v INT, w STRING, WATERMARK FOR at AS at);
CREATE STREAM b (at TIMESTAMP, k INT, x INT, WATERMARK FOR at AS at);
CREATE RELATION r (k INT, name STRING);
CREATE NONRETROACTIVE RELATION n (k INT, name STRING);
"""
JOINED = "FROM a [RANGE 5 SECONDS] a JOIN b [RANGE 5 SECONDS] b ON a.k = b.k"


def bound(text: str) -> Plan:
    session = Session()
    session.execute(DECLARED)
    return session.bind(text).plan


def told(plan: Plan, choices: Choices | None = None) -> dict[str, Any]:
    """The explanation of a query that runs alone, for programs."""
    return Explaining({"q": plan}, choices).json("q")


def drawn(plan: Plan, choices: Choices | None = None) -> str:
    """The same as a graph."""
    return plans_dot([Explaining({"q": plan}, choices).drawn("q")])


def runs(text: str, strategy: Strategy = "upa") -> str:
    """How a query runs that is alone, in words."""
    return explained(bound(text), Choices(strategy)).partition("Runs as")[2]


def line(text: str, operator: str, strategy: Strategy = "upa") -> str:
    """What is said of the first operator of a name."""
    lines = runs(text, strategy).splitlines()
    return next(one for one in lines if one.lstrip().startswith(operator))


@cache
def trials() -> list[tuple[Trial, Plan, Plan]]:
    """Random queries: what they mean, and how they run."""
    generated = [generate(f"explained {number}") for number in range(TRIALS)]
    return [(one.trial, one.plan, plans_to_run({"q": one.plan})["q"]) for one in generated]


class Watched(Lowering):
    """Tells which node has the result of each operator of a plan."""

    def __init__(self, plan: Plan, choices: Choices) -> None:
        super().__init__(Building(choices), many=MultiwayChoices([plan], choices).many)
        self.plan = plan
        self.edges: list[tuple[Plan, int]] = []
        self._own = {id(node) for node in different_nodes(plan)}
        self.lower(plan)

    def lower(self, plan: Plan) -> int:
        """As always."""
        number = super().lower(plan)
        if id(plan) in self._own:
            self.edges.append((plan, number))
        return number


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_patterns_are_those_of_the_edges_that_run(strategy: Strategy) -> None:
    choices = Choices(strategy)
    for trial, _, running in trials():
        lowering = Watched(running, choices)
        for part, number in lowering.edges:
            shown = pattern_of(part, announced=strategy == "negative")
            runs = lowering.building.node(number).pattern
            assert shown is runs, f"{part.label()} of {trial.query}"


def stateful(trial: Trial, plan: Plan, choices: Choices) -> set[int]:
    """The operators of a graph that were seen to keep rows."""
    running = LocalRun({"q": plan}, choices=choices)
    running.feed(initial_tables(trial, running))
    found: set[int] = set()
    for feed in trial.feeds:
        running.feed(tables_of_feed(trial, feed, running))
        (lane,) = running.lanes.lanes
        # Of rows that wait for others to come, lanes report as well; operators do not keep them.
        stations = enumerate(lane.stations)
        found |= {number for number, one in stations if one.operator.state_rows}
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_that_keeps_rows_has_a_structure(strategy: Strategy) -> None:
    seen = 0
    for trial, plan, _ in trials()[:80]:
        choices = Choices(strategy, joins=trial.tactics.joins)
        lowering = Watched(plans_to_run({"q": plan}, choices=choices)["q"], choices)
        graph = operator_graph({"q": lowering.plan}, choices)
        for number in stateful(trial, plan, choices):
            node = graph.nodes[number]
            assert node.spec.structures(), f"{node.label}: {trial.query}"
            seen += 1
    assert seen > 100


def test_an_outer_join_by_equal_keys_keeps_its_sides_once() -> None:
    query = "SELECT a.k, b.x FROM a [RANGE 1 MINUTE] a LEFT JOIN b [ROWS 10] b ON a.k = b.k"
    found = line(query, "Left join a.k = b.k  [STR]")
    assert "fifo + hashed of 60k rows" in found
    assert "AntiJoin" not in runs(query)
    more = f"{query} AND a.v < b.x"
    assert "AntiJoin" in runs(more)
    assert "Left join" not in runs(more)


def together(**queries: str) -> Explaining:
    return Explaining({name: bound(text) for name, text in queries.items()})


def test_queries_that_run_together_are_shown_with_what_they_share() -> None:
    found = together(
        high=f"SELECT a.v {JOINED} WHERE a.v > 2", low=f"SELECT b.x {JOINED} WHERE a.v < 1"
    )
    for name, other in (("high", "low"), ("low", "high")):
        text = found.text(name).partition("Runs as")[2]
        assert "common-subplans" in text
        lines = text.splitlines()
        above = [one.lstrip().split(" ")[0] for one in lines[1:4]]
        assert above == ["Map", "Filter", "Join"]
        assert lines[3].endswith(f"shared with {other}")
        assert text.count("shared with") == 2
        assert f"; of that shared with {other}: " in text
    facts = found.json("low")["runs"]["inputs"][0]
    assert facts["shared_with"] == []
    assert facts["inputs"][0]["shared_with"] == ["high"]
    assert "shared with high" in found.drawn("low").below[2]


def test_what_queries_call_their_columns_does_not_matter_to_what_they_share() -> None:
    found = together(
        one="SELECT DISTINCT x.k FROM a [NOW] x", two="SELECT DISTINCT y.k FROM a [NOW] y"
    )
    assert found.json("one")["runs"]["shared_with"] == ["two"]


def test_nobody_shares_with_what_is_gone() -> None:
    plans = {"one": bound("SELECT k FROM a [NOW]"), "two": bound("SELECT k FROM a [NOW]")}
    assert "shared" not in Explaining(plans, gone=["two"]).text("one")


def test_a_relation_changes_as_seldom_whatever_the_unit_of_time_is() -> None:
    query = "SELECT a.v, r.name FROM a [RANGE 1 MINUTE] a JOIN r ON a.k = r.k"
    assert "] 0.28 rows/s" in line(query, "Relation r")
    assert "] 1k rows/s" in line(query, "Join")


def all_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [found, *(one for below in found["inputs"] for one in all_of(below))]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_programs_are_told_what_people_are(strategy: Strategy) -> None:
    plan = bound("SELECT DISTINCT a.k FROM a [RANGE 1 MINUTE] a")
    text, found = explained(plan, Choices(strategy)), told(plan, Choices(strategy))
    shown = re.findall(r"\[(MON|WKS|WK|STR)\]", text.partition("Runs as")[2])
    assert [one["pattern"] for one in all_of(found["runs"])] == shown
    expected = found["expected"]
    assert (expected["time_unit"], expected["time"]) == ("timestamp", "second")
    rows = sum(one.get("state_rows", 0.0) for one in all_of(found["runs"]))
    assert expected["state_rows"] == pytest.approx(rows)
    assert expected["cost_us_per_time"] > 0
    assert expected["state_bytes"] > 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_strategy_is_named(strategy: Strategy) -> None:
    plan = bound("SELECT DISTINCT a.k FROM a [RANGE 1 MINUTE] a")
    assert f"\nStrategy: {strategy}\n" in explained(plan, Choices(strategy))
    assert f"Strategy: {strategy}" in drawn(plan, Choices(strategy))


def test_names_with_numbers_are_in_their_order() -> None:
    plan = bound("SELECT DISTINCT a.k FROM a [RANGE 1 MINUTE] a")
    names = ["query 1", "query 10", "query 11", "query 2", "other"]
    text = Explaining(dict.fromkeys(names, plan)).text("query 2")
    assert text.count("shared with other, query 1, query 10, query 11") == 2
    text = Explaining(dict.fromkeys(names, plan)).text("other")
    assert text.count("shared with query 1, query 2, query 10, query 11") == 2


@pytest.mark.parametrize(
    ("window", "pattern"), [("RANGE 9 SECONDS", "WKS"), ("UNBOUNDED", "MON"), ("ROWS 3", "STR")]
)
def test_a_read_on_arrival_keeps_the_pattern_of_the_stream(window: str, pattern: str) -> None:
    plan = bound(f"SELECT a.v, n.name FROM a [{window}] a JOIN n ON a.k = n.k")
    meaning = explained(plan).partition("Runs as")[0]
    assert f"OnArrival  [{pattern}]\n" in meaning
    assert f"Join a.k = n.k  [{pattern}]\n" in meaning
    (join,) = [one for one in all_of(told(plan)["plan"]) if one["operator"] == "Join"]
    assert join["pattern"] == pattern


def test_a_graph_says_what_is_said_of_the_whole_plan() -> None:
    graph = drawn(bound("SELECT DISTINCT k FROM a [RANGE 1 MINUTE]"))
    label = next(one for one in graph.splitlines() if "labelloc" in one)
    assert "Rules: rename-is-map" in label
    assert "Expected: " in label
    assert "Lanes: by a.k (DISTINCT)" in label


@pytest.mark.parametrize(
    ("query", "operator", "strategy", "structure"),
    [
        ("SELECT k FROM a [RANGE 1 MINUTE]", "Announced ends", "negative", "fifo of 60k rows"),
        ("SELECT k FROM a [RANGE 1 MINUTE]", "Window", "upa", None),
        ("SELECT k FROM a [RANGE 1 MINUTE SLIDE 2 SECONDS]", "Window", "upa", "fifo of 1k rows"),
        ("RSTREAM(SELECT k FROM a [RANGE 9 SECONDS SLIDE 3 SECONDS] ORDER BY k LIMIT 2)", "RStream",
         "upa", "fifo of 9k rows"),
        ("SELECT k, COUNT(*) FROM a [NOW] GROUP BY k EMIT FINAL", "Final", "upa", "hashed"),
        ("SELECT k FROM a [RANGE 9 SECONDS] EMIT FINAL", "Final", "upa", "fifo of 9k rows"),
        ("SELECT COUNT(*) FROM a [RANGE 9 SECONDS INTERNAL]", "IStream", "upa", "hashed"),
        ("SELECT a.v, n.name FROM a [NOW] a JOIN n ON a.k = n.k", "On arrival", "upa",
         "hashed of 1k rows"),
        ("SELECT k, COUNT(*) FROM a GROUP BY k", "Aggregate", "upa", "hashed of 1k rows"),
        ("SELECT k FROM a [NOW] WHERE k IN (SELECT k FROM b [RANGE 1 MINUTE])", "SemiJoin", "upa",
         "fifo + calendar(32)"),
        ("SELECT k FROM a [NOW] WHERE k IN (SELECT k FROM b [ROWS 5])", "SemiJoin", "upa",
         "fifo + hashed"),
    ],
)  # fmt: skip
def test_what_is_kept_is_named(
    query: str, operator: str, strategy: Strategy, structure: str | None
) -> None:
    found = line(query, operator, strategy)
    assert structure in found if structure else " of " not in found, found


def test_each_value_of_a_full_window_is_sent_once_in_the_time_of_the_window() -> None:
    query = "SELECT DISTINCT k FROM a [RANGE 1 MINUTE]"
    assert "] 17 rows/s" in line(query, "Distinct")
    # Where rows are counted, a value that never leaves is never sent again.
    assert "] 0 rows/s" in line(query, "Distinct", "negative")


def test_distinct_that_looks_through_all_it_keeps_costs_more_the_more_that_is() -> None:
    query = "SELECT DISTINCT k, v FROM a [RANGE {} SECONDS]"

    def price(seconds: int, strategy: Strategy) -> float:
        found = told(bound(query.format(seconds)), Choices(strategy))["runs"]
        return float(found["cost_us_per_time"])

    assert price(1, "direct") < 1.1 * price(1, "upa")
    assert price(1000, "direct") > 2 * price(1000, "upa")

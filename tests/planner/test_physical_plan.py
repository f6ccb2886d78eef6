"""Physical plans are data: what is written down comes back, and answers the same."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra.operators import OnArrival
from penstock.algebra.patterns import pattern_of
from penstock.errors import PenstockError
from penstock.lane_host.routable_keys import is_routable
from penstock.operators.block import arriving
from penstock.operators.spec import Spec
from penstock.planner.physical.building import Building, Choices
from penstock.planner.physical.lower_plans import Lowering
from penstock.planner.physical.physical_plan import PhysicalPlan
from penstock.planner.planning import physical_plan
from penstock.runtime.lane import Lane
from penstock.session import Session
from penstock.testing.format import load_test
from penstock.testing.setup import set_up
from penstock_fuzz.draw import Draw
from penstock_fuzz.programs import random_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.planner.physical.graph import Graph
    from penstock.testing.format import StreamCase

QUERIES = Path(__file__).parents[1] / "queries"
FILES = sorted(QUERIES.rglob("*.stream"))
RANDOM_PLANS = 60
STRATEGIES = (Choices(), Choices(strategy="negative"), Choices(joins="multiway"))


def written_and_read(plan: PhysicalPlan) -> PhysicalPlan:
    return PhysicalPlan.from_json(json.loads(plan.text))


def planned(plan: Plan, choices: Choices) -> PhysicalPlan:
    return physical_plan({"q": plan}, choices, is_routable, 2)


def logical_of(case: StreamCase) -> tuple[Plan, Choices] | None:
    try:
        setup = set_up(case)
        if case.subject.kind == "statement":
            return None
        plan = setup.session.bind(case.subject.text).plan
    except PenstockError:
        return None
    return plan, Choices.of(setup.session.settings.tactics)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(QUERIES)))
def test_the_plans_of_stream_tests_come_back(path: Path) -> None:
    for case in load_test(path).cases:
        found = logical_of(case)
        if found is not None:
            plan = planned(*found)
            again = written_and_read(plan)
            assert again == plan, case.title
            assert again.text == plan.text, "also what takes no part in comparisons"
            assert again.identity == plan.identity
            nodes = [node for one in again.fragments for node in one.graph.nodes]
            assert all(node.estimate is not None for node in nodes)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(QUERIES)))
def test_the_patterns_of_stream_tests_are_those_of_the_edges_that_run(path: Path) -> None:
    for case in load_test(path).cases:
        found = logical_of(case)
        if found is not None:
            plan, choices = found
            lowering = Lowering(Building(choices))
            for part in parts_that_send(plan):
                runs = lowering.building.node(lowering.lower(part)).pattern
                shown = pattern_of(part, announced=choices.strategy == "negative")
                assert shown is runs, f"{part.label()} of {case.title}"


def parts_that_send(plan: Plan) -> Iterator[Plan]:
    """The operators of a plan that run; a read on arrival is one with what it reads."""
    yield plan
    below = plan.reading.children if isinstance(plan, OnArrival) else plan.children
    for one in below:
        yield from parts_that_send(one)


def random_plans() -> Iterator[tuple[int, Plan]]:
    seed = made = 0
    while made < RANDOM_PLANS:
        seed += 1
        try:
            program = random_program(Draw(f"physical {seed}"))
            session = Session()
            session.execute(program.script)
            plan = session.bind(str(program.query)).plan
        except PenstockError:
            continue
        made += 1
        yield seed, plan


def test_random_plans_come_back() -> None:
    for seed, plan in random_plans():
        made = planned(plan, STRATEGIES[seed % len(STRATEGIES)])
        again = written_and_read(made)
        assert again.text == made.text, seed
        # NaN is not equal to itself.
        assert again == made or "nan" in made.text, seed


def test_every_spec_is_frozen_and_known_to_the_codec() -> None:
    kinds = Spec.__subclasses__()
    assert len(kinds) > 25
    for kind in kinds:
        assert is_dataclass(kind)
        assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]  # dataclasses have it
        assert kind.build is not Spec.build, kind
        assert not kind.__subclasses__(), "the codec finds direct subclasses"


DECLARED = """
CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts);
CREATE STREAM t (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts);
CREATE STREAM u (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts);
"""


def bound(text: str) -> Plan:
    session = Session()
    session.execute(DECLARED)
    return session.bind(text).plan


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s.k, t.v FROM s [RANGE 5] JOIN t [RANGE 5] ON s.k = t.k AND s.v < t.v",
        "SELECT k, COUNT(*) AS n, MAX(v) AS m FROM s [RANGE 5] GROUP BY k",
        "RSTREAM(SELECT k FROM s [RANGE 6 SLIDE 2] ORDER BY v LIMIT 2)",
        "SELECT DISTINCT k FROM s [ROWS 4] EXCEPT SELECT k FROM t [RANGE 3]",
        "SELECT s.v FROM s [RANGE 5] JOIN t [RANGE 5] ON s.k = t.k JOIN u [RANGE 5] ON s.k = u.k",
    ],
)
def test_lanes_made_of_it_answer_the_same(query: str) -> None:
    plan = physical_plan({"q": bound(query)}, Choices(joins="multiway"), lambda _: True, 1)
    (one,), (other,) = plan.fragments, written_and_read(plan).fragments
    assert answers(Lane(one.graph)) == answers(Lane(other.graph)) != []


def answers(lane: Lane) -> list[tuple[object, ...]]:
    numbers = np.arange(40)
    columns = [
        pa.array(numbers),
        pa.array(numbers % 3, pa.int32()),
        pa.array(numbers % 7, pa.int32()),
    ]
    block = arriving(tuple(columns), numbers)
    names = list(lane.graph.streams)
    results = lane.feed(dict.fromkeys(names, block), dict.fromkeys(names, 30))
    results.extend(lane.finish())
    return [row for made in results.blocks["q"] for row in rows_of(made)]


def rows_of(block: Block) -> list[tuple[object, ...]]:
    times = (block.ts.tolist(), block.te.tolist(), block.signs.tolist())
    return list(zip(*times, *(one.to_pylist() for one in block.columns), strict=True))


def test_a_part_of_a_plan_has_the_operators_that_the_whole_has() -> None:
    plans = {
        "stays": bound("SELECT k, COUNT(*) AS n FROM s [RANGE 5] GROUP BY k"),
        "leaves": bound("SELECT DISTINCT k FROM s [RANGE 5]"),
    }
    whole = physical_plan(plans, Choices(), is_routable, 2)
    part = whole.only(["stays"])
    assert list(part.columns) == ["stays"]
    (before,), (after,) = whole.fragments, part.fragments
    assert len(after.graph.nodes) < len(before.graph.nodes)
    assert {*after.graph.identities} < {*before.graph.identities}


def test_identity_is_what_is_compared() -> None:
    (spec,) = {type(node.spec) for node in numbered().nodes if node.is_numbering}
    assert [one.name for one in fields(spec) if not one.compare] == ["place"]
    nodes = numbered().nodes
    moved = numbered().only(["q"])
    assert moved.identities == numbered().identities
    assert len(nodes) == len(moved.nodes)


def numbered() -> Graph:
    text = "SELECT k FROM s [RANGE 5] WHERE NOT EXISTS (SELECT 1 FROM t [RANGE 5] WHERE t.v > s.v)"
    plan = physical_plan({"q": bound(text)}, Choices(), lambda _: True, 1)
    return plan.fragments[-1].graph

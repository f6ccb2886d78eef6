"""Where rows lie: each row of each node is in the lane that its own columns say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.algebra.failures import Failures
from penstock.compute.evaluate import compile_expression
from penstock.planner.partition.partitioning import partitioning_of
from penstock.planner.partition.row_placement import row_placements
from penstock.planner.physical.lowering import operator_graph
from penstock.session import Session
from penstock.state.lane_hash import lanes_of
from penstock_fuzz import inline
from penstock_fuzz.generate import generate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.planner.partition.row_placement import RowPlacement
    from penstock.runtime.local_run import LocalRun
    from penstock.runtime.station import Station
    from penstock_fuzz.trial import Trial

DECLARATIONS = """
    CREATE STREAM a (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts);
    CREATE STREAM b (ts BIGINT, k BIGINT, v INT, WATERMARK FOR ts AS ts);
    CREATE RELATION r (k INT, v INT);
"""
TRIALS = 150
LANES = 3


def places_of(query: str) -> list[RowPlacement]:
    session = Session()
    session.execute(DECLARATIONS)
    plan = session.bind(query).plan
    return row_placements(operator_graph({"q": plan}), partitioning_of(plan))


def keys_of(query: str) -> list[str] | None:
    """The keys of the result."""
    keys = places_of(query)[-1].keys
    return None if keys is None else [str(key) for key in keys]


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("SELECT k, COUNT(*) FROM a [RANGE 9] GROUP BY k", ["0"]),
        ("SELECT COUNT(*), k FROM a [RANGE 9] GROUP BY k", ["1"]),
        ("SELECT COUNT(*) FROM a [RANGE 9] GROUP BY k", None),
        ("SELECT DISTINCT k + v FROM a [RANGE 9]", ["0"]),
        # The key is the cast of a.k, which b.k equals.
        ("SELECT a.v, b.k FROM a [RANGE 9], b [RANGE 9] WHERE a.k = b.k", ["1"]),
        ("SELECT a.v, a.k FROM a [RANGE 9], b [RANGE 9] WHERE a.k = b.k", ["CAST(1 AS BIGINT)"]),
        ("SELECT * FROM a [RANGE 9] LEFT JOIN r ON a.k = r.k", ["1"]),
        ("SELECT v FROM a [RANGE 9] UNION SELECT v FROM b [RANGE 9]", ["0"]),
        ("SELECT * FROM a [RANGE 9] FULL JOIN r USING (k)", ["0"]),
    ],
)
def test_keys_are_followed_to_the_result(query: str, keys: list[str] | None) -> None:
    assert keys_of(query) == keys


def test_what_every_lane_has_is_known() -> None:
    places = places_of("SELECT a.v FROM a [RANGE 9] WHERE a.v > (SELECT MAX(r.v) FROM r)")
    assert [place.is_whole for place in places].count(True) == 4
    assert not places[-1].is_whole


def test_numbers_are_followed() -> None:
    places = places_of(
        "SELECT a.v FROM a [RANGE 9] WHERE NOT EXISTS"
        " (SELECT * FROM r WHERE a.k = r.k AND a.v < r.v)"
    )
    assert [place.numbers for place in places if place.numbers] == [(3,), (3,), (0,), (0,), (3,)]
    assert places[-1].numbers == ()


def test_rows_of_random_plans_are_where_their_columns_say(monkeypatch: pytest.MonkeyPatch) -> None:
    started = inline.started
    seen: list[int] = []

    def watched(trial: Trial, plan: Plan, lanes: int) -> LocalRun:
        running = started(trial, plan, lanes)
        places = row_placements(running.graph, running.partitioning)
        for number, lane in enumerate(running.lanes.lanes):
            for station, place in zip(lane.stations, places, strict=True):
                if place.keys is not None:
                    monkeypatch.setattr(station, "run", checking(station, place, number, seen))
        return running

    monkeypatch.setattr(inline, "started", watched)
    for number in range(TRIALS):
        generated = generate(f"whereabouts/{number}")
        if partitioning_of(generated.plan).is_partitioned:
            trial = replace(generated.trial, lanes=LANES, restore_after=frozenset())
            inline.InlineContender().run_trial(trial, generated.plan)
    assert sum(seen) > 1000


def checking(
    station: Station, place: RowPlacement, lane: int, seen: list[int]
) -> Callable[[], Sequence[Block]]:
    """Runs a station and looks at where its results are."""
    run = station.run
    keys = [compile_expression(key, station.node.schema) for key in place.keys or ()]

    def checked() -> Sequence[Block]:
        made = run()
        for block in made:
            values = [key(block.columns, len(block), Failures()) for key in keys]
            lanes = lanes_of(values, len(block), LANES)
            assert (lanes == lane).all(), station.node.label
            seen.append(len(block))
        return made

    return checked

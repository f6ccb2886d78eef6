"""The benchmark of multi-joins: its traffic is as it says, its ways find the same."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pytest

from penstock.errors import InternalError, UnknownName
from penstock_bench.multijoin import sections
from penstock_bench.multijoin_cases import buckets, intervals, lengths, tables, windows
from penstock_bench.multijoin_plot import write_picture
from penstock_bench.multijoin_run import WayEffort, measure, verify
from penstock_bench.multijoin_spark import (
    OURS,
    QUICK,
    SAMPLE,
    SAMPLE_WINDOW,
    STREAMS,
    WAYS,
    OnSpark,
)
from penstock_bench.multijoin_spark import verify as verify_on_spark
from penstock_bench.multijoin_traffic import TABLE_5, alike
from penstock_bench.multijoin_ways import MultiwayWay, Plain, TreeWay
from penstock_bench.pipeline_data import written
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.planner.cost.join_model import Order
    from penstock_bench.multijoin_loops import Loops
    from penstock_bench.multijoin_sections import Series
    from penstock_bench.multijoin_ways import Way

TINY = WayEffort(rounds=1, seconds=0.0, scale=1, windows=3, steps=(40, 400), lengths=(50, 500))
WITHOUT_SPARK = ["orders", "hash", "interval", "windows", "buckets", "lengths"]
Figures = dict[str, Any]


IN_EVERY_TIER = [one for one in WITHOUT_SPARK if one not in ("orders", "buckets")]


def test_there_are_figures_of_every_way_and_a_picture(tmp_path: Path) -> None:
    found = figures_of(IN_EVERY_TIER, tmp_path / "all.png")
    check_ways(found)
    assert list(found["windows"]["50 values, 3"]["ways"]) == ["naive", "improved", "tree", "n-way"]


@only_long
def test_there_are_figures_of_every_order_and_of_buckets(tmp_path: Path) -> None:
    found = figures_of(["orders", "buckets"], tmp_path / "orders.png")
    for one in found.pop("orders").values():
        assert len(one["orders"]) == 24
        assert one["best_by_model"] == "1234"
        assert one["model_ratio"] > 1
        assert one["results_agreed_on"] > 100
        assert -1 <= one["rank_correlation"] <= 1
    check_ways(found)


def figures_of(names: list[str], picture: Path) -> Figures:
    """The figures of sections, as their JSON says them; their picture is drawn."""
    outcomes = [one.measure(lambda: None) for one in sections(TINY, QUICK, names)]
    assert [one.name for one in outcomes] == names
    write_picture(outcomes, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    found: Figures = json.loads(json.dumps({one.name: one.figures for one in outcomes}))
    return found


def check_ways(found: Figures) -> None:
    for section in found.values():
        for point in section.values():
            assert point["results_agreed_on"] > 10
            first, *others = point["ways"].values()
            assert first["times_first"] == 1
            for way in (first, *others):
                assert 0 < way["ns_per_tuple"] <= way["highest_ns"]
                assert way["state_bytes"] > 0


def visits_of(way: Plain, steps: int) -> float:
    """How many rows it visits for a tuple, once windows are full."""
    traffic = TABLE_5.every(10)
    running: Loops = way.running(traffic)
    running.fill(traffic)
    for number in range(traffic.steps_to_fill, traffic.steps_to_fill + steps):
        running.step(traffic.step(number))
    return running.visits / (steps * traffic.step_rows)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0)])
def test_plain_loops_visit_as_many_rows_as_the_model_says(order: Order) -> None:
    model = TABLE_5.model((1.0,) * 4)
    assert visits_of(Plain(order), 100) == pytest.approx(model.cost(order) / 15, rel=0.1)
    # Values are numbered from 0 on: those of a bucket are every fifth, in all windows.
    hashed = TABLE_5.model((5.0,) * 4)
    found = visits_of(Plain(order, (5,) * 4), 100)
    assert found == pytest.approx(hashed.cost(order) / 15, rel=0.25)


def test_the_naive_loops_visit_more() -> None:
    assert visits_of(Plain(naive=True), 3) > 3 * visits_of(Plain(), 3)


def test_rows_are_as_frequent_as_rates_say_and_windows_get_full() -> None:
    traffic = TABLE_5.scaled(2).every(100)
    assert traffic.live == (2000, 200, 400, 600)
    assert traffic.values == (1000, 100, 80, 10)
    assert traffic.steps_to_fill == 4
    steps = [traffic.step(number) for number in range(20)]
    for stream, rate in enumerate(traffic.rates):
        came = sum(len(step.blocks[stream]) for step in steps)
        assert came == pytest.approx(rate * 2000, rel=0.1)
    block = steps[-1].blocks[2]
    assert {*(block.te - block.ts)} == {traffic.windows[2] * 15}
    assert int(block.columns[0].to_numpy().max()) < traffic.values[2]
    again = traffic.step(19).blocks[2]
    assert again.columns == block.columns
    assert np.array_equal(np.sort(np.concatenate([b.ts for b in steps[0].blocks])), range(1500))


def test_a_turn_has_only_tuples_of_full_windows() -> None:
    traffic = alike(3, 200, 100, 300)
    ways: dict[str, Way] = {"tree": TreeWay(), "n-way": MultiwayWay(), "loops": Plain()}
    found = measure(traffic, ways, replace(TINY, rounds=3))
    assert all(len(one.nanoseconds) == 3 for one in found.values())
    # The first step is the same for all, and each finds 2 others in each window.
    assert len({one.results for one in found.values()}) == 1
    assert found["tree"].results == pytest.approx(4, rel=0.2)
    assert found["tree"].state_bytes > found["n-way"].state_bytes


def test_ways_that_find_something_else_are_found_out() -> None:
    class Forgetful(Plain):
        def running(self, traffic: Any) -> Any:
            return super().running(replace(traffic, windows=(10, 10)))

    with pytest.raises(InternalError, match="forgetful"):
        verify(alike(2, 20, 5, 20), {"n-way": MultiwayWay(), "forgetful": Forgetful()}, 5)


def test_a_sample_without_results_compares_nothing() -> None:
    with pytest.raises(InternalError, match="finds nothing"):
        verify(alike(8, 5, 1000, 10), {"n-way": MultiwayWay()}, 2)


@pytest.mark.parametrize("section", [windows, lengths, buckets, tables, intervals])
def test_samples_have_results(section: Callable[[WayEffort], Series]) -> None:
    for point in section(WayEffort()).points:
        last = [*point.ways][-1]
        assert verify(point.sample.traffic, {last: point.ways[last]}, point.sample.steps) > 100


@pytest.fixture(scope="module")
def combinations_on_spark(tmp_path_factory: pytest.TempPathFactory) -> int:
    folder = written(tmp_path_factory.mktemp("input"), SAMPLE)
    tables = ", ".join(f"read_parquet('{folder}/{one}/*') AS {one}" for one in STREAMS)
    asked = [
        f"{one}.k = {other}.k AND abs({one}.ts - {other}.ts) < {SAMPLE_WINDOW}"
        for one, other in combinations(STREAMS, 2)
    ]
    counted = f"SELECT count(*) FROM {tables} WHERE {' AND '.join(asked)}"
    [(count,)] = duckdb.connect().execute(counted).fetchall()
    return int(count)


ON_SPARK = [OURS, *(pytest.param(way, marks=only_long) for way in WAYS[2:])]


@pytest.mark.parametrize("way", ON_SPARK, ids=lambda way: way.label)
def test_joins_of_four_streams_on_spark_agree(
    way: Any, combinations_on_spark: int, tmp_path: Path
) -> None:
    assert combinations_on_spark > 10_000
    assert verify_on_spark(tmp_path, [way]) == combinations_on_spark


@only_long
def test_ways_on_spark_are_measured() -> None:
    effort = replace(QUICK, sizes=(2000,), batches=3, warm_seconds=1.0)
    outcome = OnSpark(effort, [WAYS[0], OURS]).measure(lambda: None)
    assert list(outcome.figures) == ["ceiling", OURS.label]
    found: Figures = json.loads(json.dumps(outcome.figures))
    assert all(one["rows_per_second"] > 0 for one in found.values())
    assert found[OURS.label]["penstock_ratio"] == 1


def test_the_command_prints_one_object_and_writes_the_picture(tmp_path: Path) -> None:
    picture = tmp_path / "one.png"
    arguments = ["multijoin", "--quick", "--only", "interval", "--out", str(picture)]
    whole = [sys.executable, "-P", "-m", "penstock", "bench", *arguments]
    answer = subprocess.run(whole, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    found: Figures = json.loads(answer.stdout.splitlines()[-1])
    assert found["benchmark"] == "multijoin"
    assert [one["x"] for one in found["interval"].values()] == [40, 400, 4000]
    assert picture.exists()


def test_only_what_is_wanted_is_measured() -> None:
    assert [one.name for one in sections(TINY, QUICK)] == [*WITHOUT_SPARK, "spark"]
    with pytest.raises(UnknownName, match="odrers"):
        sections(TINY, QUICK, ["odrers"])

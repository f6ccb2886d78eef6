"""The cluster's benchmark measures what it says; what a driver takes in does not multiply."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.errors import InternalError, UnknownName
from penstock_bench.cluster import QUICK, ClusterEffort, sections
from penstock_bench.cluster_driver import SimulatedSize, driver_cost
from penstock_bench.cluster_recovery import Recovered, recovered
from penstock_bench.pipeline_run import PipelineFigures
from tiers import only_long

if TYPE_CHECKING:
    from pathlib import Path


def test_what_a_driver_takes_in_grows_with_lanes_and_queries_not_with_their_product() -> None:
    small, lanes, queries, both = (
        driver_cost(SimulatedSize(*size)) for size in ((4, 10), (40, 10), (4, 400), (40, 400))
    )
    assert lanes.answers > 5 * small.answers
    assert lanes.record > 5 * small.record
    # Of the queries, one in a hundred has results in each task.
    assert both.answers < 1.3 * lanes.answers
    assert both.record < lanes.record + queries.record
    assert min(vars(both).values()) > 0


def test_sections_are_chosen_by_name(tmp_path: Path) -> None:
    found = {one.name: list(one.items) for one in sections(tmp_path, QUICK)}
    assert list(found) == ["driver", "tasks", "workers", "killed"]
    assert found["tasks"] == [
        f"{n} tasks, {way}" for n in (2, 8) for way in ("whole", "divided", "job")
    ]
    assert found["workers"] == found["killed"] == ["2 workers"]
    with pytest.raises(UnknownName, match='nothing called "worker"'):
        sections(tmp_path, QUICK, ["worker"])


def test_what_a_kill_costs_is_what_batches_take_longer() -> None:
    ran = PipelineFigures(milliseconds=[100.0] * 10 + [2100.0, 600.0] + [100.0] * 12)
    ran.killed_after = 10
    found = recovered(ran)
    assert found == Recovered(usual=0.1, longest=2.1, slow=2, lost=found.lost)
    assert found.lost == pytest.approx(2.5)
    with pytest.raises(InternalError, match="killed in time: after None of 24 micro-batches"):
        recovered(replace(ran, killed_after=None))


@only_long
def test_all_of_it_runs_and_counts_the_same_results(tmp_path: Path) -> None:
    effort = ClusterEffort(2000, 4, (1, 2), (2,), 0.0, 2000, 25, 5)
    _, tasks, workers, killed = sections(tmp_path, effort)
    by_tasks, on_cluster = (one.measure(lambda: None).figures for one in (tasks, workers))
    results = {str(one["results_per_row"]) for one in (*by_tasks.values(), *on_cluster.values())}
    assert len(by_tasks) == 4
    assert list(on_cluster) == ["2 workers, join", "2 workers, native join"]
    assert len(results) == 1
    costs = killed.measure(lambda: None).figures
    assert list(costs) == list(on_cluster)

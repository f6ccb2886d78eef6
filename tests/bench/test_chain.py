"""The benchmark of schedulers: traffic as it says, and the orders of the theory."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from penstock.errors import UnknownName
from penstock.scheduling.scheduler_list import SCHEDULERS
from penstock_bench.chain.experiments import QUICK, ChainEffort, come, compared, least_peak
from penstock_bench.chain.lane_run import LaneBench
from penstock_bench.chain.lane_section import LaneSchedulers
from penstock_bench.chain.lane_traffic import lane_traffics
from penstock_bench.chain.sections import FlushLatencies, MixedSlopes, sections
from penstock_bench.chain.spark_section import SparkSchedulers
from penstock_bench.chain.traffic import arrivals, flow_rates, made_up_trace
from penstock_bench.chain.workloads import WORKLOADS, ModelWorkload
from tiers import only_long

if TYPE_CHECKING:
    from pathlib import Path

    from penstock_bench.chain.trace import Trace

NAMES = [one.name for one in WORKLOADS]
KINDS = ["flows", "counts"]


@cache
def traces(name: str, traffic: str) -> dict[str, Trace]:
    (workload,) = [one for one in WORKLOADS if one.name == name]
    return compared(workload, come(workload, traffic, QUICK))


def workload_of(name: str) -> ModelWorkload:
    return next(one for one in WORKLOADS if one.name == name)


def test_every_scheduler_is_compared() -> None:
    assert set(traces("two", "flows")) == {one.name for one in SCHEDULERS}


@pytest.mark.parametrize("traffic", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_all_schedulers_do_all_the_work_in_the_same_time(name: str, traffic: str) -> None:
    runs = [*traces(name, traffic).values()]
    assert len({len(one.done) for one in runs}) == 1
    ends = [max(one.done) for one in runs]
    assert ends == pytest.approx([ends[0]] * len(ends))


@pytest.mark.parametrize("traffic", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_chain_needs_least_and_fifo_is_soonest(name: str, traffic: str) -> None:
    runs = traces(name, traffic)
    # Calls cannot be interrupted, so that another may have less by a part of a block.
    assert runs["chain"].peak <= min(one.peak for one in runs.values()) + 1
    assert 1.3 * runs["chain"].peak < runs["fifo"].peak
    assert runs["fifo"].mean_latency == min(one.mean_latency for one in runs.values())


@pytest.mark.parametrize("traffic", KINDS)
@pytest.mark.parametrize("name", ["hidden", "relation", "join", "queries"])
def test_greedy_loses_where_a_steep_operator_is_hidden(name: str, traffic: str) -> None:
    runs = traces(name, traffic)
    assert runs["greedy"].peak > 1.4 * runs["chain"].peak


@pytest.mark.parametrize("traffic", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_no_peak_is_below_the_bound(name: str, traffic: str) -> None:
    workload = workload_of(name)
    if workload.has_joins:
        assert name in {"join", "queries"}
        return
    least = least_peak(workload, come(workload, traffic, QUICK))
    assert all(one.peak >= least - 1e-9 for one in traces(name, traffic).values())


def test_peaks_of_chain_flush_fall_as_its_latency_grows() -> None:
    found = FlushLatencies(ChainEffort(300, 4)).measure(lambda: None).figures["falling"]
    points: Any = found["latencies"]
    exact = [one["exact"]["peak_memory"] for one in points]
    assert exact == sorted(exact, reverse=True)
    # With more than what Chain takes, none is late.
    assert points[-1]["chain_flush"]["late"] == 0
    chain: Any = found["chain"]
    assert points[-1]["chain_flush"]["peak_memory"] == chain["peak_memory"]


def test_mixed_goes_from_chain_to_fifo() -> None:
    found: Any = MixedSlopes(ChainEffort(300)).measure(lambda: None).figures["falling"]
    peaks = [one["peak_memory"] for one in found["thresholds"]]
    assert peaks == sorted(peaks)
    assert peaks[0] == found["chain"]["peak_memory"]
    assert peaks[-1] == found["fifo"]["peak_memory"]


@pytest.mark.parametrize("rates", [flow_rates(3, 4000), made_up_trace(3)])
def test_traffic_is_bursty_and_all_of_it_comes(rates: np.ndarray[Any, Any]) -> None:
    times = arrivals(rates, 1000, 5000.0)
    assert len(times) == 1000
    assert (np.diff(times) >= 0).all()
    assert 0 < times[0] <= times[-1] == pytest.approx(5000)
    counts, _ = np.histogram(times, 50)
    assert counts.max() > 3 * counts.min()


def test_the_time_of_a_step_is_measured_for_every_scheduler() -> None:
    (section,) = sections(QUICK, ["overhead"])
    figures = section.measure(lambda: None).figures
    assert [*figures] == ["10", "100", "1000"]
    for one in figures.values():
        assert set(one) == {listed.name for listed in SCHEDULERS}


def test_a_lane_does_all_the_work_whoever_chooses() -> None:
    section = LaneSchedulers(ChainEffort(20), by_costs=True)
    figures: Any = section.measure(lambda: None).figures
    assert [*figures] == section.items == [*section.shown]
    for traffic, found in figures.items():
        schedulers = found["schedulers"]
        assert {one.name for one in SCHEDULERS} <= {label.partition(" ")[0] for label in schedulers}
        assert found["least_peak"] == pytest.approx(max(section.least[traffic]), abs=1)
        for label, one in schedulers.items():
            assert 0 < one["median"] <= one["p99"]
            assert one["peak"] >= max(section.shown[traffic][label].queued)
            assert ("p99_to_latency" in one) == label.startswith("chain_flush")


def test_by_the_costs_of_a_table_chain_needs_less_than_fifo_on_a_lane_and_runs_are_alike() -> None:
    bench = LaneBench(lane_traffics(ChainEffort(), 600_000, 60)["other flows"], by_costs=True)
    fifo, chain = bench.run("fifo"), bench.run("chain")
    assert chain.peak < 0.7 * fifo.peak
    assert fifo.median < chain.p99
    again = bench.run("chain")
    assert (again.queued, again.latencies) == (chain.queued, chain.latencies)


def test_the_overhead_of_a_lane_is_measured_by_the_time_of_the_processor() -> None:
    section = LaneSchedulers(ChainEffort(20))
    found: Any = section.measure(lambda: None).figures
    names = {one.name for one in SCHEDULERS}
    assert all(one["overhead"]["share"].keys() == names for one in found.values())
    assert all(one["overhead"]["operator_us"] > 0 for one in found.values())


@only_long
def test_a_pipeline_on_spark_does_all_the_work_whoever_chooses() -> None:
    section = SparkSchedulers(ChainEffort(20))
    found: Any = section.measure(lambda: None).figures
    assert [*found] == [*section.shown] == ["other flows", "counts"]
    for traffic, shown in section.shown.items():
        schedulers = found[traffic]["schedulers"]
        assert [*schedulers] == section.labels
        assert {one.split()[0] for one in schedulers} == {one.name for one in SCHEDULERS}
        assert all(0 < one["median"] <= one["p99"] for one in schedulers.values())
        assert all(one["peak"] > 0 for one in schedulers.values())
        assert all(one.queued[-1] == 0 for one in shown.values())


def test_the_rows_of_a_lane_come_as_the_trace_says() -> None:
    given = ChainEffort(trace=(1.0, 0.0, 3.0, 9.0))
    counts = lane_traffics(given, 2000, 15)["counts"]
    assert counts.counts == [100] * 5 + [0] * 5 + [300] * 5
    assert [len(one) for one in counts.blocks] == counts.counts


def test_only_what_is_wanted_is_run() -> None:
    assert [one.name for one in sections(QUICK, ["mixed"])] == ["mixed"]
    with pytest.raises(UnknownName, match="mixd"):
        sections(QUICK, ["mixd"])


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-P", "-m", "penstock", "bench", "chain", "--quick", *arguments]
    return subprocess.run(whole, capture_output=True, text=True, check=False)


def test_the_command_draws_a_picture_and_ends_with_figures(tmp_path: Path) -> None:
    trace, picture = tmp_path / "counts.csv", tmp_path / "chain.png"
    trace.write_text("at,count\n1,5\n2,0\n3,80\n4,9\n", "utf-8")
    answer = command("--only", "mixed", "--out", str(picture), "--trace", str(trace))
    assert answer.returncode == 0, answer.stderr
    figures = json.loads(answer.stdout.splitlines()[-1])
    assert figures["benchmark"] == "chain"
    assert figures["trace"] == "counts.csv"
    assert figures["mixed"]["falling"]["fifo"]["peak_memory"] > 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["at,count\n1,many\n2,3\n", "at,count\n1,7\n", ""])
def test_a_trace_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    trace = tmp_path / "counts.csv"
    trace.write_text(text, "utf-8")
    answer = command("--trace", str(trace), "--out", str(tmp_path / "chain.png"))
    assert answer.returncode != 0
    assert "is no trace" in answer.stderr
    assert "Traceback" not in answer.stderr

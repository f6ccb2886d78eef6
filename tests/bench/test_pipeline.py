"""The pipeline's benchmark measures what it says: the same rows, and results that agree."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import InternalError, UnknownName
from penstock_bench import pipeline
from penstock_bench.data import BenchInputs
from penstock_bench.driving import workload
from penstock_bench.multijoin_spark import WAYS as WAYS_OF_FOUR
from penstock_bench.pipeline import MANY, WAYS, PipelineEffort, sections
from penstock_bench.pipeline_data import WINDOW, Input, written
from penstock_bench.pipeline_latency import Load, latencies
from penstock_bench.pipeline_native import SlidingAggregate
from penstock_bench.pipeline_penstock import QUERIES, plan_of, statements
from penstock_bench.pipeline_registering import registering
from penstock_bench.pipeline_run import FRAMES, PipelineFigures, PipelineSetting, in_own_process
from penstock_bench.pipeline_steady import steady
from tiers import only_long

SMALL = Input(2000, 3, keys=50)
SHORT = 40_000
"""A window of less than the half of a micro-batch of SMALL, in microseconds."""

NATIVE_LABELS = {
    "join": "Spark",
    "aggregate": "Spark, hopping by a second",
    "distinct": "Spark, appearance only",
}

PAIRS = """
SELECT count(*) FROM read_parquet('{folder}/a/*') AS a JOIN read_parquet('{folder}/b/*') AS b
ON a.k = b.k AND abs(a.ts - b.ts) < {window}
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("input"), SMALL)


def test_batches_follow_each_other_in_time_and_have_equal_shares(small: Path) -> None:
    for stream in SMALL.streams:
        tables = [pq.read_table(path) for path in sorted((small / stream).iterdir())]
        assert [len(table) for table in tables] == [1000] * 3
        ranges = [(min(ts), max(ts)) for ts in (table["ts"].to_pylist() for table in tables)]
        assert all(one[1] < other[0] for one, other in pairwise(ranges))


def test_some_batches_may_be_of_another_size_and_come_first(tmp_path: Path) -> None:
    mixed = replace(SMALL, first_rows=4000, first_batches=2)
    folder = written(tmp_path, mixed)
    for stream in mixed.streams:
        tables = [pq.read_table(path) for path in sorted((folder / stream).iterdir())]
        assert [len(table) for table in tables] == [2000, 2000, 1000, 1000, 1000]
        starts = [min(table["ts"].to_pylist()) for table in tables]
        assert [start // 100_000 for start in starts] == [0, 2, 4, 5, 6]


@only_long
@pytest.mark.parametrize("way", ["hopping", "by hand", "native distinct"])
def test_what_spark_has_instead_runs(tmp_path: Path, way: str) -> None:
    one = written(tmp_path, replace(SMALL, streams=("a",)))
    ran = in_own_process(PipelineSetting(way, str(one), window=SHORT))
    assert ran.rows == [2000, 2000, 2000]
    assert ran.results > 0


OTHERS = [pytest.param(way, marks=only_long) for way in ("native join", "ceiling")]


@pytest.mark.parametrize("way", ["join", *OTHERS])
def test_all_read_the_same_rows_and_joins_agree(small: Path, way: str) -> None:
    ran = in_own_process(PipelineSetting(way, str(small), window=SHORT, flush=True))
    assert ran.rows == [2000, 2000, 2000]
    assert len(ran.milliseconds) == 3
    assert len(ran.parts) == (0 if way == "join" else 3)
    pairs = PAIRS.format(folder=small, window=SHORT)
    [(expected,)] = duckdb.connect().execute(pairs).fetchall()
    assert expected > 1000
    assert ran.results == (0 if way == "ceiling" else expected)


def test_a_run_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(InternalError, match="window_duration"):
        in_own_process(PipelineSetting("hopping", str(tmp_path), window=-1))


class State:
    """What Spark keeps for a key between two calls."""

    def __init__(self) -> None:
        self.get = (b"", b"")
        self.hasTimedOut = False
        self.watermark = 0
        self.exists = False

    def update(self, value: tuple[bytes, bytes]) -> None:
        self.get, self.exists = value, True

    def remove(self) -> None:
        self.exists = False

    def setTimeoutTimestamp(self, at: int) -> None:
        assert at * 1000 > self.watermark

    def getCurrentWatermarkMs(self) -> int:
        return self.watermark // 1000


def test_the_aggregate_by_hand_says_what_ours_says() -> None:
    random = np.random.default_rng(1)
    ts = np.sort(random.integers(0, 1_000_000, 200))
    table = pa.table({"ts": ts, "k": np.zeros(200, np.int64), "v": random.integers(0, 9, 200)})
    query = QUERIES["aggregate"][0].format(w=SHORT)
    ours = [
        (int(start), *(column[row].as_py() for column in block.columns[1:]))
        for block in workload(BenchInputs({"a": table}), query).run().results
        for row, start in enumerate(block.ts)
        if block.sign is None or block.sign[row] > 0
    ]
    state, found = State(), []
    by_hand = SlidingAggregate(SHORT)
    for start in range(0, 200, 40):
        frames = [table.slice(start, 40).to_pandas()]
        found += list(by_hand((0,), frames, state))  # type: ignore[arg-type]
    state.hasTimedOut, state.watermark = True, 2_000_000
    found += list(by_hand((0,), [], state))  # type: ignore[arg-type]
    rows = [tuple(row[1:]) for frame in found for row in frame.itertuples(index=False)]
    assert sorted(rows) == sorted(ours)
    assert len(rows) > 200
    assert not state.exists


def test_the_steady_state_is_the_second_half_or_what_follows_full_windows() -> None:
    ran = PipelineFigures(
        [10] * 6, [900.0, 800.0, 700.0, 100.0, 100.0, 200.0], [{"addBatch": 5.0}] * 6
    )
    ran.cpu = [(1, 1.0), (3, 4.0), (5, 6.0)]
    half = steady(ran)
    assert half.batches == 3
    assert half.rows_per_second == pytest.approx(30 / 0.4)
    assert half.median_ms == 100
    assert half.cpu_per_million == pytest.approx(2.0 / 20 * 1e6)
    assert half.parts_ms == {"addBatch": 5.0}
    assert steady(ran, full=5).rows_per_second == pytest.approx(10 / 0.2)
    assert steady(ran, full=5).cpu_per_million is None
    assert steady(ran, full=5).rows_before == 50
    with pytest.raises(InternalError, match="ended after 6 micro-batches"):
        steady(ran, full=6)


def test_windows_are_full_before_anything_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[PipelineSetting, int]] = []

    def pretended(run: PipelineSetting) -> PipelineFigures:
        files = sorted((Path(run.data) / "a").iterdir())
        rows = [2 * pq.read_metadata(path).num_rows for path in files]
        seen.append((run, sum(rows[: run.filling])))
        return PipelineFigures(rows, [1.0] * len(rows))

    monkeypatch.setattr(pipeline, "in_own_process", pretended)
    monkeypatch.setattr(pipeline, "MIDDLE", 200)
    monkeypatch.setattr(pipeline, "FILLING", 1000)
    monkeypatch.setattr(pipeline, "RATE", 20)
    (scaling,) = sections(tmp_path, PipelineEffort(batches=8), ["scaling"])
    figures = scaling.measure(lambda: None).figures
    assert list(figures) == ["1 lane", "2 lanes", "2 lanes, window x10", "2 lanes, window x100"]
    for run, filled in seen:
        assert filled >= run.window // 1_000_000 * 20
    assert [one.filling for one, _ in seen] == [1, 1, 2, 20]
    counted: list[Any] = [one["rows_before"] for one in figures.values()]
    assert all(many >= filled for many, (_, filled) in zip(counted, seen, strict=True))
    assert not list(tmp_path.glob("*1000x*")), "large inputs are removed"


@only_long
def test_registering_takes_some_time() -> None:
    assert 0 < registering(2) < 600


@only_long
def test_every_file_has_a_latency(tmp_path: Path) -> None:
    staged = written(tmp_path, Input(200, 12))
    found = latencies(Load(str(staged), 100, 12, 0.05))
    assert len(found) == 12
    assert all(0 < seconds < 600 for seconds in found)


def test_the_command_prints_what_it_measured() -> None:
    chosen = ["--only", "ten", "--rows-per-batch", "2000", "--batches", "3", "--quick"]
    command = [sys.executable, "-P", "-m", "penstock", "bench", "pipeline", *chosen]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    assert found["benchmark"] == "pipeline"
    assert list(found["ten"]) == ["2000: ceiling", "2000: Penstock"]
    assert all(one["rows_per_second"] > 0 for one in found["ten"].values())
    assert found["ten"]["2000: Penstock"]["results_per_row"] > 0


def test_only_what_is_wanted_is_measured(tmp_path: Path) -> None:
    assert [one.name for one in sections(tmp_path, PipelineEffort(), ["fixed"])] == ["fixed"]
    names = [one.name for one in sections(tmp_path, PipelineEffort())]
    assert names == [*WAYS, "fixed", "many", "latency", "registering", "scaling"]
    with pytest.raises(UnknownName, match="jion"):
        sections(tmp_path, PipelineEffort(), ["jion"])


def test_contests_run_at_all_sizes_and_with_both_state_stores(tmp_path: Path) -> None:
    found = {one.name: list(one.items) for one in sections(tmp_path, PipelineEffort())}
    for name in ("join", "aggregate", "distinct", "ten"):
        for size in (20_000, 200_000, 1_000_000):
            assert {f"{size}: ceiling", f"{size}: Penstock"} <= {*found[name]}
    for name, label in NATIVE_LABELS.items():
        for size in (20_000, 200_000, 1_000_000):
            stores = {f"{size}: {label}, {store}" for store in ("HDFS-backed", "RocksDB")}
            assert stores <= {*found[name]}
    for ways in WAYS.values():
        native = [one for one in ways if one.runs in ("native join", "hopping", "native distinct")]
        providers = {one.settings["spark.sql.streaming.stateStore.providerClass"] for one in native}
        assert len(providers) == len(native)


def test_a_hundred_queries_are_registered_together_and_one_by_one(tmp_path: Path) -> None:
    made = statements("hundred", tmp_path, WINDOW, {})
    (together,) = plan_of(made, 2, one_by_one=False).groups
    apart = plan_of(made, 2, one_by_one=True).groups
    assert [one.queries for one in apart] == [(name,) for name in together.queries]
    assert len(apart) == 100
    assert [one.one_by_one for one in MANY.values()] == [False, False, True]


def test_every_way_is_there_to_be_run() -> None:
    known = (*WAYS.values(), MANY.values(), WAYS_OF_FOUR)
    runs = {way.runs for ways in known for way in ways}
    assert runs == {*FRAMES, *QUERIES}
    assert len(QUERIES["ten"]) == len(set(QUERIES["ten"])) == 10

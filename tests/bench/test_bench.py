"""The benchmarks run, print what they promise, and all engines compute the same."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from penstock.catalog.functions import AGGREGATES as CATALOG
from penstock.cli.bench import BENCHMARKS
from penstock.cql.windows import WINDOW_KINDS
from penstock.errors import InternalError, UnknownName
from penstock_bench import duckdb_answers
from penstock_bench.contests import CONTESTS, Contest, verify
from penstock_bench.data import BenchInputs, Scale, feeds
from penstock_bench.kernels import parts
from penstock_bench.lengths import STRETCHES
from penstock_bench.memory import SUBJECTS, WINDOWS
from penstock_bench.operators import AGGREGATES, CASES, one_stream, with_relation
from penstock_bench.snapshots import equal, of_intervals
from tiers import only_long

if TYPE_CHECKING:
    from penstock_bench.formulation import Formulation

Figures = dict[str, Any]

ROWS = 2000


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-P", "-m", "penstock", "bench", *arguments]
    return subprocess.run(whole, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def figures() -> Figures:
    answer = command("kernels", "--rows", str(ROWS), "--seconds", "0")
    assert answer.returncode == 0, answer.stderr
    found: Figures = json.loads(answer.stdout.splitlines()[-1])
    return found


def test_the_last_line_says_what_was_measured_and_where(figures: Figures) -> None:
    assert figures["benchmark"] == "kernels"
    assert figures["rows"] == ROWS
    assert figures["machine"]["cores"] >= 1
    assert {"python", "duckdb", "polars", "pyarrow", "numba"} <= set(figures["versions"])


def test_every_operator_has_a_speed(figures: Figures) -> None:
    assert list(figures["operators"]) == list(CASES)
    assert all(one["rows_per_second"] > 0 for one in figures["operators"].values())
    assert all(one["results_per_row"] > 0 for one in figures["operators"].values())


def test_every_headline_query_has_a_ratio_over_results_that_agree(figures: Figures) -> None:
    assert list(figures["ratios"]) == [one.name for one in CONTESTS]
    for score in figures["ratios"].values():
        assert score["ratio"] > 0
        assert score["equal_changes"] > 0
        assert {one["engine"] for one in score["others"]} == {"DuckDB", "Polars"}
        bound = max(one["rows_per_second"] for one in score["others"] if not one["easier"])
        assert score["bound_rows_per_second"] == bound


def test_every_length_has_a_cost_and_the_same_results_per_row(figures: Figures) -> None:
    assert list(figures["lengths"]) == [one.name for one in STRETCHES]
    assert all(one["nanoseconds_per_row"]["1000"] > 0 for one in figures["lengths"].values())
    assert all(one["spread"] >= 1 for one in figures["lengths"].values())


def test_memory_is_sampled_after_each_window(figures: Figures) -> None:
    assert list(figures["memory"]) == [one.name for one in SUBJECTS]
    for one in figures["memory"].values():
        assert len(one["state_rows"]) == len(one["state_bytes"]) == WINDOWS
        assert len(one["process_bytes"]) == WINDOWS
        assert one["state_bytes_per_live_row"] > 0
        assert one["process_growth"] > 0


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda contest: contest.name)
@pytest.mark.parametrize("rows", [1000, pytest.param(20_000, marks=only_long)])
def test_all_engines_compute_the_same(contest: Contest, rows: int) -> None:
    assert verify(contest, rows) > rows / 2


WRONG = [
    ("equi-join", duckdb_answers.JOIN_BY_KEY, "greatest(l.ts, r.ts) AS", "l.ts AS"),
    ("aggregation", duckdb_answers.AGGREGATE_BY_FRAMES, "max(v)", "min(v)"),
    ("DISTINCT", duckdb_answers.DISTINCT_ISLANDS, "QUALIFY first", "QUALIFY first AND last"),
]


@pytest.mark.parametrize(("name", "query", "right", "wrong"), WRONG)
def test_a_wrong_answer_is_noticed(name: str, query: str, right: str, wrong: str) -> None:
    (contest,) = [one for one in CONTESTS if one.name == name]
    assert right in query
    other = with_query(contest.others[0], query.replace(right, wrong))
    with pytest.raises(InternalError, match="computes another result"):
        verify(replace(contest, others=(other,)), 2000)


def with_query(formulation: Formulation, query: str) -> Formulation:
    return replace(formulation, prepare=duckdb_answers.sql(query))


def test_how_intervals_are_cut_makes_no_difference() -> None:
    whole = of_intervals(pa.table({"k": [7], "ts": [1], "te": [9]}))
    cut = of_intervals(pa.table({"k": [7, 7], "ts": [4, 1], "te": [9, 4]}))
    gap = of_intervals(pa.table({"k": [7, 7], "ts": [5, 1], "te": [9, 4]}))
    assert equal(whole, cut)
    assert not equal(whole, gap)


@pytest.mark.parametrize("inputs", [one_stream(Scale(1000)), with_relation(Scale(1000))])
def test_feeds_bring_every_row_once_and_in_time(inputs: BenchInputs) -> None:
    parts_fed = feeds(inputs, 100)
    names = [*inputs.streams, *inputs.relations]
    tables = {**inputs.streams, **inputs.relations}
    for name in names:
        blocks = [feed.blocks[name] for feed in parts_fed]
        keys = pa.concat_arrays([block.columns[0] for block in blocks])
        assert keys.equals(tables[name].column(0).combine_chunks())
    before = None
    for feed in parts_fed:
        for block in feed.blocks.values():
            assert before is None or not len(block) or int(block.ts.min()) >= before
            assert not len(block) or int(block.ts.max()) < feed.watermarks["s"]
        before = feed.watermarks["s"]


def test_every_aggregate_and_every_window_is_measured() -> None:
    called = " ".join(AGGREGATES.values()).lower()
    assert [name for name in CATALOG if f"{name}(" not in called] == []
    windows = " ".join(name for name in CASES if name.startswith("window "))
    assert [kind for kind in WINDOW_KINDS if kind not in windows] == []


def test_only_what_is_wanted_is_measured() -> None:
    assert [part.name for part in parts(ROWS, 0.0, ["memory"])] == ["memory"]
    chosen = {part.name: list(part.items) for part in parts(ROWS, 0.0, ["EXCEPT ALL"])}
    assert chosen == {"operators": ["EXCEPT ALL"], "memory": ["EXCEPT ALL"]}
    with pytest.raises(UnknownName, match="distict"):
        parts(ROWS, 0.0, ["distict"])


def test_benchmarks_are_listed_and_an_unknown_one_is_refused() -> None:
    listed = [line.split()[0] for line in command().stdout.splitlines()]
    assert listed == list(BENCHMARKS)
    answer = command("kernel")
    assert answer.returncode == 2
    assert "kernels" in answer.stderr

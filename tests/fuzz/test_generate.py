"""Generated trials: the same from the same seed, of every kind, and valid."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from layers.test_operators_are_complete import concrete
from penstock.algebra.plan import Plan
from penstock.algebra.time import TimeUnit
from penstock.cql.windows import WINDOW_KINDS
from penstock_fuzz.check import check
from penstock_fuzz.coverage import TrialCoverage
from penstock_fuzz.draw import Draw
from penstock_fuzz.engines import OracleContender
from penstock_fuzz.generate import Generated, generate
from penstock_fuzz.schemas import Clock
from penstock_fuzz.trial import STRATEGIES, is_feedable
from penstock_fuzz.windows import ANY, Style, random_window
from tiers import amount

TRIALS = amount("random queries whose kinds are counted")
SEED = 20


@pytest.fixture(scope="module")
def trials() -> list[Generated]:
    return [generate(f"{SEED}/{number}") for number in range(TRIALS)]


@pytest.fixture(scope="module")
def coverage(trials: list[Generated]) -> TrialCoverage:
    counted = TrialCoverage()
    for one in trials:
        counted.add(one.trial, one.plan, one.refused)
    return counted


def test_windows_of_every_kind_are_drawn() -> None:
    draw, clock = Draw("windows"), Clock(TimeUnit.TICK, 1, 0)
    styles = (ANY, Style(hopping=True))
    drawn = [str(random_window(draw, clock, ["k"], one)) for _ in range(300) for one in styles]
    assert [kind for kind in WINDOW_KINDS if not any(f"[{kind}" in one for one in drawn)] == []


def test_equal_seeds_give_equal_trials(trials: list[Generated]) -> None:
    for number in range(0, TRIALS, 10):
        assert generate(f"{SEED}/{number}").trial == trials[number].trial


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_a_trial_does_not_depend_on_the_process(trials: list[Generated], hash_seed: str) -> None:
    """The order of sets does, for example."""
    code = f"""
from penstock_fuzz.generate import generate
for number in range(30):
    print(hash(number), generate(f"{SEED}/{{number}}").trial)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": hash_seed}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    expected = [f"{hash(number)} {one.trial}" for number, one in enumerate(trials[:30])]
    assert run.stdout.splitlines() == expected


def test_every_operator_is_tried(coverage: TrialCoverage) -> None:
    tried = {name.split()[0] for name in coverage.operators}
    # Other tests may have made operators of their own in this process.
    ours = [kind for kind in concrete(Plan) if kind.__module__.startswith("penstock.")]
    assert tried == {kind.__name__ for kind in ours}
    restored = {"IStream RESTORE", "RStream RESTORE", "Sort LIMIT", "Relation NRR"}
    internal = {f"Internal {one}" for one in ("combinations", "insertions", "slides")}
    assert restored | internal <= set(coverage.operators)


def test_every_window_is_tried_on_streams_and_on_derived_streams(coverage: TrialCoverage) -> None:
    windows = {
        "RANGE", "RANGE SLIDE", "FIXED", "HOPPING", "NOW", "UNBOUNDED", "SINCE", "BETWEEN", "ROWS",
        "ROWS SLIDE", "PARTITION BY ROWS", "PARTITION BY ROWS SLIDE",
    }  # fmt: skip
    assert set(coverage.windows) == windows | {f"{one} on derived" for one in windows}


def test_joins_of_many_windows_run_in_every_way(coverage: TrialCoverage) -> None:
    inputs = {int(name.split()[0]) for name in coverage.joins}
    assert inputs >= {3, 4, 5}
    ways = {name.split()[-1] for name in coverage.joins}
    assert ways == {f"{one}/{other}" for one in ("lazy", "eager") for other in ("lazy", "eager")}


def test_few_programs_are_refused(coverage: TrialCoverage) -> None:
    assert coverage.refused < TRIALS / 10


def test_inputs_are_disordered_cut_and_restored(
    trials: list[Generated], coverage: TrialCoverage
) -> None:
    assert coverage.late > 50
    assert coverage.restores > 50
    assert {one.trial.lanes for one in trials} == {1, 2, 3, 4}
    assert {one.trial.strategy for one in trials} == set(STRATEGIES)
    assert Counter(one.trial.feed_count == 1 for one in trials)[True] > 20


def test_changes_of_relations_come_before_they_are_due(trials: list[Generated]) -> None:
    assert all(is_feedable(one.trial) for one in trials)
    later = [feed for one in trials for rel in one.trial.relations.values() for feed in rel.feeds]
    assert sum(feed > 0 for feed in later) > 20


def test_the_reference_evaluator_answers_all_of_them(trials: list[Generated]) -> None:
    engine = OracleContender()
    for one in trials[:200]:
        assert check(one.trial, engine, one.plan) is None

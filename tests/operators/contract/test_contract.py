"""The contract of block operators: however they are run, their results mean the same.

Any cut of the input into steps and blocks, state saved and restored between any two steps, room
given back, rows divided among lanes and lanes among others, any structure: the same snapshots as
one step in one lane, and as the definition where it is a function of an instant's input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from operators.contract.cases import CASES, drawn, kinds
from operators.contract.inputs import Size
from operators.contract.run import Run, clocks
from operators.contract.trial import meant
from penstock.algebra.time import INFINITY
from penstock.operators.division import CannotDivide
from penstock.operators.multi_join import multi_join_groups, multi_join_reordering
from penstock.state import moving, strict_queue

if TYPE_CHECKING:
    from operators.contract.trial import Case

SEEDS = range(5)
SMALL = Size(counts=(0, 3, 12, 30, 30), last=14, longest=9)
UNDIVIDED = [case for case in CASES if str(case) == "RowSlides of one partition"]
"""Operators whose state does not say how it is divided among other lanes."""
DIVIDED = [case for case in CASES if case not in UNDIVIDED]


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Structures change, and rows move, whenever they can."""
    for name, value in (("SPARE", 1), ("LEAST", 0), ("FADING", 1)):
        monkeypatch.setattr(moving, name, value)
    monkeypatch.setattr(strict_queue, "REMEMBERED", 2)
    monkeypatch.setattr(multi_join_reordering, "LEAST_ROWS", 4)
    for name, limit in (("GROWTH", 1e9), ("MORE", 0.0), ("PAUSE", 0)):
        monkeypatch.setattr(multi_join_groups, name, limit)


def test_every_operator_has_a_case() -> None:
    assert {case.kind for case in CASES} == kinds()
    assert len(UNDIVIDED) == 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_any_cut_with_state_saved_means_the_same(case: Case, seed: int) -> None:
    random, trial = drawn(case, seed, SMALL)
    whole = Run(random, trial)
    whole.step(INFINITY)
    expected = trial.answer(whole.found)
    if trial.meaning is not None:
        assert expected == meant(trial, SMALL.horizon)
    for _ in range(2):
        run = Run(random, trial)
        for clock in clocks(random):
            run.step(clock)
            run.disturb()
        assert trial.answer(run.found) == expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", DIVIDED, ids=str)
def test_lanes_divided_anew_mean_the_same(case: Case, seed: int) -> None:
    random, trial = drawn(case, seed, SMALL)
    if trial.results is None:
        return
    whole = Run(random, trial)
    whole.step(INFINITY)
    run = Run(random, trial, random.choice([1, 2, 3]))
    for clock in clocks(random):
        run.step(clock)
        run.divide(random.choice([1, 2, 3, 5]))
        run.disturb()
    assert trial.answer(run.found) == trial.answer(whole.found)


@pytest.mark.parametrize("case", UNDIVIDED, ids=str)
def test_state_that_cannot_be_divided_is_not_guessed(case: Case) -> None:
    refused = 0
    for seed in SEEDS:
        random, trial = drawn(case, seed, SMALL)
        run = Run(random, trial)
        run.step(SMALL.last // 2)
        if run.drivers[0].state_rows:
            with pytest.raises(CannotDivide):
                run.divide(2)
            refused += 1
    assert refused

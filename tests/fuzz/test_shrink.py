"""Engines that are wrong on purpose are found, and their failures become small stream tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.wrong import Crashes, DropsThrees, ForgetsLateRows, LongRanges, NeedsTwoLanes, Wrong
from penstock.algebra.plan import different_nodes
from penstock.testing.engines import OracleEngine
from penstock.testing.format import parse_test
from penstock.testing.runner import run_case
from penstock_fuzz.campaign import Campaign
from penstock_fuzz.check import check
from penstock_fuzz.engines import OracleContender
from penstock_fuzz.files import read_trial, trial_text
from penstock_fuzz.shrink import FailedTrial, shrink
from penstock_fuzz.trial import STRATEGIES
from tiers import amount

if TYPE_CHECKING:
    from penstock.testing.engines import CaseEngine

FIND = amount("random queries until a wrong engine is found")
SHRINK = amount("attempts to shrink a failure")
WRONG: list[Wrong] = [DropsThrees(), LongRanges(), Crashes(), ForgetsLateRows(), NeedsTwoLanes()]


def found_and_shrunk(engine: Wrong, seed: int) -> FailedTrial:
    outcome = Campaign(engine, seed, STRATEGIES, trials=FIND).run(print)
    assert outcome.found is not None
    return shrink(outcome.found, engine, tries=SHRINK)


def passes(text: str, engine: CaseEngine) -> bool:
    (case,) = parse_test(text, "trial.stream").cases
    return run_case(case, engine).passed


@pytest.mark.parametrize("engine", WRONG, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_wrong_engine_is_found_and_the_failure_is_small(engine: Wrong, seed: int) -> None:
    found = found_and_shrunk(engine, seed)
    assert found.trial.row_count <= 5
    assert len(different_nodes(found.trial.plan())) <= 18


@pytest.mark.parametrize("engine", WRONG, ids=lambda one: type(one).__name__)
def test_the_written_file_fails_on_the_wrong_engine_alone(engine: Wrong) -> None:
    found = found_and_shrunk(engine, 3)
    text = trial_text(found.trial, "a title", "a comment")
    replayed = read_trial(text, "trial.stream")
    failure = check(replayed, engine)
    assert failure is not None
    assert failure.kind == found.failure.kind
    assert check(replayed, OracleContender()) is None
    if found.trial.edits:
        return
    assert passes(text, OracleEngine())
    if isinstance(engine, DropsThrees | LongRanges | Crashes):
        assert not passes(text, engine)


def test_what_a_failure_needs_is_kept() -> None:
    found = found_and_shrunk(NeedsTwoLanes(), 4)
    assert found.trial.lanes == 2
    assert len(found.trial.restore_after) == 1
    assert found_and_shrunk(DropsThrees(), 4).trial.lanes == 1
    late = found_and_shrunk(ForgetsLateRows(), 4).trial
    assert (late.feed_count, late.row_count) == (2, 2)

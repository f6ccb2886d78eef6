"""Trials written to files and read back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from penstock.errors import DataError
from penstock.testing.engines import OracleEngine
from penstock.testing.format import parse_test
from penstock.testing.runner import run_case
from penstock_fuzz.files import read_trial, suffix_of, trial_text
from penstock_fuzz.generate import generate
from penstock_fuzz.trial import FileProgram, Trial
from tiers import amount

TRIALS = range(amount("random queries as files"))


@cache
def trial_of(number: int) -> Trial:
    return generate(f"5/{number}").trial


def as_script(trial: Trial) -> Trial:
    return replace(trial, program=FileProgram(trial.script, trial.query))


@pytest.mark.parametrize("number", TRIALS)
def test_a_trial_comes_back_as_it_was(number: int) -> None:
    trial = trial_of(number)
    back = read_trial(trial_text(trial, "title", "comment"), "file")
    # Written out: NaN equals itself only by its text.
    assert repr(back) == repr(as_script(trial))


@pytest.mark.parametrize("number", TRIALS)
def test_its_file_is_a_stream_test_that_the_oracle_passes(number: int) -> None:
    trial = trial_of(number)
    text = trial_text(trial, "title", "two\nlines")
    if suffix_of(trial) == ".stream":
        (case,) = parse_test(text, "file").cases
        assert run_case(case, OracleEngine()).text == ""


def test_other_files_are_refused() -> None:
    text = "case x\n\nquery\nSELECT a FROM s;\n\nchanges\n"
    with pytest.raises(DataError, match="does not say how its rows were fed"):
        read_trial(text, "other.stream")

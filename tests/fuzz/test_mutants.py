"""Spoilt definitions of single operators are noticed, each within a few hundred trials."""

from __future__ import annotations

from fuzz.mutants import MUTANTS, Mutant
from penstock_fuzz.check import check
from penstock_fuzz.generate import Generated, generate
from tiers import amount

BUDGET = amount("random queries until a wrong operator is noticed")


def is_noticed(mutant: Mutant, trials: list[Generated]) -> bool:
    return any(check(one.trial, mutant, one.plan) is not None for one in trials)


def test_most_mutants_are_noticed_soon() -> None:
    trials = [generate(f"9/{number}") for number in range(BUDGET)]
    missed = [mutant.name for mutant in MUTANTS if not is_noticed(mutant, trials)]
    assert len(missed) <= len(MUTANTS) // 4, missed

"""Every rule alone, on random plans and inputs: the reference evaluator sees no difference."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from penstock.fuzz.check import compare_answers, tolerance_for
from penstock.fuzz.generate import generate
from penstock.fuzz.trial import late_rows
from penstock.planner.optimizing import ALWAYS, BY_COST, TOGETHER, optimized
from penstock.planner.rewriting import Rewriting, alternatives
from penstock.streamtest.engines import OracleEngine

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.fuzz.trial import Trial
    from penstock.planner.rules.rule import Rule, TogetherRule
    from penstock.streamtest.engines import Answer

TRIALS = int(os.environ.get("PENSTOCK_RULE_TRIALS", "400"))
MOST_ALTERNATIVES = 6


@cache
def trials() -> list[tuple[Trial, Plan]]:
    generated = [generate(f"rules {number}") for number in range(TRIALS)]
    return [(one.trial, one.plan) for one in generated]


@cache
def expected(number: int) -> Answer:
    trial, plan = trials()[number]
    return OracleEngine().evaluated(plan, trial.inputs(late_rows(trial)))


def assert_same(number: int, made: Plan, rule: str) -> None:
    trial, plan = trials()[number]
    inputs = trial.inputs(late_rows(trial))
    answer = OracleEngine().evaluated(made, inputs)
    difference = compare_answers(plan, expected(number), answer, tolerance_for(plan, inputs))
    assert difference is None, f"{rule}, trial {number}: {trial.query}\n{difference}"


@pytest.mark.parametrize("rule", ALWAYS, ids=lambda rule: rule.name)
def test_a_rule_alone_changes_no_snapshot(rule: Rule) -> None:
    for number, (_, plan) in enumerate(trials()):
        made = Rewriting((rule,)).rewritten(plan)
        if made is not plan:
            assert_same(number, made, rule.name)


@pytest.mark.parametrize("rule", BY_COST, ids=lambda rule: rule.name)
def test_a_rule_by_cost_changes_no_snapshot_wherever_it_is_applied(rule: Rule) -> None:
    for number, (_, plan) in enumerate(trials()):
        for count, (name, made) in enumerate(alternatives(plan, (rule,))):
            if count < MOST_ALTERNATIVES:
                assert_same(number, made, name)


@pytest.mark.parametrize("rule", TOGETHER, ids=lambda rule: rule.name)
def test_a_rule_for_whole_plans_changes_no_snapshot(rule: TogetherRule) -> None:
    for number, (_, plan) in enumerate(trials()):
        (made,) = rule.rewritten([plan])
        if made is not plan:
            assert_same(number, made, rule.name)


def test_all_rules_together_change_no_snapshot() -> None:
    fired: Counter[str] = Counter()
    for number, (_, plan) in enumerate(trials()):
        found = optimized({"q": plan})["q"]
        fired.update(found.fired)
        assert found.plan.schema == plan.schema
        assert_same(number, found.plan, ", ".join(found.fired))
    assert len(fired) > 15, fired


def test_queries_are_optimised_together_as_they_are_alone() -> None:
    for start in range(0, TRIALS - 3, 30):
        numbers = range(start, start + 3)
        plans = {str(number): trials()[number][1] for number in numbers}
        for name, found in optimized(plans).items():
            assert_same(int(name), found.plan, "together")


def test_a_second_pass_finds_nothing_to_do() -> None:
    for _, plan in trials():
        once = Rewriting(ALWAYS).rewritten(plan)
        again = Rewriting(ALWAYS)
        again.rewritten(once)
        assert again.fired == []

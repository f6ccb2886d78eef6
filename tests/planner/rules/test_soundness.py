"""Every rule, on random plans and inputs: the reference evaluator sees no difference.

A rule is tried where it is asked in practice. In random trials, which use everything but seldom
what a certain rule wants, what it rewrites is compared. And each rule has queries of its own
(`templates.py`), of which it must have changed enough: so no rule goes untested.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from penstock.algebra import operators as op
from penstock.algebra.plan import different_nodes
from penstock.planner.optimizing import optimized
from penstock.planner.rewriting import Rewriting, alternatives
from penstock.planner.rules.rule import Rule, RuleContext, TogetherRule
from penstock.planner.rules.rule_list import ALWAYS, BY_COST, TOGETHER
from penstock.reference.timeline import Timeline
from penstock.testing.engines import OracleEngine
from penstock_fuzz.check import compare_answers, tolerance_for
from penstock_fuzz.generate import generate
from penstock_fuzz.trial import late_rows
from planner.rules.parts import random_inputs
from planner.rules.templates import random_plan
from tiers import amount

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.algebra.plan import Plan
    from penstock.reference.inputs import Inputs
    from penstock.testing.engines import CaseAnswer

TRIALS = amount("random plans of a rule")
ENOUGH = amount("random plans that a rule changes")
"""A rule has to change so many of its own plans, with an answer that is not empty."""
MOST_PLANS = 8 * ENOUGH
"""Of these plans it has to be so many."""
MOST_REWRITES = 25
"""Of all that a rule rewrites in trials."""
MOST_ALTERNATIVES = 6
MEETING = (op.Product, op.Join, op.SemiJoin, op.AntiJoin, op.GroupJoin, op.ScalarProduct)
"""Below these an expression may fail for rows that meet nothing; else it fails in all plans."""

RULES: tuple[Rule | TogetherRule, ...] = (*ALWAYS, *BY_COST, *TOGETHER)


def answered(plan: Plan, inputs: Inputs) -> CaseAnswer:
    return OracleEngine().evaluated(plan, inputs)


def assert_same(plan: Plan, expected: CaseAnswer, made: Plan, inputs: Inputs, what: str) -> None:
    answer = answered(made, inputs)
    difference = compare_answers(plan, expected, answer, tolerance_for(plan, inputs))
    assert difference is None, f"{what}: {difference}"
    if not any(isinstance(node, MEETING) for one in (plan, made) for node in different_nodes(one)):
        assert bool(answer.failures) == bool(expected.failures), f"{what}: failures"


def is_empty(answer: CaseAnswer) -> bool:
    result = answer.result
    return not (result.changes() if isinstance(result, Timeline) else result)


def forms(rule: Rule | TogetherRule, plan: Plan) -> list[Plan]:
    """A plan as it comes, and as other rules leave it: those before this one, or all others."""
    before = ALWAYS[: ALWAYS.index(rule)] if rule in ALWAYS else ALWAYS
    others = [one for one in ALWAYS if one is not rule]
    found = [plan]
    for rules in (before, others):
        made = Rewriting(rules).rewritten(plan)
        if made not in found:
            found.append(made)
    return found


def rewrites(rule: Rule | TogetherRule, plan: Plan) -> Iterator[Plan]:
    """What a rule makes of a plan; nothing where it has no use."""
    if isinstance(rule, TogetherRule):
        made = rule.rewritten([plan])
    elif rule in BY_COST:
        made = [one for _, one in alternatives(plan, (rule,))][:MOST_ALTERNATIVES]
    else:
        made = [Rewriting((rule,)).rewritten(plan)]
    yield from (one for one in made if one is not plan)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_changes_no_answer_of_its_queries_and_has_a_use_in_enough(
    rule: Rule | TogetherRule,
) -> None:
    used = 0
    for number in range(MOST_PLANS):
        plan, inputs = random_plan(rule.name, number), random_inputs(rule.name, number)
        expected = answered(plan, inputs)
        found = [made for form in forms(rule, plan) for made in rewrites(rule, form)]
        for made in found:
            assert_same(plan, expected, made, inputs, f"{rule.name}, plan {number}")
        used += bool(found) and not is_empty(expected)
        if used == ENOUGH:
            return
    pytest.fail(f"{rule.name} was used in {used} of {MOST_PLANS} plans only")


@cache
def trials() -> list[tuple[Plan, Inputs]]:
    generated = [generate(f"rules {number}") for number in range(TRIALS)]
    return [(one.plan, one.trial.inputs(late_rows(one.trial))) for one in generated]


@cache
def expected(number: int) -> CaseAnswer:
    return answered(*trials()[number])


def assert_same_trial(number: int, made: Plan, rule: str) -> None:
    plan, inputs = trials()[number]
    assert_same(plan, expected(number), made, inputs, f"{rule}, trial {number}")


class Watched(Rule):
    """A rule that notes what it rewrites, and into what."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.seen: list[tuple[Plan, Plan]] = []

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.rule.name

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        made = self.rule.rewritten(plan, place)
        if made is not None:
            self.seen.append((plan, made))
        return made


@cache
def normal(number: int) -> tuple[Plan, Sequence[Watched]]:
    """The plan of a trial after all rules that never make it dearer, and what they did."""
    watched = [Watched(rule) for rule in ALWAYS]
    return Rewriting(watched).rewritten(trials()[number][0]), watched


@pytest.mark.parametrize("rule", ALWAYS, ids=lambda rule: rule.name)
def test_a_rule_changes_no_snapshot_of_what_it_rewrites_in_trials(rule: Rule) -> None:
    place = ALWAYS.index(rule)
    seen = [(number, *one) for number in range(TRIALS) for one in normal(number)[1][place].seen]
    for number, plan, made in seen[:: max(len(seen) // MOST_REWRITES, 1)]:
        _, inputs = trials()[number]
        assert_same(plan, answered(plan, inputs), made, inputs, f"{rule.name}, trial {number}")


@pytest.mark.parametrize("rule", [*BY_COST, *TOGETHER], ids=lambda rule: rule.name)
def test_a_rule_for_what_others_leave_changes_no_answer_of_trials(
    rule: Rule | TogetherRule,
) -> None:
    seen = [(n, made) for n in range(TRIALS) for made in rewrites(rule, normal(n)[0])]
    for number, made in seen[:: max(len(seen) // MOST_REWRITES, 1)]:
        assert_same_trial(number, made, rule.name)


def test_all_rules_together_change_no_snapshot() -> None:
    fired: Counter[str] = Counter()
    for number, (plan, _) in enumerate(trials()):
        found = optimized({"q": plan})["q"]
        fired.update(found.fired)
        assert found.plan.schema == plan.schema
        assert_same_trial(number, found.plan, ", ".join(found.fired))
    assert len(fired) > 15, fired


def test_queries_are_optimised_together_as_they_are_alone() -> None:
    for start in range(0, TRIALS - 3, 30):
        numbers = range(start, start + 3)
        plans = {str(number): trials()[number][0] for number in numbers}
        for name, found in optimized(plans).items():
            assert_same_trial(int(name), found.plan, "together")


def test_a_second_pass_finds_nothing_to_do() -> None:
    for number in range(TRIALS):
        again = Rewriting(ALWAYS)
        again.rewritten(normal(number)[0])
        assert again.fired == []

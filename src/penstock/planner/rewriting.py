"""The application of rules to a plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.errors import InternalError
from penstock.planner.rules.outer_joins.outer_join_form import OuterJoinForm, outer_join_in
from penstock.planner.rules.rule import RuleContext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import Rule

MOST_STEPS = 5000
"""After so many rewrites a plan is left as it is."""


@dataclass
class Rewriting:
    """Applies rules to a plan until none has a use; remembers which fired, in order."""

    rules: Sequence[Rule]
    fired: list[str] = field(default_factory=list)
    _known: dict[tuple[int, RuleContext], tuple[Plan, Plan]] = field(default_factory=dict)

    def rewritten(self, plan: Plan, place: RuleContext | None = None) -> Plan:
        """The plan in its last form; a subplan that stands in several places is one there too."""
        place = place or RuleContext()
        key = id(plan), place
        if key not in self._known:
            made = self._rewritten(plan, place)
            self._known[key] = (plan, made)
            self._known[id(made), place] = (made, made)
        return self._known[key][1]

    def _rewritten(self, plan: Plan, place: RuleContext) -> Plan:
        plan = self._with_inputs(plan, place)
        while len(self.fired) < MOST_STEPS:
            found = self._once(plan, place)
            if found is None:
                break
            plan = self._with_inputs(found, place)
        return plan

    def _once(self, plan: Plan, place: RuleContext) -> Plan | None:
        for rule in self.rules:
            made = rule.rewritten(plan, place)
            if made is not None:
                _require_same_columns(rule, plan, made)
                self.fired.append(rule.name)
                return made
        return None

    def _with_inputs(self, plan: Plan, place: RuleContext) -> Plan:
        below = place.below(plan)
        inputs, rebuild = parts_of(plan)
        made = tuple(self.rewritten(one, below) for one in inputs)
        same = all(old is new for old, new in zip(inputs, made, strict=True))
        return plan if same else rebuild(made)


def alternatives(
    plan: Plan, rules: Sequence[Rule], place: RuleContext | None = None
) -> Iterator[tuple[str, Plan]]:
    """All plans that one application of one rule makes of a plan, with the rule's name."""
    place = place or RuleContext()
    for rule in rules:
        made = rule.rewritten(plan, place)
        if made is not None:
            _require_same_columns(rule, plan, made)
            yield rule.name, made
    inputs, rebuild = parts_of(plan)
    for number, child in enumerate(inputs):
        for name, made in alternatives(child, rules, place.below(plan)):
            yield name, rebuild((*inputs[:number], made, *inputs[number + 1 :]))


def parts_of(plan: Plan) -> tuple[tuple[Plan, ...], Callable[[tuple[Plan, ...]], Plan]]:
    """The parts of a plan that can be rewritten on their own, and how it is put together again.

    The inputs of an outer join stand twice in it, and are the same in both places.
    """
    if isinstance(plan, op.OnArrival):
        reading = plan.reading
        return (reading.left,), lambda new: op.OnArrival(reading.rebuild((new[0], reading.right)))
    outer = outer_join_in(plan) if isinstance(plan, op.UnionAll) else None
    if outer is not None:
        condition, padded = outer.condition, outer.padded
        sides = (outer.left, outer.right)
        return sides, lambda new: OuterJoinForm(new[0], new[1], condition, padded).plan
    return plan.children, plan.rebuild


def parts_first(plans: Sequence[Plan]) -> list[Plan]:
    """The parts of several plans that can be rewritten on their own, lower ones first."""
    found: dict[int, Plan] = {}
    waiting = [(plan, False) for plan in reversed(plans)]
    while waiting:
        plan, is_ready = waiting.pop()
        if is_ready:
            found.setdefault(id(plan), plan)
        elif id(plan) not in found:
            inputs, _ = parts_of(plan)
            waiting += [(plan, True), *((one, False) for one in reversed(inputs))]
    return list(found.values())


def _require_same_columns(rule: Rule, before: Plan, after: Plan) -> None:
    if before.schema != after.schema:
        msg = f"{rule.name} turns {before.schema} into {after.schema}"
        raise InternalError(msg)

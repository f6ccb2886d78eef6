"""Rule fold-constants: parts of expressions that read no column are computed once, at planning."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import TRUE, conjunction
from penstock.algebra.plan import Named
from penstock.compute.evaluate import folded
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan


class FoldConstants(Rule):
    """A constant that fails is left to fail, for every row."""

    name = "fold-constants"
    says = "parts of expressions that read no column are computed once, at planning"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The operator with shorter expressions."""
        made: Plan
        match plan:
            case op.Filter():
                made = replace(plan, predicate=_condition(plan.predicate))
            case op.Join() | op.SemiJoin() | op.AntiJoin() | op.GroupJoin():
                made = replace(plan, condition=_condition(plan.condition))
            case op.Map():
                columns = (Named(one.name, folded(one.expression)) for one in plan.columns)
                made = replace(plan, columns=tuple(columns))
            case op.Aggregate():
                made = _folded_groups(plan)
            case _:
                return None
        return None if made == plan else made


def _condition(condition: Expression) -> Expression:
    """A condition without parts that are always TRUE."""
    parts = [folded(one) for one in conjuncts(condition)]
    return conjunction([one for one in parts if one != TRUE])


def _folded_groups(plan: op.Aggregate) -> op.Aggregate:
    keys = tuple(Named(one.name, folded(one.expression)) for one in plan.keys)
    calls = tuple(
        (name, replace(call, args=tuple(map(folded, call.args)))) for name, call in plan.aggregates
    )
    return replace(plan, keys=keys, aggregates=calls)

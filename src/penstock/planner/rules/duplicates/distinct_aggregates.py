"""Rule distinct-aggregates.

COUNT(DISTINCT x) is COUNT(x) over DISTINCT rows, if all aggregates are of that x.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column, Literal
from penstock.algebra.plan import Named
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class DistinctAggregates(Rule):
    """DISTINCT keeps a value once; the aggregate would keep an entry for every row.

    And different values can be counted on different lanes.
    """

    name = "distinct-aggregates"
    says = "COUNT(DISTINCT x) is COUNT(x) over DISTINCT rows, if all aggregates are of that x"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The aggregate over different rows."""
        if not isinstance(plan, op.Aggregate) or not plan.aggregates:
            return None
        arguments = {call.args for _, call in plan.aggregates}
        if len(arguments) > 1 or not all(call.distinct for _, call in plan.aggregates):
            return None
        (args,) = arguments
        # The share of a QUANTILE is no value of rows.
        values = tuple(
            Named(f"#{number}", arg)
            for number, arg in enumerate(args)
            if not isinstance(arg, Literal)
        )
        rows = op.Distinct(op.Map(plan.child, (*plan.keys, *values)))
        keys = tuple(Named(key.name, Column(key.name, key.expression.type)) for key in plan.keys)
        columns = tuple(
            arg if isinstance(arg, Literal) else Column(f"#{number}", arg.type)
            for number, arg in enumerate(args)
        )
        calls = tuple(
            (name, replace(call, args=columns, distinct=False)) for name, call in plan.aggregates
        )
        return replace(plan, child=rows, keys=keys, aggregates=calls)

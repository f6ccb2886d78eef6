"""Rule map-below-window: a projection goes below a window, which then keeps smaller rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.streams import Window
from penstock.algebra.windows import Rows, WindowSpec
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.maps.plain_maps import has_own_places


class MapBelowWindow(Rule):
    """Below ROWS only if the partition columns stay, and rows have a place of their own.

    Rows of a view that only grows are ordered by their values, so a projection would order them
    anew. Elements stay the same, each with its interval, so it is nothing to INTERNAL either.
    """

    name = "map-below-window"
    says = "a projection goes below a window, which then keeps smaller rows"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The window over the projected stream."""
        if not isinstance(plan, op.Map) or not isinstance(plan.child, Window):
            return None
        # Some windows drop rows, for which nothing has been computed before.
        if any(can_fail(one.expression) for one in plan.columns):
            return None
        window = plan.child
        spec: WindowSpec | None = None if window.spec.added else window.spec
        if isinstance(spec, Rows):
            spec = _partitioned_alike(spec, plan) if has_own_places(window.child) else None
        if spec is None:
            return None
        return Window(op.Map(window.child, plan.columns), spec)


def _partitioned_alike(spec: Rows, plan: op.Map) -> Rows | None:
    """The window over projected rows; None if a partition column is not among them."""
    names: dict[str, str] = {}
    for one in plan.columns:
        if isinstance(one.expression, Column):
            names.setdefault(one.expression.name, one.name)
    if not names.keys() >= set(spec.partition_by):
        return None
    return replace(spec, partition_by=tuple(names[name] for name in spec.partition_by))

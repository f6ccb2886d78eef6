"""Rule pull-up-negation: rows that NOT EXISTS drops are dropped after a join instead of before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.existence.existential_moves import Existential, PullUp


class PullUpNegation(PullUp):
    """An operator above a negation has to withdraw; a join above it would withdraw its results."""

    name = "pull-up-negation"
    says = "rows that NOT EXISTS drops are dropped after a join instead of before"

    def asked(self, side: Plan) -> Existential | None:
        """An anti-join."""
        return side if isinstance(side, op.AntiJoin) else None

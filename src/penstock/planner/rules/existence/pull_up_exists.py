"""Rule pull-up-exists: rows that EXISTS or IN drop are dropped after a join instead of before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.existence.existential_moves import Existential, PullUp


class PullUpExists(PullUp):
    """A join that drops most rows leaves few to look for."""

    name = "pull-up-exists"
    says = "rows that EXISTS or IN drop are dropped after a join instead of before"

    def asked(self, side: Plan) -> Existential | None:
        """A semi-join."""
        return side if isinstance(side, op.SemiJoin) else None

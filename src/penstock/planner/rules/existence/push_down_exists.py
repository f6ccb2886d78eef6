"""Rule push-down-exists: rows that EXISTS or IN drop are dropped before a join instead of after."""

from __future__ import annotations

from penstock.algebra import operators as op
from penstock.planner.rules.existence.existential_moves import PushDown


class PushDownExists(PushDown):
    """If few rows have a match, they had better be found before a join."""

    name = "push-down-exists"
    says = "rows that EXISTS or IN drop are dropped before a join instead of after"
    kind = op.SemiJoin

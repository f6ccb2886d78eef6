"""Rule push-down-negation.

Rows that NOT EXISTS drops are dropped before a join instead of after.
"""

from __future__ import annotations

from penstock.algebra import operators as op
from penstock.planner.rules.existence.existential_moves import PushDown


class PushDownNegation(PushDown):
    """If a negation drops most rows, it had better do so before a join."""

    name = "push-down-negation"
    says = "rows that NOT EXISTS drops are dropped before a join instead of after"
    kind = op.AntiJoin

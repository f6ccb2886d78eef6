"""Rule pull-up-except: rows that EXCEPT drops are dropped after a join instead of before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Call, Column, conjunction
from penstock.algebra.plan import Named
from penstock.algebra.types import BOOLEAN
from penstock.planner.rules.duplicates.copies import has_no_copies

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
from penstock.planner.rules.existence.existential_moves import Existential, PullUp


class PullUpExcept(PullUp):
    """Of rows without copies, EXCEPT drops those that are on the right: a negation like others.

    EXCEPT ALL of rows with copies drops some of the copies, which no negation says.
    """

    name = "pull-up-except"
    says = "rows that EXCEPT drops are dropped after a join instead of before"

    def asked(self, side: Plan) -> Existential | None:
        """The anti-join that a difference is."""
        is_negation = isinstance(side, op.StrictDifference) or (
            isinstance(side, op.Difference) and has_no_copies(side.left)
        )
        if not is_negation:
            return None
        assert isinstance(side, op.BagOperation)
        # What is taken away may have the names of what it is taken from, or joined with.
        taken = tuple(
            Named(f"#{number}", Column(one.name, one.type))
            for number, one in enumerate(side.right.schema)
        )
        same: list[Expression] = [
            Call(
                "is not distinct from",
                (Column(mine.name, mine.type), Column(other.name, mine.type)),
                BOOLEAN,
            )
            for mine, other in zip(side.left.schema, taken, strict=True)
        ]
        return op.AntiJoin(side.left, op.Map(side.right, taken), conjunction(same))

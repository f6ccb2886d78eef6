"""Rule associate-join: of three inputs the last two are joined first."""

from __future__ import annotations

from penstock.planner.rules.joins.other_pair_first import OtherPairFirst


class AssociateJoin(OtherPairFirst):
    """(A join B) join C is A join (B join C), if a condition joins the two, or follows."""

    name = "associate-join"
    says = "of three inputs the last two are joined first"
    alone = 0

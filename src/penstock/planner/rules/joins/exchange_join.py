"""Rule exchange-join: of three inputs the first and the last are joined first."""

from __future__ import annotations

from penstock.planner.rules.joins.other_pair_first import OtherPairFirst


class ExchangeJoin(OtherPairFirst):
    """(A join B) join C is (A join C) join B, if a condition joins the two, or follows."""

    name = "exchange-join"
    says = "of three inputs the first and the last are joined first"
    alone = 1

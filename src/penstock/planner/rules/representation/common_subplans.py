"""Rule common-subplans.

Subplans that are the same, in one query or in several, are computed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.planner.rules.rule import TogetherRule
from penstock.planner.sharing import merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan


class CommonSubplans(TogetherRule):
    """Equal operators over the same inputs are one."""

    name = "common-subplans"
    says = "subplans that are the same, in one query or in several, are computed once"

    def rewritten(self, plans: Sequence[Plan]) -> list[Plan]:
        """The plans in which equal subplans are one object."""
        return merged(plans)

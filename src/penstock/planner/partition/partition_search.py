"""The search for routes that divide plans among lanes, by the rules of their operators.

`Search.routes(plan, need, equal)` finds how to route a plan's sources so that the lanes' results
are disjoint parts of the plan's result and

- together hold every row in which the expressions of each class of `equal` have the same value
  (a filter above drops the others, so that a product need not be complete), and
- each row lies where `need` wants it: in a lane that its keys determine.

It raises NoKey where it knows no such routes. Definitions of the operators it relies on are in
`penstock.reference`; a property test holds every answer against them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock.planner.partition import partition_reasons as reasons
from penstock.planner.partition.partition_reasons import NoKey, sources_of
from penstock.planner.partition.partition_routes import Routes, combined
from penstock.planner.partition.partition_rules import RULES

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.planner.partition.partition_keys import Classes, Need


class Search:
    """Looks for routes, given which sources every lane gets whole (`broadcast`)."""

    def __init__(self, broadcast: frozenset[str]) -> None:
        self.broadcast = broadcast
        self.decided: dict[str, None] = {}
        """The operators that decided the key, in the order they were met."""
        self.wanted: dict[str, dict[Expression, None]] = {}
        """For each source the keys that joins insist on."""
        self._known: dict[tuple[int, Need | None, Classes], Routes | NoKey] = {}

    def common(self, plans: tuple[Plan, ...]) -> Routes:
        """Routes that are right for all plans.

        Raises:
            NoKey: There are none.
        """
        with suppress(NoKey):
            self._each(plans)
        # Now the keys that joins insist on are known, and others can agree to them.
        self._known.clear()
        self.decided.clear()
        return self._each(plans)

    def _each(self, plans: tuple[Plan, ...]) -> Routes:
        return combined([self.routes(plan, None, ()) for plan in plans])

    def routes(self, plan: Plan, need: Need | None, equal: Classes) -> Routes:
        """The routes under which a plan's result is divided as the module says."""
        key = (id(plan), need, equal)
        if key not in self._known:
            try:
                self._known[key] = self._find(plan, need, equal)
            except NoKey as reason:
                self._known[key] = reason
        found = self._known[key]
        if isinstance(found, NoKey):
            raise found
        return found

    def _find(self, plan: Plan, need: Need | None, equal: Classes) -> Routes:
        if self.is_whole(plan):
            raise reasons.needed_whole(plan)
        if type(plan) not in RULES:
            msg = f"nobody has said by which keys {type(plan).__name__} can be divided"
            raise InternalError(msg)
        return RULES[type(plan)](self, plan, need, equal)

    def is_whole(self, plan: Plan) -> bool:
        """A plan all of which every lane computes."""
        return sources_of(plan) <= self.broadcast

    def because(self, why: str) -> str:
        """Remember an operator that decided the key; the same words, as a reason."""
        self.decided[why] = None
        return why

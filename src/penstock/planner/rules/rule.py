"""Rewrite rules, and what they may rely on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan


@dataclass(frozen=True)
class RuleContext:
    """The place of an operator: what those above it look at, besides snapshots.

    Args:
        needs_instants: RSTREAM looks at when elements of its input windows begin and end, so no
            window may get fewer rows.
        needs_elements: INTERNAL and reads on arrival look at single elements, as windows make
            them, so none may be cut or put together.
    """

    needs_instants: bool = False
    needs_elements: bool = False

    def and_at(self, other: RuleContext) -> RuleContext:
        """All that is looked at here or there."""
        return RuleContext(
            self.needs_instants or other.needs_instants,
            self.needs_elements or other.needs_elements,
        )

    def below(self, plan: Plan) -> RuleContext:
        """The place of the inputs of a plan that stands here."""
        match plan:
            case st.RStream() | st.IStream(restore=True):
                return RuleContext(needs_instants=True)
            case st.Internal():
                # RSTREAM above looks through it, at the windows below.
                instants = self.needs_instants or plan.appends == "slides"
                return RuleContext(instants, needs_elements=True)
            case st.Window() | st.RelationToStream():
                return RuleContext()
            case op.OnArrival():
                return replace(self, needs_elements=True)
        return self


class Described:
    """The name and the purpose of a rule.

    Attributes:
        name: What EXPLAIN calls it.
        says: What it does, in a line.
    """

    name: ClassVar[str]
    says: ClassVar[str]


class Rule(Described, ABC):
    """One way to rewrite an operator, with its inputs, into an equivalent plan.

    Attributes:
        only_orders: Whether joins have the same inputs as before, in another order: so they can
            run as one operator, or not, as before.
    """

    only_orders: ClassVar[bool] = False

    @abstractmethod
    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The plan in another form, with the same columns; None where the rule has no use."""


class TogetherRule(Described, ABC):
    """A rule that has to look at whole plans, of all queries that run together."""

    @abstractmethod
    def rewritten(self, plans: Sequence[Plan]) -> list[Plan]:
        """The plans in another form, with the same columns; themselves where it has no use."""


def sources_of(plan: Plan) -> set[str]:
    """The streams and relations a plan reads: its clock is theirs."""
    return {node.name for node in different_nodes(plan) if isinstance(node, st.Source)}

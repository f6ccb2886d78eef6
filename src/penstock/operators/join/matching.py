"""The base of joins: operators that tell how their rows matched, for statistics."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from penstock.operators.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.join.pair_condition import PairCondition


class Probed(NamedTuple):
    """The number of probes that new rows of an input led to, and what was found."""

    origin: int
    target: int
    agreements: tuple[int, ...]
    probes: int
    matches: int


class Matching(Operator):
    """An operator whose rows look for others.

    Attributes:
        condition: What it asks of pairs of rows beyond equal keys; None: nothing.
        conditions: What it asks of some rows of several inputs each, by their names in statistics.
        reordered: How often a join of many inputs has changed the order in which it probes them.
    """

    condition: PairCondition | None = None
    conditions: Mapping[str, PairCondition] = MappingProxyType({})
    reordered = 0

    @property
    def measured(self) -> Sequence[Probed]:
        """The probes of a join of many inputs, for the rows of each input in order."""
        return ()

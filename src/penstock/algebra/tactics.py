"""Tactics: choices of how a query runs; its answers do not depend on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from penstock.algebra.patterns import Strategy

Joins = Literal["auto", "tree", "multiway"]
"""Joins of three inputs or more: two by two, all in one operator, or whichever is cheaper."""
Evaluation = Literal["eager", "lazy"]
"""Whether such an operator probes for each row that comes, or once for rows that are alike."""
Expiration = Literal["eager", "lazy"]
"""Whether it drops rows in the step in which they end, or many at a time."""


@dataclass(frozen=True)
class Tactics:
    """The settings of SET when a query was created."""

    strategy: Strategy = "upa"
    joins: Joins = "auto"
    join_evaluation: Evaluation = "lazy"
    join_expiration: Expiration = "lazy"

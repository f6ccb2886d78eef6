"""The work of the reference evaluator with a plan: input can be kept small enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan

BUDGET = 2_000_000
"""Rows looked at, over all instants; a tenth of a second or so."""


def affordable_rows(plan: Plan, wanted: int) -> int:
    """At most the wanted number of rows for each stream, and few enough for the evaluator."""
    while wanted > 1 and work(plan, wanted) > BUDGET:
        wanted = wanted * 2 // 3
    return wanted


def work(plan: Plan, rows: int) -> float:
    """An estimate, from above, of the rows that are looked at if each stream has so many."""
    sizes: dict[int, float] = {}
    instants: dict[int, float] = {}
    total = 0.0
    for node in different_nodes(plan):
        below = [sizes[id(child)] for child in node.children]
        moments = sum(instants[id(child)] for child in node.children) or 2.0 * min(rows, 20)
        looked_at = _product(below) if _looks_at_pairs(node) else sum(below)
        size = _size(node, below, rows)
        if isinstance(node, st.RStream | st.AtEnds):
            size *= moments / 2
        total += looked_at * moments
        sizes[id(node)] = size
        instants[id(node)] = moments
    return total


def _looks_at_pairs(node: Plan) -> bool:
    kinds = (op.Product, op.Join, op.SemiJoin, op.AntiJoin, op.GroupJoin)
    return isinstance(node, kinds)


def _size(node: Plan, below: list[float], rows: int) -> float:
    match node:
        case st.Stream() | st.Relation():
            return float(rows)
        case op.Product():
            return _product(below)
        case op.Join():
            return _product(below) / 2
        case op.UnionAll():
            return sum(below)
        case op.Aggregate():
            return max(1.0, below[0] / 2)
    return below[0]


def _product(below: list[float]) -> float:
    result = 1.0
    for size in below:
        result *= size
    return result

"""Why a plan has no partition key: clauses for people, which EXPLAIN prints behind "because"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import TRUE, Call, Expression, walk
from penstock.algebra.plan import different_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.algebra.plan import Binary, Plan
    from penstock.algebra.windows import Rows

NAMES = {
    op.Difference: "EXCEPT ALL",
    op.Intersection: "INTERSECT ALL",
    op.MaxUnion: "the max-union",
    op.StrictDifference: "the strict difference",
    op.Distinct: "DISTINCT",
    st.IStream: "ISTREAM",
    st.DStream: "DSTREAM",
    st.RStream: "RSTREAM",
    st.AtEnds: "the windows",
    st.Internal: "INTERNAL",
    st.Window: "the window",
}
"""The words of people for an operator that compares or sends whole rows."""


class NoKey(Exception):
    """A plan cannot be divided; the message says what is in the way."""


def sources_of(plan: Plan) -> frozenset[str]:
    """The names of what a plan reads."""
    return frozenset(one.name for one in different_nodes(plan) if isinstance(one, st.Source))


def _listed(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))


def needed_whole(plan: Plan) -> NoKey:
    """Every lane would add the same rows to the result."""
    names = _listed(sources_of(plan))
    return NoKey(f"every lane needs all of {names}, whose rows would then count several times")


def one_group(plan: op.Aggregate) -> NoKey:
    """An aggregate without keys."""
    what = ", ".join(call.function.upper() for _, call in plan.aggregates) or "the aggregate"
    return NoKey(f"{what} over all rows has one group, which needs one lane")


def all_counted(spec: Rows) -> NoKey:
    """A ROWS window without PARTITION BY."""
    return NoKey(f"[ROWS {spec.count}] counts the rows of all keys, which needs one lane")


def all_final() -> NoKey:
    """EMIT FINAL: one order for the whole result."""
    return NoKey("EMIT FINAL sends the whole result in one order")


def all_ordered() -> NoKey:
    """A sort, with or without a limit."""
    return NoKey("ORDER BY and LIMIT compare all rows, which needs one lane")


def any_instant(plan: Plan) -> NoKey:
    """Rows are sent at the instants of rows that other lanes have."""
    return NoKey(f"{NAMES[type(plan)]} sends rows when any row comes or goes, in whatever lane")


def between_slides(plan: Plan) -> NoKey:
    """A lane's slides end with its rows, the result does not."""
    return NoKey(f"{NAMES[type(plan)]} sends rows at slides for which a lane may have no row")


def apart(one: str, other: str) -> NoKey:
    """Two operators that want rows together by different keys."""
    return NoKey(f"{one} and {other} have no key in common")


def no_column(why: str) -> NoKey:
    """The key that rows should lie by is computed, not carried from the input."""
    return NoKey(f"{why} goes by values that its inputs do not carry")


def no_equality(plan: Binary) -> NoKey:
    """A product, a theta-join, NOT IN."""
    condition = getattr(plan, "condition", TRUE)
    if isinstance(plan, op.AntiJoin) and _is_not_in(plan.condition):
        return NoKey("NOT IN has to see every row of its subquery, of which a NULL decides")
    on = "the product" if condition == TRUE else f"the join on {condition}"
    left, right = (_listed(sources_of(side)) for side in plan.children)
    return NoKey(f"{on} has no equality between {left} and {right}")


def _is_not_in(condition: Expression) -> bool:
    return any(isinstance(one, Call) and one.function == "is not false" for one in walk(condition))


def conflict(names: Sequence[str], keys: Sequence[str]) -> NoKey:
    """A row is routed once, and two readers want it in different lanes."""
    if len(names) > 1 or keys[0] == keys[1]:
        return NoKey(f"{_listed(names)} are read several times, by keys that do not go together")
    return NoKey(f"{names[0]} is read twice, once by {keys[0]} and once by {keys[1]}")

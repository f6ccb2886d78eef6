"""Merged queries: those whose answer over a window is made of an answer for each sub-window.

A query over the rows of one window is cut at its lowest operator that looks at several rows. What
that sends of the rows of a sub-window is its partial form; the rest of the query, over the partial
forms of all sub-windows of the window, gives the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.aggregates import facts_of
from penstock.algebra.expressions import AggregateCall, Column, Literal
from penstock.algebra.patterns import Pattern
from penstock.algebra.plan import Named, Unary
from penstock.algebra.types import BIGINT
from penstock.algebra.windows import Range, Unbounded
from penstock.planner.partition.phases import in_phases

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan

PARTS = "(sub-windows)"
"""The name under which partial forms enter the rest of a query."""
COPIES = "(copies)"
"""The column that says how many rows a row of a partial form stands for."""

_ROW_BY_ROW = (op.Filter, op.Map, op.Alias, op.Group)
_AS_IT_IS = (op.Coalesce, op.Split, op.Final)
"""They say how results are cut or sent, which does not matter at one instant."""


@dataclass(frozen=True, eq=False)
class MergedQuery:
    """A query in two parts.

    Args:
        stream: The stream that it reads.
        span: The length of its window, in steps of the stream's time.
        part: What is computed of the rows of each sub-window.
        whole: What is computed of all these parts, which are the rows of `PARTS`.
        has_copies: Whether the last column of the parts says how many rows each stands for.
    """

    stream: st.Stream
    span: int
    part: Plan
    whole: Plan
    has_copies: bool = False


@dataclass(frozen=True)
class NotMerged:
    """The reason why the answer of a query is not made of those for sub-windows."""

    reason: str


@dataclass(frozen=True)
class _Cut:
    """The partial form of an operator, and the operator over partial forms."""

    part: Plan
    rest: Callable[[st.Exchanged], Plan]
    has_copies: bool = False


def merged_query(plan: Plan) -> MergedQuery | NotMerged:
    """A query as the merge of sub-windows, or why it is none."""
    chain: list[Unary] = []
    node = plan
    while isinstance(node, Unary):
        if isinstance(node, st.RelationToStream):
            return NotMerged("it sends rows out, and is no result at an instant")
        if not isinstance(node, (st.Window, *_ROW_BY_ROW, *_AS_IT_IS, *CUTS)):
            return NotMerged("what it holds is not said by the rows of its window alone")
        if not isinstance(node, _AS_IT_IS):
            chain.append(node)
        node = node.child
    windows = [one for one in chain if isinstance(one, st.Window)]
    if not isinstance(node, st.Stream) or len(windows) != 1:
        return NotMerged("it reads more than one window of a stream")
    spec = windows[0].spec
    if not isinstance(spec, Range) or spec.slide is not None:
        unit = windows[0].unit
        shown = "" if unit is None else f" [{spec.describe(unit)}]"
        return NotMerged(
            f"its window{shown} is not of whole sub-windows, as RANGE without SLIDE is"
        )
    cut, above = _below(chain, node)
    leaf = st.Exchanged(PARTS, cut.part.schema, node.unit, Pattern.MON, 1)
    whole = cut.rest(leaf)
    for one in reversed(above):
        whole = one.rebuild((whole,))
    return MergedQuery(node, spec.length, cut.part, whole, cut.has_copies)


def _below(chain: list[Unary], stream: st.Stream) -> tuple[_Cut, list[Unary]]:
    """The lowest operator that looks at several rows, cut, and all that stands above it."""
    below: Plan = stream
    for place in range(len(chain) - 1, -1, -1):
        one = chain[place]
        if isinstance(one, st.Window):
            below = st.Window(below, Unbounded())
        elif isinstance(one, _ROW_BY_ROW):
            below = one.rebuild((below,))
        else:
            return CUTS[type(one)](one.rebuild((below,))), chain[:place]
    return _Cut(below, lambda leaf: leaf), []


def _aggregate(plan: op.Aggregate) -> _Cut:
    phases = in_phases(plan)
    if phases is not None:
        return _Cut(phases.first, phases.second)
    return _counted(plan)


def _counted(plan: op.Aggregate) -> _Cut:
    """Aggregates that need every value: each different one once, and how often it came."""
    keys = tuple(Named(one.name, Column(one.name, one.expression.type)) for one in plan.keys)
    calls: list[tuple[str, AggregateCall]] = []
    values: list[Named] = []
    for place, (name, call) in enumerate(plan.aggregates):
        # The fraction of a quantile is a constant, and stays one.
        named = {
            n: Named(f"{place}.{n}", arg)
            for n, arg in enumerate(call.args)
            if not isinstance(arg, Literal)
        }
        values += named.values()
        given = tuple(
            Column(named[n].name, arg.type) if n in named else arg
            for n, arg in enumerate(call.args)
        )
        calls.append((name, replace(call, args=given)))
    copies = ((COPIES, AggregateCall("count", (), False, BIGINT)),)
    part = op.Aggregate(plan.child, (*plan.keys, *values), copies, row_over_nothing=False)
    needs_copies = any(
        not call.distinct and not facts_of(call.function).ignores_copies
        for _, call in plan.aggregates
    )

    def rest(leaf: st.Exchanged) -> Plan:
        return op.Aggregate(leaf, keys, tuple(calls), plan.row_over_nothing)

    return _Cut(part, rest, needs_copies)


def _distinct(plan: op.Distinct) -> _Cut:
    return _Cut(plan, op.Distinct)


def _sort(plan: orders.Sort) -> _Cut:
    """The first rows of all are among the first of each sub-window."""
    if plan.limit is None:
        return _Cut(plan.child, lambda leaf: replace(plan, child=leaf))
    first = replace(plan, limit=plan.limit + plan.offset, offset=0)
    return _Cut(first, lambda leaf: replace(plan, child=leaf))


def _first_rows(plan: orders.FirstRows) -> _Cut:
    if plan.limit is None:
        return _Cut(plan.child, lambda leaf: replace(plan, child=leaf))
    first = replace(plan, limit=plan.limit + plan.offset, offset=0, number=None)
    return _Cut(first, lambda leaf: replace(plan, child=leaf))


CUTS: dict[type[Plan], Callable[..., _Cut]] = {
    op.Aggregate: _aggregate,
    op.Distinct: _distinct,
    orders.Sort: _sort,
    orders.FirstRows: _first_rows,
}
"""The operators that look at several rows and have a partial form."""


def isolation_note(plan: Plan) -> str:
    """The isolation under which a question is answered that wants the latest state, and why."""
    found = merged_query(plan)
    if isinstance(found, NotMerged):
        return f"Isolation: window, as {found.reason}"
    return f"Isolation: latest, merged of the sub-windows of {found.stream.name}"

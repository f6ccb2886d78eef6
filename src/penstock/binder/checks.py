"""Checks of a whole plan: one time unit, and memory that would grow for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.aggregates import facts_of
from penstock.algebra.expressions import depth_of as depth_of_expression
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.plan import depth_of, different_nodes, expressions_of
from penstock.algebra.time import TimeUnit
from penstock.errors import QueryError, Refused

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan

MAX_OPERATORS = 100
MAX_EXPRESSIONS = 64
"""Python's stack bounds recursion; these leave room for what calls Penstock."""


def check_depth(plan: Plan) -> None:
    """The depth of what stands inside what, up to which every later stage still works.

    Raises:
        QueryError: The query is nested more deeply.
    """
    if depth_of(plan) > MAX_OPERATORS:
        msg = f"the query is nested too deeply: more than {MAX_OPERATORS} operators on each other"
        raise QueryError(msg)
    for node in different_nodes(plan):
        if any(depth_of_expression(one) > MAX_EXPRESSIONS for one in expressions_of(node)):
            msg = f"an expression is nested too deeply: more than {MAX_EXPRESSIONS} in each other"
            raise QueryError(msg, hint="Compute parts of it in a subquery.")


def check_units(plan: Plan) -> None:
    """All inputs of a query share one time unit.

    Raises:
        Refused: They do not.
    """
    streams = [one for one in different_nodes(plan) if isinstance(one, st.Stream)]
    units = {_step(one.time_unit): one for one in streams}
    if len(units) > 1:
        found = " and ".join(f'"{one.name}" ({one.time_unit.value})' for one in units.values())
        msg = f"the streams of a query share one time unit: {found}"
        hint = "Declare the same unit for all, for example OPTIONS (time_unit 'ms')."
        if any(one.time_unit is TimeUnit.TIMESTAMP for one in streams):
            hint = "A TIMESTAMP goes with TIMESTAMPs and with OPTIONS (time_unit 'us')."
        raise Refused(msg, hint=hint)


def _step(unit: TimeUnit) -> object:
    """A TIMESTAMP and an integer of microseconds tell the same time."""
    return unit.micros or unit


def unbounded_state(plan: Plan) -> list[str]:
    """A sentence for each operator that would remember rows for ever."""
    # What a row reads when it arrives, it reads once.
    arrivals = (one for one in different_nodes(plan) if isinstance(one, op.OnArrival))
    read_once = {id(one.reading) for one in arrivals}
    return [
        f"{keeps} of {_inputs(child)} for ever; give it a window, such as {_example(child)}"
        for node in different_nodes(plan)
        if (keeps := _keeps(node)) is not None
        for child in node.children
        if pattern_of(child) is Pattern.MON and id(node) not in read_once
    ]


def endless_answer(plan: Plan) -> list[str]:
    """A sentence for an answer to which every row of a stream is added, and none ever leaves."""
    if isinstance(plan, st.RelationToStream) or pattern_of(plan) is not Pattern.MON:
        return []
    bare = [one for one in st.input_windows(plan) if isinstance(one, st.Stream)]
    return [
        f"the answer keeps every row of {_inputs(one)} for ever; give it a window, such as"
        f" {_example(one)}, or write [UNBOUNDED] if that is meant"
        for one in bare
    ]


def _keeps(node: Plan) -> str | None:
    """The part of its input that an operator keeps, None for one that keeps nothing."""
    match node:
        case op.Product() | op.Join() | op.SemiJoin() | op.AntiJoin() | op.GroupJoin():
            return "the join remembers every row"
        case op.Final():
            return "EMIT FINAL holds every row"
        case op.Distinct():
            return "DISTINCT remembers every different row"
        case orders.FirstRows() if node.partition_by:
            return "ROW_NUMBER remembers the first rows of every group"
        case op.BagOperation():
            return "the set operation remembers every row"
        case op.Aggregate(_, keys, aggregates):
            if any(call.distinct or facts_of(call.function).ranks_values for _, call in aggregates):
                return "the aggregate remembers every different value"
            return "GROUP BY remembers every group" if keys else None
    return None


def _example(plan: Plan) -> str:
    return "[RANGE 1000]" if plan.unit in (None, TimeUnit.TICK) else "[RANGE 1 HOUR]"


def _inputs(plan: Plan) -> str:
    names = [f'"{one.name}"' for one in different_nodes(plan) if isinstance(one, st.Stream)]
    return " and ".join(dict.fromkeys(names)) or "its input"

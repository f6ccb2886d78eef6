"""Names of predicates, whatever rules have done to the plan in which they stand.

A selectivity that was measured at one place is found again by this, when rules have moved the
condition, or taken it apart. What is asked of the rows of one source is written over its columns.
What is asked of rows of several, or of what an aggregate made of them, also says from which windows
and by which conditions these came (`penstock.planner.statistics.origins`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.expressions import (
    TRUE,
    Call,
    Column,
    Literal,
    columns_of,
    conjunction,
    substituted,
)
from penstock.algebra.positions import positional, positions
from penstock.algebra.types import BOOLEAN
from penstock.errors import InternalError
from penstock.planner.conditions import conjuncts
from penstock.planner.physical.graph import Predicate
from penstock.planner.statistics.origins import Nameless, matched, ordered, original, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.algebra.types import Schema, Type
    from penstock.planner.conditions import JoinCondition


def predicate_key(predicate: Expression, over: Plan) -> str | None:
    """A predicate over the columns of a plan, or of its inputs, written over those of sources.

    Parts that AND combines are in the order of their texts. None if a part reads no column, or
    one of which nobody can say where it came from.
    """
    return _together([_part_key(part, over) for part in conjuncts(predicate)])


def predicate_of(predicate: Expression, below: Plan) -> Predicate:
    """The predicate that the filter over a plan measures."""
    found = conjuncts(predicate)
    keys = [_part_key(part, below) for part in found]
    parts = [positional(part, below.schema) for part in found]
    return predicate_of_parts(keys, parts, positions(below.schema.types))


def named(condition: JoinCondition, plan: Plan) -> JoinCondition:
    """The condition of a join with the names of its keys, and of the parts of its residual."""
    residual = residual_over(condition, plan)
    rest = [] if residual is None else conjuncts(residual)
    equal = [one for one in conjuncts(getattr(plan, "condition", TRUE)) if one not in rest]
    return replace(
        condition,
        names=tuple(_part_key(one, plan) for one in rest),
        equality=predicate_key(conjunction(equal), plan) if condition.left else None,
    )


def residual_over(condition: JoinCondition, plan: Plan) -> Expression | None:
    """The residual of a join's condition over the names of the columns."""
    if condition.residual is None:
        return None
    left, right = plan.children
    fields = left.schema + right.schema
    return substituted(
        condition.residual, {str(n): Column(f.name, f.type) for n, f in enumerate(fields)}
    )


def predicate_of_pairs(condition: JoinCondition, types: Sequence[Type]) -> Predicate | None:
    """The predicate that a join measures, of pairs of these types; None: no residual, no name."""
    if condition.residual is None or not condition.names:
        return None
    return predicate_of_parts(
        condition.names, conjuncts(condition.residual), positions(tuple(types))
    )


def made_of(plan: Plan) -> str | None:
    """The rows that an aggregate, or DISTINCT, is made of; None if nobody can say."""
    try:
        return rows_of(plan)
    except Nameless:
        return None


def existence(plan: Plan) -> str | None:
    """The question that a semi-join or an anti-join asks of left rows; None if nobody can say."""
    if not isinstance(plan, op.SemiJoin | op.AntiJoin):
        return None
    try:
        return matched(plan)
    except Nameless:
        return None


def chosen_group(plan: op.Group) -> Expression:
    """The predicate that one of several streams stands for."""
    selector = plan.selector
    return Call("=", (selector, Literal(plan.index, selector.type)), BOOLEAN)


def predicate_of_parts(
    keys: Sequence[str | None], parts: Sequence[Expression], schema: Schema
) -> Predicate:
    """The predicate of parts with these names; several are also measured one by one."""
    apart = {
        key: part
        for key, part in zip(keys, parts, strict=True)
        if key is not None and len(parts) > 1
    }
    return Predicate(_together(keys), tuple(apart.items()), schema.types)


def _together(parts: Sequence[str | None]) -> str | None:
    known = sorted({part for part in parts if part is not None})
    return " AND ".join(known) if None not in parts else None


def _part_key(part: Expression, over: Plan) -> str | None:
    if not columns_of(part):
        return None
    found = traced(part, over)
    if found is None:
        try:
            found = original(part, over)
        except Nameless:
            return None
    # AND needs to see where its parts end.
    return f"({ordered(found)})"


def traced(expression: Expression, over: Plan) -> Expression | None:
    """An expression over columns of a plan as one over those of a source; None if it is none.

    Raises:
        InternalError: Nobody has said whose rows those of such an operator are.
    """
    if type(over) not in TRACES:
        msg = f"nobody has said whose rows those of {type(over).__name__} are"
        raise InternalError(msg)
    return TRACES[type(over)](expression, over)


Trace = Callable[["Expression", Any], "Expression | None"]
"""From an expression over an operator's columns: the same over those of a source, None if none."""


def _of_source(expression: Expression, source: st.Source) -> Expression:
    fields = source.schema
    return substituted(
        expression, {f.name: Column(f"{source.name}.{f.name}", f.type) for f in fields}
    )


def _of_map(expression: Expression, plan: op.Map) -> Expression | None:
    made = {one.name: one.expression for one in plan.columns}
    return traced(substituted(expression, made), plan.child)


def _of_alias(expression: Expression, plan: op.Alias) -> Expression | None:
    pairs = zip(plan.schema.names, plan.child.schema, strict=True)
    names = {new: Column(f.name, f.type) for new, f in pairs}
    return traced(substituted(expression, names), plan.child)


def _of_side(expression: Expression, plan: Plan) -> Expression | None:
    """Over the input that has all columns; None if none has."""
    read = columns_of(expression)
    sides = (side for side in plan.children if read <= set(side.schema.names))
    side = next(sides, None)
    return None if side is None else traced(expression, side)


def _of_none(_expression: Expression, _plan: Plan) -> None:
    """Other rows than those of a source, or not as many of each: they are measured apart."""


TRACES: Mapping[type[Plan], Trace] = {
    st.Stream: _of_source,
    st.Relation: _of_source,
    st.Exchanged: _of_none,
    st.Window: _of_side,
    st.Internal: _of_none,
    st.IStream: _of_none,
    st.DStream: _of_none,
    st.RStream: _of_none,
    st.AtEnds: _of_none,
    op.Filter: _of_side,
    op.Map: _of_map,
    op.Alias: _of_alias,
    op.Group: _of_side,
    op.OnArrival: _of_none,
    op.Distinct: _of_none,
    op.Product: _of_side,
    op.Join: _of_side,
    op.ScalarProduct: _of_none,
    op.SemiJoin: _of_side,
    op.AntiJoin: _of_side,
    op.GroupJoin: _of_none,
    op.UnionAll: _of_none,
    op.Intersection: _of_none,
    op.MaxUnion: _of_none,
    op.Difference: _of_none,
    op.StrictDifference: _of_none,
    op.Aggregate: _of_none,
    op.Combine: _of_none,
    orders.FirstRows: _of_none,
    orders.Sort: _of_none,
    op.Coalesce: _of_none,
    op.Split: _of_none,
    op.Final: _of_none,
}
"""For each operator, whether its rows are a sample of a source's."""

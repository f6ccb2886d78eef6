"""Names of predicates, whatever rules have done to the plan in which they stand.

A selectivity that was measured at one place is found again by this, when rules have moved the
condition, or taken it apart. What is asked of the rows of one source is written over its columns.
What is asked of rows of several, or of what an aggregate made of them, also says from which windows
and by which conditions these came (`penstock.planner.statistics.origins`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
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
    """An expression over columns of a plan as one over those of a source; None if it is none."""
    match over:
        case st.Exchanged():
            return None
        case st.Source(name):
            return substituted(
                expression, {f.name: Column(f"{name}.{f.name}", f.type) for f in over.schema}
            )
        case op.Map():
            made = {one.name: one.expression for one in over.columns}
            return traced(substituted(expression, made), over.child)
        case op.Alias():
            pairs = zip(over.schema.names, over.child.schema, strict=True)
            return traced(
                substituted(expression, {new: Column(f.name, f.type) for new, f in pairs}),
                over.child,
            )
        case op.Filter() | op.Group() | st.Window():
            if not columns_of(expression) <= set(over.child.schema.names):
                return None
            return traced(expression, over.child)
        case op.Product() | op.Join() | op.SemiJoin() | op.AntiJoin():
            for side in over.children:
                if columns_of(expression) <= set(side.schema.names):
                    return traced(expression, side)
    return None

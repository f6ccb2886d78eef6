"""What a predicate asks of the rows of a source, wherever in a plan it stands.

A selectivity that was measured at one place is found again by this, when rules have moved the
filter, or taken it apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import Call, Column, Literal, columns_of, substituted
from penstock.algebra.types import BOOLEAN
from penstock.compute.evaluate import compile_expression
from penstock.planner.conditions import conjuncts, positional
from penstock.planner.graph import Predicate, positions

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan

SYMMETRIC = ("=", "<>", "is distinct from", "is not distinct from")


def predicate_key(predicate: Expression, over: Plan) -> str | None:
    """A predicate over the columns of a plan, or of its inputs, written over those of a source.

    Parts that AND combines are in the order of their texts. None if a part does not read columns
    of exactly one source, or reads what others than filters, maps, windows and joins have made.
    """
    parts = [_part_key(part, over) for part in conjuncts(predicate)]
    known = sorted({part for part in parts if part is not None})
    return " AND ".join(known) if None not in parts else None


def predicate_of(predicate: Expression, below: Plan) -> Predicate:
    """What the filter over a plan measures."""
    found = conjuncts(predicate)
    schema = positions(below.schema.types)
    keys = [_part_key(part, below) for part in found] if len(found) > 1 else []
    parts = {
        key: compile_expression(positional(part, below.schema), schema)
        for key, part in zip(keys, found, strict=False)
        if key is not None
    }
    return Predicate(predicate_key(predicate, below), tuple(parts.items()))


def chosen_group(plan: op.Group) -> Expression:
    """The predicate that one of several streams stands for."""
    selector = plan.selector
    return Call("=", (selector, Literal(plan.index, selector.type)), BOOLEAN)


def _part_key(part: Expression, over: Plan) -> str | None:
    found = traced(part, over) if columns_of(part) else None
    if isinstance(found, Call) and found.function in SYMMETRIC:
        found = Call(found.function, tuple(sorted(found.args, key=str)), found.of)
    # AND needs to see where its parts end.
    return None if found is None else f"({found})"


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
            return traced(expression, over.child)
        case op.Product() | op.Join() | op.SemiJoin() | op.AntiJoin():
            for side in over.children:
                if columns_of(expression) <= set(side.schema.names):
                    return traced(expression, side)
    return None

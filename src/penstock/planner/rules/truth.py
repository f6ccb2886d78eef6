"""Outcomes of a condition, TRUE, FALSE or NULL, where some of its columns are known to be NULL.

A condition that is never TRUE need not be FALSE: a filter drops a row for NULL as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.aggregates import facts_of
from penstock.algebra.expressions import Call, Cast, Column, Expression, Literal, columns_of
from penstock.algebra.types import BOOLEAN
from penstock.compute.casts import cast_never_fails
from penstock.compute.comparisons import COMPARISONS
from penstock.compute.evaluate import folded
from penstock.compute.table import STRICT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.algebra.plan import Plan

Outcome = bool | str | None
"""TRUE, FALSE, NULL, or some value of another type."""
Outcomes = frozenset[Outcome]

SOME = "some value"
NULL: Outcomes = frozenset({None})
TRUTHS: Outcomes = frozenset({True, False})


@dataclass(frozen=True)
class Known:
    """Columns that are NULL, and columns that are not, in the rows that are thought of."""

    null: frozenset[str] = frozenset()
    never_null: frozenset[str] = frozenset()


NOTHING = Known()


def may_be_true(condition: Expression, known: Known = NOTHING) -> bool:
    """A condition that can be TRUE, as far as can be told."""
    return True in outcomes_of(folded(condition), known)


def outcomes_of(expression: Expression, known: Known) -> Outcomes:
    """All that an expression can come to; more than it really can, perhaps, but never less."""
    values = TRUTHS if expression.type == BOOLEAN else frozenset({SOME})
    match expression:
        case Literal(value):
            truth: Outcome = value if isinstance(value, bool) else SOME
            return NULL if value is None else frozenset({truth})
        case Column(name):
            if name in known.null:
                return NULL
            return values if name in known.never_null else values | NULL
        case Cast(arg, to):
            below = outcomes_of(arg, known)
            if below == NULL:
                return NULL
            is_safe = cast_never_fails(arg.type, to) and None not in below
            return values if is_safe else values | NULL
        case Call(function, args):
            return _call(function, [outcomes_of(one, known) for one in args], values)
    return values | NULL


def _call(function: str, args: Sequence[Outcomes], values: Outcomes) -> Outcomes:
    match function:
        case "and" | "or" | "not":
            return frozenset(_logic(function, several) for several in product(*args))
        case "is null" | "is not null":
            return frozenset((one is None) == (function == "is null") for one in args[0])
        case "is true" | "is not true":
            return frozenset((one is True) == (function == "is true") for one in args[0])
        case "is false" | "is not false":
            return frozenset((one is False) == (function == "is false") for one in args[0])
        case "is distinct from" | "is not distinct from":
            return _distinct(args, is_equal=function == "is not distinct from")
        case "coalesce":
            return _coalesced(args)
        case "in":
            return _contained(args[0], args[1:])
    if function in STRICT and NULL in args:
        return NULL
    # Of other functions it is not known here whether they may fail, which gives NULL.
    is_total = function in COMPARISONS and not any(None in one for one in args)
    return values if is_total else values | NULL


def _logic(function: str, args: Sequence[Outcome]) -> Outcome:
    """AND, OR, NOT of single outcomes."""
    if function == "not":
        return None if args[0] is None else not args[0]
    decisive = function == "or"
    if decisive in args:
        return decisive
    return None if None in args else not decisive


def _distinct(args: Sequence[Outcomes], *, is_equal: bool) -> Outcomes:
    """The answer is known where one side is NULL and the other is or is not."""
    first, second = args
    if first == NULL or second == NULL:
        other = second if first == NULL else first
        return frozenset((one is None) == is_equal for one in other)
    return TRUTHS


def _contained(value: Outcomes, members: Sequence[Outcomes]) -> Outcomes:
    """A value that is not found beside a NULL may be that one: NULL."""
    if value == NULL:
        return NULL
    if NULL in members:
        return frozenset({True, None})
    return TRUTHS | NULL if any(None in one for one in (value, *members)) else TRUTHS


def _coalesced(args: Sequence[Outcomes]) -> Outcomes:
    found: Outcomes = frozenset()
    for one in args:
        found |= one - NULL
        if None not in one:
            return found
    return found | NULL


def never_null_if(condition: Expression, known: Known = NOTHING) -> frozenset[str]:
    """The columns that are not NULL in any row for which a condition is TRUE."""
    condition = folded(condition)
    others = columns_of(condition) - known.never_null
    return known.never_null | {
        name
        for name in others
        if True not in outcomes_of(condition, replace(known, null=frozenset({name})))
    }


def never_null(plan: Plan) -> frozenset[str]:
    """The columns of a plan that are NULL in no row."""
    match plan:
        case st.Stream():
            # A row without a time is not taken in.
            return frozenset({plan.time_column})
        case op.Filter():
            return never_null_if(plan.predicate, Known(never_null=never_null(plan.child)))
        case op.Alias():
            below = never_null(plan.child)
            pairs = zip(plan.schema.names, plan.child.schema.names, strict=True)
            return frozenset(new for new, old in pairs if old in below)
        case op.Map():
            known = Known(never_null=never_null(plan.child))
            return frozenset(
                one.name for one in plan.columns if not _may_be_null(one.expression, known)
            )
        case op.Aggregate():
            known = Known(never_null=never_null(plan.child))
            keys = (one.name for one in plan.keys if not _may_be_null(one.expression, known))
            counts = (
                name
                for name, call in plan.aggregates
                if facts_of(call.function).over_nothing is not None
            )
            return frozenset({*keys, *counts})
        case st.Window():
            return never_null(plan.child) | frozenset(plan.spec.added)
        case op.Distinct() | op.Coalesce() | op.Split() | op.Group():
            return never_null(plan.child)
        case op.Product():
            return _of_all(plan.children)
        case op.Join():
            return never_null_if(plan.condition, Known(never_null=_of_all(plan.children)))
        case op.SemiJoin() | op.AntiJoin():
            return never_null(plan.left)
    return frozenset()


def _of_all(plans: Iterable[Plan]) -> frozenset[str]:
    return frozenset(name for one in plans for name in never_null(one))


def _may_be_null(expression: Expression, known: Known) -> bool:
    return None in outcomes_of(expression, known)

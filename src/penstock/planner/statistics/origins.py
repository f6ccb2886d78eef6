"""Origins of columns and rows of a plan, in words that rewriting does not change.

A column is written as in SQL, over sources under their windows: `cars [RANGE 10].speed`. One that
an aggregate makes is written as a subquery that says which rows it is made of. Rows are described
by the sources they are made of and all conditions they have passed, each in the order of the texts:
so neither the order of joins nor the place of a filter matters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import Call, Column, columns_of, substituted, walk
from penstock.algebra.time import TimeUnit
from penstock.algebra.windows import Rows
from penstock.planner.conditions import conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.algebra.expressions import AggregateCall, Expression
    from penstock.algebra.plan import Named, Plan

SYMMETRIC = ("=", "<>", "is distinct from", "is not distinct from")
_PASSING = (
    op.Filter,
    op.Group,
    op.Distinct,
    op.Coalesce,
    op.Split,
    op.Final,
    op.Sort,
    op.FirstRows,
    op.OnArrival,
)
"""Operators that leave the columns of rows as they are."""
_SIDES = (op.Product, op.Join, op.SemiJoin, op.AntiJoin, op.ScalarProduct, op.GroupJoin)
"""Operators whose columns are those of their inputs."""


class Nameless(Exception):
    """Nobody can say where a column comes from."""


def ordered(expression: Expression) -> Expression:
    """The expression, its sides in the order of their texts if it means the same both ways."""
    if isinstance(expression, Call) and expression.function in SYMMETRIC:
        return replace(expression, args=tuple(sorted(expression.args, key=str)))
    return expression


def original(expression: Expression, over: Plan, window: str = "") -> Expression:
    """An expression over the columns of a plan, or of its inputs, over those of sources.

    Args:
        expression: What to write.
        over: The plan.
        window: That above it, which its rows go through.

    Raises:
        Nameless: It reads a column of unknown origin.
    """
    read = {one.name: one for one in walk(expression) if isinstance(one, Column)}
    return substituted(expression, {name: _origin(one, over, window) for name, one in read.items()})


def _origin(column: Column, over: Plan, window: str) -> Expression:
    match over:
        case st.Source() if not isinstance(over, st.Exchanged):
            return Column(f"{over.name}{window}.{column.name}", column.of)
        case st.Window():
            if column.name not in over.child.schema.names:
                return Column(f"{_window(over).strip()}.{column.name}", column.of)
            return _origin(column, over.child, _window(over) + window)
        case op.Map():
            (made,) = (one.expression for one in over.columns if one.name == column.name)
            return original(made, over.child, window)
        case op.Alias() | op.BagOperation():
            below = over.children[0]
            name = below.schema.names[over.schema.names.index(column.name)]
            return _origin(Column(name, column.of), below, window)
        case op.UnionAll():
            return _origin_of_either(column, over, window)
        case op.Aggregate():
            return Column(_aggregated(column.name, over), column.of)
        case op.GroupJoin() if column.name in dict(over.aggregates):
            asked = " AND ".join(sorted(_asked(over.condition, over, window)))
            call = _call(dict(over.aggregates)[column.name], over.right)
            return Column(f"(SELECT {call} FROM {rows_of(over.right)} ON {asked})", column.of)
        case st.RelationToStream():
            return Column(f"{over.label().upper()} {_origin(column, over.child, '')}", column.of)
    if isinstance(over, op.FirstRows) and column.name == over.number:
        raise Nameless
    if isinstance(over, _PASSING):
        return _origin(column, over.child, window)
    if isinstance(over, _SIDES):
        for side in over.children:
            if column.name in side.schema.names:
                return _origin(column, side, window)
    raise Nameless


def _window(plan: st.Window) -> str:
    spec = plan.spec
    if isinstance(spec, Rows):
        types = {one.name: one.type for one in plan.child.schema}
        keys = (original(Column(name, types[name]), plan.child) for name in spec.partition_by)
        spec = replace(spec, partition_by=tuple(map(str, keys)))
    return f" [{spec.describe(plan.unit or TimeUnit.TICK)}]"


def _origin_of_either(column: Column, plan: op.UnionAll, window: str) -> Expression:
    place = plan.schema.names.index(column.name)
    names = [one.schema.names[place] for one in plan.inputs]
    found = [
        _origin(Column(name, column.of), one, window)
        for name, one in zip(names, plan.inputs, strict=True)
    ]
    texts = sorted(set(map(str, found)))
    return found[0] if len(texts) == 1 else Column(f"({' UNION '.join(texts)})", column.of)


def _aggregated(name: str, plan: op.Aggregate) -> str:
    """A column of an aggregate as a subquery."""
    calls = dict(plan.aggregates)
    if name in calls:
        return _subquery(_call(calls[name], plan.child), plan)
    (key,) = (one.expression for one in plan.keys if one.name == name)
    return _subquery(str(original(key, plan.child)), plan)


def _subquery(shown: str, plan: op.Aggregate) -> str:
    keys = _texts(plan.keys, plan.child)
    groups = f" GROUP BY {', '.join(sorted(keys))}" if keys else ""
    text = f"(SELECT {shown} FROM {rows_of(plan.child)}{groups})"
    (first, *more), _ = _made_of(plan.child, "")
    # Of one source it is enough to tell its window once.
    return text if more else text.replace(f"{first}.", f"{first.partition(' [')[0]}.")


def _texts(columns: Sequence[Named], below: Plan) -> list[str]:
    return [str(original(one.expression, below)) for one in columns]


def _call(call: AggregateCall, below: Plan) -> str:
    return str(replace(call, args=tuple(original(arg, below) for arg in call.args)))


def rows_of(plan: Plan) -> str:
    """The sources of the rows of a plan, and the conditions that they have passed.

    Raises:
        Nameless: A condition reads a column of unknown origin.
    """
    parts, conditions = _made_of(plan, "")
    passed = f" WHERE {' AND '.join(sorted(set(conditions)))}" if conditions else ""
    return ", ".join(sorted(parts)) + passed


def _made_of(plan: Plan, window: str) -> tuple[list[str], list[str]]:
    """Sources or subqueries, and conditions."""
    match plan:
        case st.Source() if not isinstance(plan, st.Exchanged):
            return [f"{plan.name}{window}"], []
        case st.Window():
            return _made_of(plan.child, _window(plan) + window)
        case op.Filter():
            return _and(_made_of(plan.child, window), _asked(plan.predicate, plan.child, window))
        case op.Group():
            part = f"({original(plan.selector, plan.child, window)} = {plan.index})"
            return _and(_made_of(plan.child, window), [part])
        case op.Map() | op.Alias() | op.OnArrival():
            return _made_of(plan.children[0], window)
        case op.Product() | op.Join() | op.ScalarProduct():
            left, right = (_made_of(side, window) for side in plan.children)
            asked = _asked(plan.condition, plan, window) if isinstance(plan, op.Join) else []
            return [*left[0], *right[0]], [*left[1], *right[1], *asked]
        case op.SemiJoin() | op.AntiJoin():
            return _and(_made_of(plan.left, window), [matched(plan, window)])
        case op.Aggregate():
            calls = sorted(_call(call, plan.child) for _, call in plan.aggregates)
            return [_subquery(", ".join(calls) or "NULL", plan)], []
        case op.Distinct():
            columns = [Column(one.name, one.type) for one in plan.schema]
            shown = sorted(str(original(one, plan.child)) for one in columns)
            return [f"(SELECT DISTINCT {', '.join(shown)} FROM {rows_of(plan.child)})"], []
    if not plan.children:
        raise Nameless
    return [f"{type(plan).__name__}({'; '.join(map(rows_of, plan.children))})"], []


def matched(plan: op.SemiJoin | op.AntiJoin, window: str = "") -> str:
    """The question that a semi-join or an anti-join asks of left rows.

    Raises:
        Nameless: Its condition reads a column of unknown origin.
    """
    asked = " AND ".join(sorted(_asked(plan.condition, plan, window)))
    found = f"EXISTS ({rows_of(plan.right)} ON {asked})"
    return found if isinstance(plan, op.SemiJoin) else f"NOT {found}"


def _and(rows: tuple[list[str], list[str]], more: Iterable[str]) -> tuple[list[str], list[str]]:
    return rows[0], [*rows[1], *more]


def _asked(condition: Expression, over: Plan, window: str) -> list[str]:
    parts = [part for part in conjuncts(condition) if columns_of(part)]
    return [f"({ordered(original(part, over, window))})" for part in parts]

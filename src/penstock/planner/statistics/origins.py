"""Origins of columns and rows of a plan, in words that rewriting does not change.

A column is written as in SQL, over sources under their windows: `cars [RANGE 10].speed`. One that
an aggregate makes is written as a subquery that says which rows it is made of. Rows are described
by the sources they are made of and all conditions they have passed, each in the order of the texts:
so neither the order of joins nor the place of a filter matters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.expressions import Call, Column, columns_of, substituted, walk
from penstock.algebra.time import TimeUnit
from penstock.algebra.windows import Rows as RowsWindow
from penstock.errors import InternalError
from penstock.planner.conditions import conjuncts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock.algebra.expressions import AggregateCall, Expression
    from penstock.algebra.plan import Named, Plan

SYMMETRIC = ("=", "<>", "is distinct from", "is not distinct from")
Rows = tuple[list[str], list[str]]
"""Sources or subqueries that rows are made of, and the conditions that they have passed."""


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
    return _rules(over).column(over, column, window)


def _rules(plan: Plan) -> OriginRules:
    if type(plan) not in ORIGINS:
        msg = f"nobody has said where rows of {type(plan).__name__} come from"
        raise InternalError(msg)
    return ORIGINS[type(plan)]


# Columns: from an operator, one of its columns, and the window above it


def _of_source(plan: st.Source, column: Column, window: str) -> Expression:
    return Column(f"{plan.name}{window}.{column.name}", column.of)


def _of_window(plan: st.Window, column: Column, window: str) -> Expression:
    if column.name in plan.child.schema.names:
        return _origin(column, plan.child, _window(plan) + window)
    return Column(f"{_window(plan).strip()}.{column.name}", column.of)


def _of_map(plan: op.Map, column: Column, window: str) -> Expression:
    (made,) = (one.expression for one in plan.columns if one.name == column.name)
    return original(made, plan.child, window)


def _of_place(plan: Plan, column: Column, window: str) -> Expression:
    """The column at the same place of the first input."""
    below = plan.children[0]
    name = below.schema.names[plan.schema.names.index(column.name)]
    return _origin(Column(name, column.of), below, window)


def _of_aggregate(plan: op.Aggregate, column: Column, _window: str) -> Expression:
    return Column(_aggregated(column.name, plan), column.of)


def _of_group_join(plan: op.GroupJoin, column: Column, window: str) -> Expression:
    calls = dict(plan.aggregates)
    if column.name not in calls:
        return _of_side(plan, column, window)
    asked = " AND ".join(sorted(_asked(plan.condition, plan, window)))
    call = _call(calls[column.name], plan.right)
    return Column(f"(SELECT {call} FROM {rows_of(plan.right)} ON {asked})", column.of)


def _of_sent(plan: st.RelationToStream, column: Column, _window: str) -> Expression:
    return Column(f"{plan.label().upper()} {_origin(column, plan.child, '')}", column.of)


def _of_side(plan: Plan, column: Column, window: str) -> Expression:
    """The column of that name of the first input that has one; of one input, that of it."""
    for side in plan.children:
        if column.name in side.schema.names:
            return _origin(column, side, window)
    raise Nameless


def _unknown_column(_plan: Plan, _column: Column, _window: str) -> Expression:
    raise Nameless


def _window(plan: st.Window) -> str:
    spec = plan.spec
    if isinstance(spec, RowsWindow):
        types = {one.name: one.type for one in plan.child.schema}
        keys = (original(Column(name, types[name]), plan.child) for name in spec.partition_by)
        spec = replace(spec, partition_by=tuple(map(str, keys)))
    return f" [{spec.describe(plan.unit or TimeUnit.TICK)}]"


def _of_either(plan: op.UnionAll, column: Column, window: str) -> Expression:
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


def _made_of(plan: Plan, window: str) -> Rows:
    return _rules(plan).rows(plan, window)


# Rows: from an operator, and the window above it


def _source_rows(plan: st.Source, window: str) -> Rows:
    return [f"{plan.name}{window}"], []


def _window_rows(plan: st.Window, window: str) -> Rows:
    return _made_of(plan.child, _window(plan) + window)


def _filtered(plan: op.Filter, window: str) -> Rows:
    return _and(_made_of(plan.child, window), _asked(plan.predicate, plan.child, window))


def _grouped(plan: op.Group, window: str) -> Rows:
    part = f"({original(plan.selector, plan.child, window)} = {plan.index})"
    return _and(_made_of(plan.child, window), [part])


def _same_rows(plan: Plan, window: str) -> Rows:
    return _made_of(plan.children[0], window)


def _paired(plan: Plan, window: str) -> Rows:
    left, right = (_made_of(side, window) for side in plan.children)
    return [*left[0], *right[0]], [*left[1], *right[1]]


def _joined(plan: op.Join, window: str) -> Rows:
    return _and(_paired(plan, window), _asked(plan.condition, plan, window))


def _judged(plan: op.SemiJoin | op.AntiJoin, window: str) -> Rows:
    return _and(_made_of(plan.left, window), [matched(plan, window)])


def _groups(plan: op.Aggregate, _window: str) -> Rows:
    calls = sorted(_call(call, plan.child) for _, call in plan.aggregates)
    return [_subquery(", ".join(calls) or "NULL", plan)], []


def _different(plan: op.Distinct, _window: str) -> Rows:
    columns = [Column(one.name, one.type) for one in plan.schema]
    shown = sorted(str(original(one, plan.child)) for one in columns)
    return [f"(SELECT DISTINCT {', '.join(shown)} FROM {rows_of(plan.child)})"], []


def _result_of(plan: Plan, _window: str) -> Rows:
    """The result of an operator that is known by nothing but its name and its inputs."""
    return [f"{type(plan).__name__}({'; '.join(map(rows_of, plan.children))})"], []


def _unknown_rows(_plan: Plan, _window: str) -> Rows:
    raise Nameless


def matched(plan: op.SemiJoin | op.AntiJoin, window: str = "") -> str:
    """The question that a semi-join or an anti-join asks of left rows.

    Raises:
        Nameless: Its condition reads a column of unknown origin.
    """
    asked = " AND ".join(sorted(_asked(plan.condition, plan, window)))
    found = f"EXISTS ({rows_of(plan.right)} ON {asked})"
    return found if isinstance(plan, op.SemiJoin) else f"NOT {found}"


def _and(rows: Rows, more: Iterable[str]) -> Rows:
    return rows[0], [*rows[1], *more]


def _asked(condition: Expression, over: Plan, window: str) -> list[str]:
    parts = [part for part in conjuncts(condition) if columns_of(part)]
    return [f"({ordered(original(part, over, window))})" for part in parts]


@dataclass(frozen=True)
class OriginRules:
    """Origins of what an operator makes.

    Args:
        column: That of a column, as an expression over sources; from the operator, the column and
            the window above.
        rows: Those of its rows, from the operator and the window above.
    """

    column: Callable[[Any, Column, str], Expression]
    rows: Callable[[Any, str], Rows]


_COPIED = OriginRules(_of_place, _result_of)
_OTHER_ROWS = OriginRules(_of_side, _result_of)
_SENT = OriginRules(_of_sent, _result_of)
_SOURCE = OriginRules(_of_source, _source_rows)

ORIGINS: Mapping[type[Plan], OriginRules] = {
    st.Stream: _SOURCE,
    st.Relation: _SOURCE,
    st.Exchanged: OriginRules(_unknown_column, _unknown_rows),
    st.Window: OriginRules(_of_window, _window_rows),
    st.Internal: OriginRules(_unknown_column, _result_of),
    st.IStream: _SENT,
    st.DStream: _SENT,
    st.RStream: _SENT,
    st.AtEnds: _SENT,
    op.Filter: OriginRules(_of_side, _filtered),
    op.Map: OriginRules(_of_map, _same_rows),
    op.Alias: OriginRules(_of_place, _same_rows),
    op.Group: OriginRules(_of_side, _grouped),
    op.OnArrival: OriginRules(_of_side, _same_rows),
    op.Distinct: OriginRules(_of_side, _different),
    op.Product: OriginRules(_of_side, _paired),
    op.Join: OriginRules(_of_side, _joined),
    op.ScalarProduct: OriginRules(_of_side, _paired),
    op.SemiJoin: OriginRules(_of_side, _judged),
    op.AntiJoin: OriginRules(_of_side, _judged),
    op.GroupJoin: OriginRules(_of_group_join, _result_of),
    op.UnionAll: OriginRules(_of_either, _result_of),
    op.Intersection: _COPIED,
    op.MaxUnion: _COPIED,
    op.Difference: _COPIED,
    op.StrictDifference: _COPIED,
    op.Aggregate: OriginRules(_of_aggregate, _groups),
    op.Combine: OriginRules(_unknown_column, _result_of),
    orders.FirstRows: _OTHER_ROWS,
    orders.Sort: _OTHER_ROWS,
    op.Coalesce: _OTHER_ROWS,
    op.Split: _OTHER_ROWS,
    op.Final: _OTHER_ROWS,
}
"""Where the columns and rows of each operator come from."""

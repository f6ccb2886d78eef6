"""The rules of partitioning, operator by operator; see `partition_search`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.emptiness import empties
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.positions import equalities
from penstock.algebra.windows import Range, Rows
from penstock.planner.partition import partition_reasons as reasons
from penstock.planner.partition.partition_keys import (
    Classes,
    Need,
    below,
    both,
    classes_of,
    columns,
    determined,
    over,
    renaming,
    restricted,
    satisfied,
    substituted,
    within,
)
from penstock.planner.partition.partition_reasons import NoKey
from penstock.planner.partition.partition_routes import Routes, SourceGroup, any_of, combined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan, Unary
    from penstock.planner.partition.partition_search import Search

T = TypeVar("T")
Inner = op.Product | op.Join
Matching = op.SemiJoin | op.AntiJoin | op.GroupJoin
"""Left rows, each judged by the right rows that match it."""
Sender = st.RelationToStream | st.Internal

# One input


def _source(search: Search, source: st.Source, need: Need | None) -> Routes:
    """Any key that the need determines; those that joins want come last."""
    wanted = search.wanted.setdefault(source.name, {})
    if need is not None and need.exact:
        wanted[need.keys[0]] = None
        keys = dict.fromkeys(need.keys)
    else:
        own = columns(source.schema) if need is None else need.keys
        keys = dict.fromkeys(own) | {key: None for key in wanted if determined(key, own)}
    return (SourceGroup(tuple({source.name: key} for key in keys)),)


def _filtered(search: Search, plan: op.Filter, need: Need | None, equal: Classes) -> Routes:
    return search.routes(plan.child, need, classes_of(equal, equalities(plan.predicate)))


def _passed(search: Search, plan: Unary, need: Need | None, equal: Classes) -> Routes:
    return search.routes(plan.child, need, equal)


def _mapped(search: Search, plan: op.Alias | op.Map, need: Need | None, equal: Classes) -> Routes:
    if isinstance(plan, op.Map):
        meaning = {column.name: column.expression for column in plan.columns}
    else:
        meaning = renaming(plan.schema, plan.child.schema)
    inside = [tuple(substituted(one, meaning) for one in group) for group in equal]
    return search.routes(plan.child, below(need, meaning), classes_of((), inside))


def _aggregate(search: Search, plan: op.Aggregate, need: Need | None) -> Routes:
    if not plan.keys:
        raise reasons.one_group(plan)
    why = search.because(f"GROUP BY {', '.join(str(key.expression) for key in plan.keys)}")
    meaning = {key.name: key.expression for key in plan.keys}
    keys = [key.expression for key in plan.keys]
    return search.routes(plan.child, both(below(need, meaning), keys, why), ())


def _first_rows(search: Search, plan: orders.FirstRows, need: Need | None) -> Routes:
    if not plan.partition_by:
        raise reasons.all_ordered()
    why = search.because(f"PARTITION BY {', '.join(map(str, plan.partition_by))}")
    own = {column.name: column for column in columns(plan.child.schema)}
    return search.routes(plan.child, both(below(need, own), plan.partition_by, why), ())


def _window(search: Search, plan: st.Window, need: Need | None) -> Routes:
    spec = plan.spec
    if isinstance(spec, Rows):
        if not spec.partition_by:
            raise reasons.all_counted(spec)
        why = search.because(f"PARTITION BY {', '.join(spec.partition_by)}")
        keys = [one for one in columns(plan.schema) if one.name in spec.partition_by]
        need = both(need, keys, why)
    if spec.added:
        own = {column.name: column for column in columns(plan.child.schema)}
        need = below(need, own)
    if st.is_stream(plan.child):
        return search.routes(plan.child, need, ())
    return _compared(search, plan, need)


def _compared(search: Search, plan: st.Window | op.Distinct | Sender, need: Need | None) -> Routes:
    """Operators that net equal rows against each other: these must meet in one lane.

    Where rows never leave nothing is netted, except by DISTINCT.
    """
    child = plan.children[0]
    if pattern_of(child) is Pattern.MON and not isinstance(plan, op.Distinct):
        return search.routes(child, need, ())
    why = search.because(reasons.NAMES[type(plan)])
    return search.routes(child, both(need, columns(child.schema), why), ())


def _sent(search: Search, plan: Sender, need: Need | None) -> Routes:
    """Streams that a query sends out, and the insertions that INTERNAL keeps."""
    restore = isinstance(plan, st.IStream | st.RStream) and plan.restore
    at_slides = isinstance(plan, st.RStream) or (
        isinstance(plan, st.Internal) and plan.appends == "slides"
    )
    if (at_slides or restore) and not isinstance(st.slide_sent(plan), Range):
        # The instants come from the rows of any lane.
        raise reasons.any_instant(plan)
    if at_slides and not empties(plan.child):
        # Slides begin with a lane's first row and end with its last.
        raise reasons.between_slides(plan)
    combines = isinstance(plan, st.Internal) and plan.appends == "combinations"
    combines |= isinstance(plan, st.AtEnds)
    if combines or (at_slides and not restore):
        return search.routes(plan.child, need, ())
    return _compared(search, plan, need)


def _read_on_arrival(
    search: Search, plan: op.OnArrival, need: Need | None, equal: Classes
) -> Routes:
    """Each stream row meets the relation rows that match it, only at another instant."""
    return search.routes(plan.reading, need, equal)


def _sorted(_search: Search, _plan: orders.Sort, _need: Need | None) -> Routes:
    raise reasons.all_ordered()


def _finalised(_search: Search, _plan: op.Final, _need: Need | None) -> Routes:
    raise reasons.all_final()


# Several inputs


def _aligned(search: Search, plan: op.UnionAll | op.BagOperation, need: Need | None) -> Routes:
    """Inputs whose rows meet column by column; UNION ALL itself compares nothing."""
    if not isinstance(plan, op.UnionAll):
        why = search.because(reasons.NAMES[type(plan)])
        need = both(need, columns(plan.schema), why)
    if need is None:
        return combined([search.routes(child, None, ()) for child in plan.children])
    keys = [*need.keys, *([] if need.exact else _joined_by(plan, need))]
    exact = [Need((key,), need.why, exact=True) for key in keys]
    return _any(exact, lambda one: _children(search, plan, one))


def _children(search: Search, plan: Plan, need: Need) -> Routes:
    names = [renaming(plan.schema, child.schema) for child in plan.children]
    return combined(
        [
            search.routes(child, below(need, meaning), ())
            for child, meaning in zip(plan.children, names, strict=True)
        ]
    )


def _inner(search: Search, plan: Inner, need: Need | None, equal: Classes) -> Routes:
    pairs = equalities(plan.condition) if isinstance(plan, op.Join) else []
    known = classes_of(equal, pairs)
    for one, other in ((plan.left, plan.right), (plan.right, plan.left)):
        if search.is_whole(other):
            schema = one.schema
            return search.routes(one, within(need, schema, known), restricted(known, schema))
    return _paired(search, plan, need, known, known)


def _with_scalar(
    search: Search, plan: op.ScalarProduct, need: Need | None, equal: Classes
) -> Routes:
    left = plan.left.schema
    return search.routes(plan.left, within(need, left, equal), restricted(equal, left))


def _matching(search: Search, plan: Matching, need: Need | None, equal: Classes) -> Routes:
    """Semi-join, anti-join and the like: what the condition equates holds in matches only."""
    equal = restricted(equal, plan.left.schema)
    known = classes_of(equal, equalities(plan.condition))
    kept = known if isinstance(plan, op.SemiJoin) else equal
    if search.is_whole(plan.right):
        left = plan.left.schema
        return search.routes(plan.left, within(need, left, kept), restricted(kept, left))
    return _paired(search, plan, need, known, kept)


def _paired(
    search: Search, plan: Binary, need: Need | None, known: Classes, kept: Classes
) -> Routes:
    """Both sides by expressions that are equal in rows that meet (`known`).

    `kept` is what is equal in rows of the result.
    """
    left, right = plan.left.schema, plan.right.schema
    pairs = [
        (one, other)
        for group in known
        for one in group
        if over(one, left)
        for other in group
        if over(other, right)
    ]
    if not pairs:
        raise reasons.no_equality(plan)
    fitting = [pair for pair in pairs if satisfied(need, pair[0], kept)]
    if not fitting:
        assert need is not None
        joins = " and ".join(f"{one} = {other}" for one, other in pairs)
        raise reasons.apart(need.why, f"the join on {joins}")

    told: set[Expression] = set()

    def route(one: Expression, other: Expression) -> Routes:
        why = f"join on {one} = {other}"
        found = combined(
            [
                search.routes(plan.left, Need((one,), why, True), restricted(kept, left)),
                search.routes(plan.right, Need((other,), why, True), restricted(known, right)),
            ]
        )
        if other not in told:
            told.add(other)
            search.because(why)
        return found

    return _any(fitting, lambda pair: route(*pair))


def _any(options: Sequence[T], find: Callable[[T], Routes]) -> Routes:
    """The routes of all options that have some; without any, the first one's reason."""
    found: list[Routes] = []
    refused: list[NoKey] = []
    for option in options:
        try:
            found.append(find(option))
        except NoKey as reason:
            refused.append(reason)
    if not found:
        raise refused[0]
    return any_of(found)


def _joined_by(plan: Plan, need: Need) -> list[Expression]:
    """The key that the joins of an outer join insist on, such as a cast, and a need allows."""
    inputs = (one.reading if isinstance(one, op.OnArrival) else one for one in plan.children)
    joins = [one for one in inputs if isinstance(one, op.Join)]
    sides = [one for join in joins for pair in equalities(join.condition) for one in pair]
    return [
        one
        for one in dict.fromkeys(sides)
        if over(one, plan.schema) and determined(one, need.keys) and one not in need.keys
    ]


Rule = Callable[["Search", Any, "Need | None", Classes], Routes]
"""From an operator, where its rows are needed, and what is equal in those that are."""


def _by_need(rule: Callable[[Search, Any, Need | None], Routes]) -> Rule:
    """An operator whose routes do not depend on what is equal."""
    return lambda search, plan, need, _equal: rule(search, plan, need)


_READ, _SENT, _SET = _by_need(_source), _by_need(_sent), _by_need(_aligned)

RULES: Mapping[type[Plan], Rule] = {
    st.Stream: _READ,
    st.Relation: _READ,
    st.Exchanged: _READ,
    st.Window: _by_need(_window),
    st.Internal: _SENT,
    st.IStream: _SENT,
    st.DStream: _SENT,
    st.RStream: _SENT,
    st.AtEnds: _SENT,
    op.Filter: _filtered,
    op.Map: _mapped,
    op.Alias: _mapped,
    op.Group: _passed,
    op.OnArrival: _read_on_arrival,
    op.Distinct: _by_need(_compared),
    op.Product: _inner,
    op.Join: _inner,
    op.SemiJoin: _matching,
    op.AntiJoin: _matching,
    op.ScalarProduct: _with_scalar,
    op.GroupJoin: _matching,
    op.UnionAll: _SET,
    op.Intersection: _SET,
    op.MaxUnion: _SET,
    op.Difference: _SET,
    op.StrictDifference: _SET,
    op.Aggregate: _by_need(_aggregate),
    orders.FirstRows: _by_need(_first_rows),
    orders.Sort: _by_need(_sorted),
    op.Coalesce: _passed,
    op.Split: _passed,
    op.Final: _by_need(_finalised),
}
"""The routes of each operator; `Combine` is what a divided plan runs, and is never divided."""

"""The rules of partitioning, operator by operator.

`Search.routes(plan, need, equal)` finds how to route a plan's sources so that the lanes' results
are disjoint parts of the plan's result and

- together hold every row in which the expressions of each class of `equal` have the same value
  (a filter above drops the others, so that a product need not be complete), and
- each row lies where `need` wants it: in a lane that its keys determine.

It raises NoKey where it knows no such routes. Definitions of the operators it relies on are in
`penstock.reference`; a property test holds every answer against them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.positions import equalities
from penstock.algebra.windows import Range, Rows
from penstock.errors import InternalError
from penstock.planner.operator_facts import empties
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
from penstock.planner.partition.partition_reasons import NoKey, sources_of
from penstock.planner.partition.partition_routes import Routes, SourceGroup, any_of, combined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan

T = TypeVar("T")
Inner = op.Product | op.Join
Matching = op.SemiJoin | op.AntiJoin | op.GroupJoin
"""Left rows, each judged by the right rows that match it."""
Sender = st.RelationToStream | st.Internal


class Search:
    """Looks for routes, given which sources every lane gets whole (`broadcast`)."""

    def __init__(self, broadcast: frozenset[str]) -> None:
        self.broadcast = broadcast
        self.decided: dict[str, None] = {}
        """The operators that decided the key, in the order they were met."""
        self._wanted: dict[str, dict[Expression, None]] = {}
        self._known: dict[tuple[int, Need | None, Classes], Routes | NoKey] = {}

    def common(self, plans: tuple[Plan, ...]) -> Routes:
        """Routes that are right for all plans.

        Raises:
            NoKey: There are none.
        """
        with suppress(NoKey):
            self._each(plans)
        # Now the keys that joins insist on are known, and others can agree to them.
        self._known.clear()
        self.decided.clear()
        return self._each(plans)

    def _each(self, plans: tuple[Plan, ...]) -> Routes:
        return combined([self.routes(plan, None, ()) for plan in plans])

    def routes(self, plan: Plan, need: Need | None, equal: Classes) -> Routes:
        """The routes under which a plan's result is divided as the module says."""
        key = (id(plan), need, equal)
        if key not in self._known:
            try:
                self._known[key] = self._find(plan, need, equal)
            except NoKey as reason:
                self._known[key] = reason
        found = self._known[key]
        if isinstance(found, NoKey):
            raise found
        return found

    def _find(self, plan: Plan, need: Need | None, equal: Classes) -> Routes:
        if self._is_whole(plan):
            raise reasons.needed_whole(plan)
        match plan:
            case st.Source():
                return self._source(plan, need)
            case op.Filter():
                return self.routes(plan.child, need, classes_of(equal, equalities(plan.predicate)))
            case op.Group() | op.Coalesce() | op.Split():
                return self.routes(plan.child, need, equal)
            case op.Alias() | op.Map():
                return self._mapped(plan, need, equal)
            case op.OnArrival():
                # Each stream row meets the relation rows that match it, only at another instant.
                return self.routes(plan.reading, need, equal)
            case op.Product() | op.Join():
                return self._inner(plan, need, equal)
            case op.SemiJoin() | op.AntiJoin() | op.GroupJoin():
                return self._matching(plan, need, equal)
            case op.ScalarProduct():
                left = plan.left.schema
                return self.routes(plan.left, within(need, left, equal), restricted(equal, left))
            case op.UnionAll() | op.BagOperation():
                return self._aligned(plan, need)
            case op.Aggregate():
                return self._aggregate(plan, need)
            case op.FirstRows():
                return self._first_rows(plan, need)
            case op.Sort():
                raise reasons.all_ordered()
            case op.Final():
                raise reasons.all_final()
            case st.Window():
                return self._window(plan, need)
            case op.Distinct():
                return self._compared(plan, need)
            case st.RelationToStream() | st.Internal():
                return self._sent(plan, need)
        msg = f"the planner does not know {type(plan).__name__}"
        raise InternalError(msg)

    def _is_whole(self, plan: Plan) -> bool:
        """A plan all of which every lane computes."""
        return sources_of(plan) <= self.broadcast

    def _because(self, why: str) -> str:
        self.decided[why] = None
        return why

    # One input

    def _source(self, source: st.Source, need: Need | None) -> Routes:
        """Any key that the need determines; those that joins want come last."""
        wanted = self._wanted.setdefault(source.name, {})
        if need is not None and need.exact:
            wanted[need.keys[0]] = None
            keys = dict.fromkeys(need.keys)
        else:
            own = columns(source.schema) if need is None else need.keys
            keys = dict.fromkeys(own) | {key: None for key in wanted if determined(key, own)}
        return (SourceGroup(tuple({source.name: key} for key in keys)),)

    def _mapped(self, plan: op.Alias | op.Map, need: Need | None, equal: Classes) -> Routes:
        if isinstance(plan, op.Map):
            meaning = {column.name: column.expression for column in plan.columns}
        else:
            meaning = renaming(plan.schema, plan.child.schema)
        inside = [tuple(substituted(one, meaning) for one in group) for group in equal]
        return self.routes(plan.child, below(need, meaning), classes_of((), inside))

    def _aggregate(self, plan: op.Aggregate, need: Need | None) -> Routes:
        if not plan.keys:
            raise reasons.one_group(plan)
        why = self._because(f"GROUP BY {', '.join(str(key.expression) for key in plan.keys)}")
        meaning = {key.name: key.expression for key in plan.keys}
        keys = [key.expression for key in plan.keys]
        return self.routes(plan.child, both(below(need, meaning), keys, why), ())

    def _first_rows(self, plan: op.FirstRows, need: Need | None) -> Routes:
        if not plan.partition_by:
            raise reasons.all_ordered()
        why = self._because(f"PARTITION BY {', '.join(map(str, plan.partition_by))}")
        own = {column.name: column for column in columns(plan.child.schema)}
        return self.routes(plan.child, both(below(need, own), plan.partition_by, why), ())

    def _window(self, plan: st.Window, need: Need | None) -> Routes:
        spec = plan.spec
        if isinstance(spec, Rows):
            if not spec.partition_by:
                raise reasons.all_counted(spec)
            why = self._because(f"PARTITION BY {', '.join(spec.partition_by)}")
            keys = [one for one in columns(plan.schema) if one.name in spec.partition_by]
            need = both(need, keys, why)
        if spec.added:
            own = {column.name: column for column in columns(plan.child.schema)}
            need = below(need, own)
        if st.is_stream(plan.child):
            return self.routes(plan.child, need, ())
        return self._compared(plan, need)

    def _compared(self, plan: st.Window | op.Distinct | Sender, need: Need | None) -> Routes:
        """Operators that net equal rows against each other: these must meet in one lane.

        Where rows never leave nothing is netted, except by DISTINCT.
        """
        child = plan.children[0]
        if pattern_of(child) is Pattern.MON and not isinstance(plan, op.Distinct):
            return self.routes(child, need, ())
        why = self._because(reasons.NAMES[type(plan)])
        return self.routes(child, both(need, columns(child.schema), why), ())

    def _sent(self, plan: Sender, need: Need | None) -> Routes:
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
            return self.routes(plan.child, need, ())
        return self._compared(plan, need)

    # Several inputs

    def _aligned(self, plan: op.UnionAll | op.BagOperation, need: Need | None) -> Routes:
        """Inputs whose rows meet column by column; UNION ALL itself compares nothing."""
        if not isinstance(plan, op.UnionAll):
            why = self._because(reasons.NAMES[type(plan)])
            need = both(need, columns(plan.schema), why)
        if need is None:
            return combined([self.routes(child, None, ()) for child in plan.children])
        keys = [*need.keys, *([] if need.exact else _joined_by(plan, need))]
        exact = [Need((key,), need.why, exact=True) for key in keys]
        return _any(exact, lambda one: self._children(plan, one))

    def _children(self, plan: Plan, need: Need) -> Routes:
        names = [renaming(plan.schema, child.schema) for child in plan.children]
        return combined(
            [
                self.routes(child, below(need, meaning), ())
                for child, meaning in zip(plan.children, names, strict=True)
            ]
        )

    def _inner(self, plan: Inner, need: Need | None, equal: Classes) -> Routes:
        pairs = equalities(plan.condition) if isinstance(plan, op.Join) else []
        known = classes_of(equal, pairs)
        for one, other in ((plan.left, plan.right), (plan.right, plan.left)):
            if self._is_whole(other):
                schema = one.schema
                return self.routes(one, within(need, schema, known), restricted(known, schema))
        return self._paired(plan, need, known, known)

    def _matching(self, plan: Matching, need: Need | None, equal: Classes) -> Routes:
        """Semi-join, anti-join and the like: what the condition equates holds in matches only."""
        equal = restricted(equal, plan.left.schema)
        known = classes_of(equal, equalities(plan.condition))
        kept = known if isinstance(plan, op.SemiJoin) else equal
        if self._is_whole(plan.right):
            left = plan.left.schema
            return self.routes(plan.left, within(need, left, kept), restricted(kept, left))
        return self._paired(plan, need, known, kept)

    def _paired(self, plan: Binary, need: Need | None, known: Classes, kept: Classes) -> Routes:
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
                    self.routes(plan.left, Need((one,), why, True), restricted(kept, left)),
                    self.routes(plan.right, Need((other,), why, True), restricted(known, right)),
                ]
            )
            if other not in told:
                told.add(other)
                self._because(why)
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

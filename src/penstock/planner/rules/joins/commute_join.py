"""Rule commute-join.

Joins that differ in the order of sides, or in names, become one, which is shared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import Call, Column, Expression, substituted
from penstock.algebra.plan import Named
from penstock.algebra.windows import Rows
from penstock.compute.evaluate import can_fail
from penstock.planner.conditions import conjuncts
from penstock.planner.equalities import joined
from penstock.planner.rewriting import parts_of
from penstock.planner.rules.rule import TogetherRule
from penstock.planner.sharing import merged

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from penstock.algebra.plan import Plan


FLIPPED = {">": "<", ">=": "<="}
SYMMETRIC = frozenset({"=", "<>", "is not distinct from", "is distinct from"})


class CommuteJoin(TogetherRule):
    """The cost of joins does not depend on the order of their sides, so the first one sets it.

    Of what is below INTERNAL, elements are told apart by all that they have: it stays as it is.
    """

    name = "commute-join"
    says = "joins that differ in the order of sides, or in names, become one, which is shared"

    def rewritten(self, plans: Sequence[Plan]) -> list[Plan]:
        """The plans in which such joins are as the first of them."""
        seen = merged(_Joined().of(plans))
        common = _Common(seen, [old == new for old, new in zip(plans, seen, strict=True)])
        made = [
            common.rebuilt(new) if common.concerns(number) else old
            for number, (old, new) in enumerate(zip(plans, seen, strict=True))
        ]
        return [old if old == new else new for old, new in zip(plans, made, strict=True)]


class _Joined:
    """Plans in which WHERE a.k = b.k over a product is the join that it runs as."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Plan, Plan]] = {}

    def of(self, plans: Sequence[Plan]) -> list[Plan]:
        """All plans."""
        return [self._of(plan) for plan in plans]

    def _of(self, plan: Plan) -> Plan:
        if id(plan) not in self._made:
            over = _rebuilt(plan, tuple(map(self._of, _inputs(plan))))
            self._made[id(plan)] = (plan, joined(over) if isinstance(over, op.Filter) else over)
        return self._made[id(plan)][1]


def _inputs(plan: Plan) -> tuple[Plan, ...]:
    """The inputs that are looked into."""
    return () if isinstance(plan, st.Internal) else parts_of(plan)[0]


def _rebuilt(plan: Plan, inputs: tuple[Plan, ...]) -> Plan:
    old = _inputs(plan)
    same = all(one is other for one, other in zip(old, inputs, strict=True))
    return plan if same else parts_of(plan)[1](inputs)


class _Common:
    """The joins of several plans, by what they are.

    Args:
        plans: The plans.
        as_given: Of each, whether it is as it was given, or has joins in the place of products.
    """

    def __init__(self, plans: Sequence[Plan], as_given: Sequence[bool]) -> None:
        self._forms = _Forms()
        self._made: dict[int, tuple[Plan, Plan]] = {}
        self._firsts: dict[int, Plan] = {}
        places: dict[int, list[tuple[int, int, bool]]] = {}
        for number, plan in enumerate(plans):
            for node in _different(plan):
                if isinstance(node, op.Join):
                    kind = self._forms.of(node).kind
                    self._firsts.setdefault(kind, node)
                    places.setdefault(kind, []).append((number, id(node), as_given[number]))
        # Joins that are one object, and were before, are found without this rule.
        self._concerned = {
            number
            for several in places.values()
            if len({(node, given) for _, node, given in several}) > 1
            for number, _, _ in several
        }

    def concerns(self, number: int) -> bool:
        """A plan with a join that stands elsewhere, too."""
        return number in self._concerned

    def rebuilt(self, plan: Plan) -> Plan:
        """A plan with the first join of each kind in the place of the others."""
        if id(plan) not in self._made:
            self._made[id(plan)] = (plan, self._rebuilt(plan))
        return self._made[id(plan)][1]

    def _rebuilt(self, plan: Plan) -> Plan:
        if isinstance(plan, op.Join):
            first = self._firsts[self._forms.of(plan).kind]
            if first is not plan:
                return _named(
                    self.rebuilt(first), self._forms.of(first), plan, self._forms.of(plan)
                )
        return _rebuilt(plan, tuple(map(self.rebuilt, _inputs(plan))))


def _different(plan: Plan) -> Iterator[Plan]:
    """The operators that are looked into, each once."""
    known: set[int] = set()
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if id(node) not in known:
            known.add(id(node))
            waiting += reversed(_inputs(node))
            yield node


def _named(made: Plan, has: _Form, like: Plan, wants: _Form) -> Plan:
    """A plan with the columns of another of the same kind, in its order and under its names."""
    source = dict(zip(wants.places, has.places, strict=True))
    fields = made.schema.fields
    return op.Map(
        made,
        tuple(
            Named(one.name, Column(fields[source[place]].name, fields[source[place]].type))
            for place, one in enumerate(like.schema)
        ),
    )


@dataclass(frozen=True)
class _Form:
    """A plan apart from names and sides.

    Args:
        kind: The same number for all plans that are the same.
        places: For each column, in an order that all of these have in common, its place.
    """

    kind: int
    places: tuple[int, ...]


class _Forms:
    """The forms of plans; those that are not taken apart here are what object they are."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, int] = {}
        self._known: dict[int, tuple[Plan, _Form]] = {}

    def of(self, plan: Plan) -> _Form:
        """The form of a plan."""
        if id(plan) not in self._known:
            self._known[id(plan)] = (plan, self._of(plan))
        return self._known[id(plan)][1]

    def _of(self, plan: Plan) -> _Form:
        match plan:
            case op.Alias():
                return self.of(plan.child)
            case st.Window():
                below = self.of(plan.child)
                added = range(len(plan.child.schema), len(plan.schema))
                places = (*below.places, *added)
                return self._form(("window", _spec(plan, below), below.kind), places)
            case op.Filter():
                below = self.of(plan.child)
                asked = _asked(plan.predicate, _columns(plan.child, below.places))
                return self._form(("filter", asked, below.kind), below.places)
            case op.Map():
                below = self.of(plan.child)
                known = _columns(plan.child, below.places)
                shown = tuple(substituted(one.expression, known) for one in plan.columns)
                return self._form(("map", shown, below.kind), tuple(range(len(shown))))
            case op.Join() | op.Product():
                return self._of_join(plan)
        return self._form(("object", id(plan)), tuple(range(len(plan.schema))))

    def _of_join(self, plan: op.Join | op.Product) -> _Form:
        """The side whose kind was seen first is the first; of two that are the same, either."""
        left, right = self.of(plan.left), self.of(plan.right)
        width = len(plan.left.schema)
        straight = (*left.places, *(width + one for one in right.places))
        swapped = (*straight[width:], *straight[:width])
        sides = ((left.kind, right.kind), straight), ((right.kind, left.kind), swapped)
        kinds = {
            (pair, _condition(plan, places)): places
            for pair, places in sides
            if pair == tuple(sorted(pair))
        }
        kind = min(kinds, key=lambda one: str(one[1]))
        return self._form(("join", *kind), kinds[kind])

    def _form(self, kind: Hashable, places: tuple[int, ...]) -> _Form:
        return _Form(self._kinds.setdefault(kind, len(self._kinds)), places)


def _columns(plan: Plan, places: Sequence[int]) -> dict[str, Expression]:
    """The columns of a plan, called by what they are."""
    fields = plan.schema.fields
    return {
        fields[place].name: Column(str(n), fields[place].type) for n, place in enumerate(places)
    }


def _condition(plan: op.Join | op.Product, places: Sequence[int]) -> Hashable:
    if isinstance(plan, op.Product):
        return None
    return _asked(plan.condition, _columns(plan, places))


def _asked(condition: Expression, known: Mapping[str, Expression]) -> Hashable:
    """The parts of a condition, in an order that does not depend on how it was written."""
    parts = [_turned(substituted(one, known)) for one in conjuncts(condition)]
    if can_fail(condition):
        # How often a part is asked, and fails, depends on those before.
        return tuple(parts)
    return tuple(sorted(dict.fromkeys(parts), key=str))


def _turned(part: Expression) -> Expression:
    """A comparison, its sides in one order."""
    match part:
        case Call(function, (first, second), of) if function in SYMMETRIC:
            return Call(function, tuple(sorted((first, second), key=str)), of)
        case Call(function, (first, second), of) if function in FLIPPED:
            return Call(FLIPPED[function], (second, first), of)
    return part


def _spec(plan: st.Window, below: _Form) -> Hashable:
    """The window; the columns by which it is partitioned called by what they are."""
    if not isinstance(plan.spec, Rows):
        return plan.spec
    known = _columns(plan.child, below.places)
    return replace(plan.spec, partition_by=tuple(str(known[one]) for one in plan.spec.partition_by))

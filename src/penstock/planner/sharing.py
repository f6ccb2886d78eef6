"""Sharing: equal subplans become one, and those that keep state stay whole."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING

from penstock.algebra import streams as st
from penstock.algebra.patterns import pattern_of
from penstock.algebra.plan import Plan, different_nodes
from penstock.planner.operator_facts import facts_of
from penstock.planner.rewriting import parts_first, parts_of
from penstock.planner.rules.rule import RuleContext

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence


def merged(plans: Sequence[Plan]) -> list[Plan]:
    """The plans with equal subplans as one object; themselves if there are none."""
    known: dict[Hashable, Plan] = {}
    made: dict[int, Plan] = {}
    for plan in plans:
        for node in different_nodes(plan):
            if id(node) not in made:
                one = with_inputs(node, tuple(made[id(child)] for child in node.children))
                made[id(node)] = known.setdefault(_identity(one), one)
    return [made[id(plan)] for plan in plans]


def reused(plans: Sequence[Plan]) -> list[tuple[int, int]]:
    """Of each plan, how many operators it has, as objects, and how many of these others have."""
    own = [{id(node) for node in different_nodes(plan)} for plan in plans]
    holders = Counter(node for nodes in own for node in nodes)
    return [(len(nodes), sum(holders[node] > 1 for node in nodes)) for nodes in own]


def with_inputs(plan: Plan, inputs: tuple[Plan, ...]) -> Plan:
    """The operator over these inputs; itself if they are its own."""
    same = all(old is new for old, new in zip(plan.children, inputs, strict=True))
    return plan if same else plan.rebuild(inputs)


def _identity(plan: Plan) -> Hashable:
    """The identity of an operator, its inputs by which objects they are."""
    own = [
        getattr(plan, one.name)
        for one in dataclasses.fields(plan)
        if not isinstance(getattr(plan, one.name), Plan) and one.name != "inputs"
    ]
    return (type(plan), *own, *map(id, plan.children))


class Shared:
    """Plans taken apart at the subplans which several places need and which keep state.

    In the place of such a subplan stands a leaf with its columns, so that no rule looks into it;
    it is rewritten on its own.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = list(plans)
        self._places: dict[int, RuleContext] = {}
        for plan in self._plans:
            self._visit(plan, RuleContext())
        nodes = parts_first(self._plans)
        needs = self._needs(nodes)
        self._cut = [
            node for node in nodes if len(needs[id(node)]) > 1 and facts_of(node).keeps_state
        ]
        self._leaves = {id(node): _leaf(node, f"#{n}") for n, node in enumerate(self._cut)}

    def _visit(self, plan: Plan, place: RuleContext) -> None:
        """Note where a plan stands; what is below it again, if another place says more."""
        known = self._places.get(id(plan))
        wider = place if known is None else known.and_at(place)
        self._places[id(plan)] = wider
        if known != wider:
            for one in parts_of(plan)[0]:
                self._visit(one, wider.below(plan))

    def _needs(self, nodes: Sequence[Plan]) -> dict[int, set[Hashable]]:
        """The needs for each plan: operators that keep state, or queries, through others."""
        found: dict[int, set[Hashable]] = {id(node): set() for node in nodes}
        for number, plan in enumerate(self._plans):
            found[id(plan)].add(("query", number))
        for node in reversed(nodes):
            above = {id(node)} if facts_of(node).keeps_state else found[id(node)]
            for port, one in enumerate(parts_of(node)[0]):
                found[id(one)] |= {(need, port) for need in above}
        return found

    def parts(self) -> Iterator[tuple[Plan, RuleContext]]:
        """The shared subplans, inner ones first, then the plans; with leaves inside."""
        for node in self._cut:
            yield self._opaque(node, is_whole=True), self._places[id(node)]
        for plan in self._plans:
            yield self._opaque(plan), RuleContext()

    def _opaque(self, plan: Plan, *, is_whole: bool = False) -> Plan:
        """The plan with a leaf in the place of each shared subplan; itself excepted."""
        if id(plan) in self._leaves and not is_whole:
            return self._leaves[id(plan)]
        inputs, rebuild = parts_of(plan)
        made = tuple(self._opaque(one) for one in inputs)
        same = all(old is new for old, new in zip(inputs, made, strict=True))
        return plan if same else rebuild(made)

    def whole(self, parts: Sequence[Plan]) -> list[Plan]:
        """The plans put together again from rewritten parts, in the order of `parts()`."""
        known: dict[str, Plan] = {}
        for node, part in zip(self._cut, parts, strict=False):
            known[self._leaves[id(node)].name] = _filled(part, known)
        return [_filled(part, known) for part in parts[len(self._cut) :]]

    def of_each(self, notes: Sequence[list[str]]) -> list[list[str]]:
        """Notes on the parts, in their order, as notes on the plans that they are in."""
        found = []
        for plan, own in zip(self._plans, notes[len(self._cut) :], strict=True):
            below = {id(node) for node in different_nodes(plan)}
            inner = [
                note
                for node, several in zip(self._cut, notes, strict=False)
                if id(node) in below
                for note in several
            ]
            found.append([*inner, *own])
        return found


def _leaf(plan: Plan, name: str) -> st.Exchanged:
    return st.Exchanged(name, plan.schema, plan.unit, pattern_of(plan), 1)


def _filled(plan: Plan, known: dict[str, Plan]) -> Plan:
    """The plan with subplans in the place of leaves."""
    if isinstance(plan, st.Exchanged):
        return known[plan.name]
    inputs, rebuild = parts_of(plan)
    made = tuple(_filled(one, known) for one in inputs)
    same = all(old is new for old, new in zip(inputs, made, strict=True))
    return plan if same else rebuild(made)

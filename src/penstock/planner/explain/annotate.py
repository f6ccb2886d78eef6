"""Notes on each operator of a plan that runs: pattern, structure, rates, state, cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from penstock.algebra.amounts import short_number, shown_rate, step_name, steps_in
from penstock.operators.source_specs import StreamSpec
from penstock.planner.cost.costs import Cost
from penstock.planner.explain.shown import all_shown
from penstock.planner.physical.multi_join_spec import MultiJoinSpec
from penstock.planner.statistics.statistics import ASSUMED, Statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.algebra.time import TimeUnit
    from penstock.planner.explain.shown import ShownOperator
    from penstock.planner.physical.graph import Node


class Annotations:
    """Notes on the operators of one plan.

    Args:
        top: The uppermost operator.
        unit: The unit of its time.
        shared: The names of other queries that have an operator, too, by its identity.
        known: What the estimates rely on.
    """

    def __init__(
        self,
        top: ShownOperator,
        unit: TimeUnit | None,
        shared: Mapping[str, Sequence[str]] | None = None,
        known: Statistics | None = None,
    ) -> None:
        self._unit = unit
        self._known = known or Statistics()
        self._nodes = all_shown(top)
        self._shared = {
            one.identity: names
            for one in self._nodes
            if (names := (shared or {}).get(one.identity))
        }
        self._marks = self._marked()

    def _marked(self) -> dict[str, Sequence[str]]:
        """The operators that say who shares them: none below one that the same queries share."""
        found = dict(self._shared)
        for node in self._nodes:
            own = self._shared.get(node.identity)
            for child in node.children:
                if own and own == self._shared.get(child.identity):
                    found.pop(child.identity, None)
        return found

    def note(self, one: ShownOperator) -> str:
        """One operator in a few words."""
        kept = " + ".join(dict.fromkeys(_structures(one.node)))
        found = one.node.estimate
        words = [kept] if kept else []
        if found is not None:
            words = [shown_rate(found.rate + found.withdrawn, self._unit)]
            if isinstance(one.node.spec, StreamSpec):
                words[0] += f" ({self._known.rate_origin(one.node.spec.source.name)})"
            if kept:
                size = short_number(found.size, "B")
                words.append(f"{kept} of {short_number(found.rows)} rows, {size}")
            words.append(self._time(found.time))
        if isinstance(one.node.spec, MultiJoinSpec):
            words.append(f"probing {_orders(one.node)}")
        others = self._marks.get(one.identity)
        if others:
            words.append(f"shared with {', '.join(sorted(others, key=_as_counted))}")
        return f"[{one.node.pattern.value}] {', '.join(words)}".rstrip()

    def price(self, cost: Cost) -> str:
        """The price of something in time and memory."""
        return f"{self._time(cost.time)}, {short_number(cost.size, 'B')}"

    @staticmethod
    def amount(number: float) -> str:
        """A number with about two digits."""
        return short_number(number)

    def _time(self, nanoseconds: float) -> str:
        """The time spent in a second, or a tick."""
        micros = nanoseconds * steps_in(self._unit) / 1000
        return f"{short_number(micros)} us/{step_name(self._unit)}"

    def json(self, one: ShownOperator) -> dict[str, Any]:
        """An operator and all below it, for programs; rates and costs per second, or per tick."""
        node, spec, per = one.node, one.node.spec, steps_in(self._unit)
        made: dict[str, Any] = {
            "operator": type(spec).__name__.removesuffix("Spec"),
            "label": node.label,
            "columns": [str(type_) for type_ in node.types],
            "pattern": node.pattern.value,
            "structures": _structures(node),
            "shared_with": list(self._shared.get(one.identity, ())),
        }
        if isinstance(spec, StreamSpec):
            made["rate_origin"] = self._known.rate_origin(spec.source.name)
        if isinstance(spec, MultiJoinSpec):
            made["orders"] = list(map(list, spec.orders))
        found = node.estimate
        if found is not None:
            made |= {
                "rows_per_time": (found.rate + found.withdrawn) * per,
                "withdrawn_per_time": found.withdrawn * per,
                "state_rows": found.rows,
                "state_bytes": found.size,
                "cost_us_per_time": found.time * per / 1000,
            }
        return made | {"inputs": [self.json(child) for child in one.children]}

    def _cost_of(self, nodes: Iterable[ShownOperator]) -> Cost:
        found = (one.node.estimate for one in nodes)
        each = (Cost(one.time, one.rows, one.size) for one in found if one is not None)
        return sum(each, Cost(0.0))

    def summary(self) -> str:
        """The whole plan."""
        total = f"{self._summed(self._cost_of(self._nodes))}{self._reservation()}"
        mine = [node for node in self._nodes if node.identity in self._shared]
        if not mine:
            return total
        names = {name for node in mine for name in self._shared[node.identity]}
        shared = self._summed(self._cost_of(mine))
        return f"{total}; of that shared with {', '.join(sorted(names, key=_as_counted))}: {shared}"

    def _reservation(self) -> str:
        """The streams of which nobody knows the rate."""
        assumed = [one for one in self._streams() if self._known.rate_origin(one) == ASSUMED]
        if not assumed:
            return ""
        rates, are = ("the rate", "is") if len(assumed) == 1 else ("the rates", "are")
        return f" ({rates} of {', '.join(assumed)} {are} assumed)"

    def _streams(self) -> list[str]:
        specs = (one.node.spec for one in self._nodes)
        return sorted({one.source.name for one in specs if isinstance(one, StreamSpec)})

    def _summed(self, cost: Cost) -> str:
        state = f"{short_number(cost.rows)} rows of state, {short_number(cost.size, 'B')}"
        return f"{self._time(cost.time)} of one core, {state}"

    def totals(self) -> dict[str, Any]:
        """The same for programs, and of which time."""
        total = self._cost_of(self._nodes)
        return {
            "time_unit": None if self._unit is None else self._unit.value,
            "time": {"s": "second", "tick": "tick"}[step_name(self._unit)],
            "state_rows": total.rows,
            "state_bytes": total.size,
            "cost_us_per_time": total.time * steps_in(self._unit) / 1000,
        }


def _as_counted(name: str) -> list[tuple[int, str]]:
    """A name for sorting; numbers in it come in their order.

    >>> sorted(["query 10", "query 2"], key=_as_counted)
    ['query 2', 'query 10']
    """
    parts = re.split("([0-9]+)", name)
    return [(int(one), "") if one.isdecimal() else (-1, one) for one in parts]


def _structures(node: Node) -> list[str]:
    return [one.name for one in node.spec.structures()]


def _orders(node: Node) -> str:
    """In which order the rows of each input of a join of many probe the others."""
    names, spec = node.names, node.spec
    assert isinstance(spec, MultiJoinSpec)
    return "; ".join(
        f"{name}: {' '.join(names[place] for place in order)}"
        for name, order in zip(names, spec.orders, strict=True)
    )

"""Notes on each operator of a plan that runs: pattern, structure, rates, state, cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from penstock.planner.cost.costs import Cost
from penstock.planner.explain.shown import all_shown
from penstock.planner.physical.multi_join_spec import MultiJoinSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.algebra.time import TimeUnit
    from penstock.planner.explain.shown import ShownOperator
    from penstock.planner.physical.graph import Node

LEAST = 0.0005
"""What is less is shown as nothing."""
THOUSANDS = ("", "k", "M", "G", "T")


class Annotations:
    """Notes on the operators of one plan.

    Args:
        top: The uppermost operator.
        unit: The unit of its time.
        shared: The names of other queries that have an operator, too, by its identity.
    """

    def __init__(
        self,
        top: ShownOperator,
        unit: TimeUnit | None,
        shared: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._unit = unit
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
            rows = _short((found.rate + found.withdrawn) * _per(self._unit))
            words = [f"{rows} rows/{_step(self._unit)}"]
            if kept:
                words.append(f"{kept} of {_short(found.rows)} rows, {_short(found.size, 'B')}")
            words.append(self._time(found.time))
        if isinstance(one.node.spec, MultiJoinSpec):
            words.append(f"probing {_orders(one.node)}")
        others = self._marks.get(one.identity)
        if others:
            words.append(f"shared with {', '.join(sorted(others, key=_as_counted))}")
        return f"[{one.node.pattern.value}] {', '.join(words)}".rstrip()

    def price(self, cost: Cost) -> str:
        """The price of something in time and memory."""
        return f"{self._time(cost.time)}, {_short(cost.size, 'B')}"

    @staticmethod
    def amount(number: float) -> str:
        """A number with about two digits."""
        return _short(number)

    def _time(self, nanoseconds: float) -> str:
        """The time spent in a second, or a tick."""
        return f"{_short(nanoseconds * _per(self._unit) / 1000)} us/{_step(self._unit)}"

    def json(self, one: ShownOperator) -> dict[str, Any]:
        """An operator and all below it, for programs; rates and costs per second, or per tick."""
        node, spec, per = one.node, one.node.spec, _per(self._unit)
        made: dict[str, Any] = {
            "operator": type(spec).__name__.removesuffix("Spec"),
            "label": node.label,
            "columns": [str(type_) for type_ in node.types],
            "pattern": node.pattern.value,
            "structures": _structures(node),
            "shared_with": list(self._shared.get(one.identity, ())),
        }
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
        total = self._summed(self._cost_of(self._nodes))
        mine = [node for node in self._nodes if node.identity in self._shared]
        if not mine:
            return total
        names = {name for node in mine for name in self._shared[node.identity]}
        shared = self._summed(self._cost_of(mine))
        return f"{total}; of that shared with {', '.join(sorted(names, key=_as_counted))}: {shared}"

    def _summed(self, cost: Cost) -> str:
        state = f"{_short(cost.rows)} rows of state, {_short(cost.size, 'B')}"
        return f"{self._time(cost.time)} of one core, {state}"

    def totals(self) -> dict[str, Any]:
        """The same for programs, and of which time."""
        total = self._cost_of(self._nodes)
        return {
            "time_unit": None if self._unit is None else self._unit.value,
            "time": {"s": "second", "tick": "tick"}[_step(self._unit)],
            "state_rows": total.rows,
            "state_bytes": total.size,
            "cost_us_per_time": total.time * _per(self._unit) / 1000,
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


def _per(unit: TimeUnit | None) -> float:
    """Steps in a second, or one tick."""
    return 1.0 if unit is None or unit.micros is None else 1e6 / unit.micros


def _step(unit: TimeUnit | None) -> str:
    return "tick" if unit is None or unit.micros is None else "s"


def _short(number: float, unit: str = "") -> str:
    """A number with about two digits, a letter for thousands, and its unit."""
    if number < LEAST:
        return f"0 {unit}".rstrip()
    size = 0
    while number >= 1000 and size < len(THOUSANDS) - 1:
        number /= 1000
        size += 1
    text = f"{number:.0f}" if number >= 10 else f"{number:.2g}"
    return f"{text} {THOUSANDS[size]}{unit}" if unit else f"{text}{THOUSANDS[size]}"

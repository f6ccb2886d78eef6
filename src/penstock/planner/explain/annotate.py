"""What is said about each operator of a plan that runs: pattern, structure, rates, state, cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from penstock.algebra.plan import different_nodes
from penstock.planner.cost.costs import Cost, Costs
from penstock.planner.physical.multiway import Multiway

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.algebra.time import TimeUnit
    from penstock.planner.physical.building import Choices
    from penstock.planner.statistics.statistics import Statistics

LEAST = 0.0005
"""What is less is shown as nothing."""
THOUSANDS = ("", "k", "M", "G", "T")


class Annotations:
    """Notes on the operators of one plan, under given choices and statistics.

    `shared` says which operators other queries have, too: their names, by operator.
    """

    def __init__(
        self,
        plan: Plan,
        choices: Choices,
        statistics: Statistics | None = None,
        shared: Mapping[int, Sequence[str]] | None = None,
    ) -> None:
        self._unit = plan.unit
        self._costs = Costs(plan, choices, statistics)
        self._nodes = different_nodes(plan)
        self._shared = shared or {}
        self._marks = self._marked()

    def _marked(self) -> dict[int, Sequence[str]]:
        """Where it is said who shares an operator: not below one that the same queries share."""
        found = dict(self._shared)
        for node in reversed(self._nodes):
            own = self._shared.get(id(node))
            for child in node.children:
                if own and own == self._shared.get(id(child)):
                    found.pop(id(child), None)
        return found

    def structures(self, plan: Plan) -> list[str]:
        """Where an operator keeps rows, input by input; none, if it keeps none."""
        return [one.structure for one in self._costs.keeping.of(plan)]

    def note(self, plan: Plan) -> str:
        """One operator in a few words."""
        flow, cost = self._costs.estimates.of(plan), self._costs.of(plan)
        rows = _short((flow.rate + flow.withdrawn) * _per(self._unit))
        words = [f"{rows} rows/{_step(self._unit)}"]
        kept = self.structures(plan)
        if kept:
            structure = " + ".join(dict.fromkeys(kept))
            words.append(f"{structure} of {_short(cost.rows)} rows, {_short(cost.size, 'B')}")
        words.append(self._time(cost.time))
        if isinstance(plan, Multiway):
            words.append(f"probing {_orders(plan)}")
        others = self._marks.get(id(plan))
        if others:
            words.append(f"shared with {', '.join(sorted(others, key=_as_counted))}")
        return f"[{self._costs.pattern(plan).value}] {', '.join(words)}"

    def price(self, cost: Cost) -> str:
        """What something takes of time and memory."""
        return f"{self._time(cost.time)}, {_short(cost.size, 'B')}"

    @staticmethod
    def amount(number: float) -> str:
        """A number with about two digits."""
        return _short(number)

    def _time(self, nanoseconds: float) -> str:
        """What is spent in a second, or a tick."""
        return f"{_short(nanoseconds * _per(self._unit) / 1000)} us/{_step(self._unit)}"

    def facts(self, plan: Plan) -> dict[str, Any]:
        """The same for programs; rates and costs per second, or per tick."""
        flow, cost = self._costs.estimates.of(plan), self._costs.of(plan)
        per = _per(self._unit)
        orders = {"orders": list(map(list, plan.orders))} if isinstance(plan, Multiway) else {}
        return {
            "pattern": self._costs.pattern(plan).value,
            **orders,
            "structures": self.structures(plan),
            "rows_per_time": (flow.rate + flow.withdrawn) * per,
            "withdrawn_per_time": flow.withdrawn * per,
            "state_rows": cost.rows,
            "state_bytes": cost.size,
            "cost_us_per_time": cost.time * per / 1000,
            "shared_with": list(self._shared.get(id(plan), ())),
        }

    def summary(self) -> str:
        """The whole plan."""
        total = self._summed(self._costs.total)
        mine = [node for node in self._nodes if id(node) in self._shared]
        if not mine:
            return total
        names = {name for node in mine for name in self._shared[id(node)]}
        shared = self._summed(sum(map(self._costs.of, mine), Cost(0.0)))
        return f"{total}; of that shared with {', '.join(sorted(names, key=_as_counted))}: {shared}"

    def _summed(self, cost: Cost) -> str:
        state = f"{_short(cost.rows)} rows of state, {_short(cost.size, 'B')}"
        return f"{self._time(cost.time)} of one core, {state}"

    def totals(self) -> dict[str, Any]:
        """The same for programs, and of which time."""
        total = self._costs.total
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


def _orders(plan: Multiway) -> str:
    """In which order the rows of each input probe the others."""
    names = plan.names
    return "; ".join(
        f"{name}: {' '.join(names[place] for place in order)}"
        for name, order in zip(names, plan.orders, strict=True)
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

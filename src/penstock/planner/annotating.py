"""What is said about each operator of a plan that runs: pattern, structure, rates, state, cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.patterns import Pattern
from penstock.algebra.windows import Rows
from penstock.planner.costs import Costs
from penstock.planner.multiway import Multiway

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.algebra.time import TimeUnit
    from penstock.planner.building import Choices
    from penstock.planner.costs import Cost
    from penstock.planner.statistics import Statistics

KEEPS_INPUTS = (
    op.Product, op.Join, op.SemiJoin, op.AntiJoin, op.GroupJoin, op.ScalarProduct,
    op.BagOperation, op.Distinct, op.Aggregate, st.RelationToStream, Multiway,
)  # fmt: skip
LEAST = 0.0005
"""What is less is shown as nothing."""
THOUSANDS = ("", "k", "M", "G", "T")


class Annotations:
    """Notes on the operators of one plan, under given choices and statistics."""

    def __init__(self, plan: Plan, choices: Choices, statistics: Statistics | None = None) -> None:
        self._choices = choices
        self._unit = plan.unit
        self._costs = Costs(plan, choices, statistics)

    def structures(self, plan: Plan) -> list[str]:
        """Where an operator keeps the rows of each input; none, if it keeps none."""
        if isinstance(plan, st.Window) and isinstance(plan.spec, Rows):
            return ["fifo"]
        if not isinstance(plan, KEEPS_INPUTS):
            return []
        if isinstance(plan, op.Distinct) and self._costs.pattern(plan.child) is not Pattern.STR:
            # Values end with their youngest copies, in any order.
            return [f"calendar({self._choices.queue_partitions})"]
        return [self._structure(plan, port) for port in range(len(plan.children))]

    def _structure(self, plan: Plan, port: int) -> str:
        pattern = self._costs.pattern(plan.children[port])
        if pattern in (Pattern.MON, Pattern.WKS):
            return "fifo"
        if pattern is Pattern.STR and self._costs.is_indexed(plan, port):
            return "hashed"
        return f"calendar({self._choices.queue_partitions})"

    def note(self, plan: Plan) -> str:
        """One operator in a few words."""
        flow, cost = self._costs.estimates.of(plan), self._costs.of(plan)
        rows = _short((flow.rate + flow.withdrawn) * _per(self._unit))
        words = [f"{rows} rows/{_step(self._unit)}"]
        kept = self.structures(plan)
        if kept:
            structure = " + ".join(kept) if len(set(kept)) > 1 else kept[0]
            words.append(f"{structure} of {_short(cost.rows)} rows, {_short(cost.size, 'B')}")
        words.append(self._time(cost.time))
        if isinstance(plan, Multiway):
            words.append(f"probing {_orders(plan)}")
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
            **orders,
            "structures": self.structures(plan),
            "rows_per_time": (flow.rate + flow.withdrawn) * per,
            "withdrawn_per_time": flow.withdrawn * per,
            "state_rows": cost.rows,
            "state_bytes": cost.size,
            "cost_us_per_time": cost.time * per / 1000,
        }

    def summary(self) -> str:
        """The whole plan."""
        total = self._costs.total
        state = f"{_short(total.rows)} rows of state, {_short(total.size, 'B')}"
        return f"{self._time(total.time)} of one core, {state}"


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

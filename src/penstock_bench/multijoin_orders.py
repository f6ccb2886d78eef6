"""All global orders of four windows, and what the cost model says of them: the paper's Table 8."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from rich.table import Table

from penstock.planner.cost.join_orders import all_orders
from penstock_bench.kernels import SectionOutcome
from penstock_bench.multijoin_sections import (
    AnswerSample,
    MeasuringPoint,
    look_at,
    tell,
    way_figures,
)
from penstock_bench.multijoin_traffic import TABLE_5
from penstock_bench.multijoin_ways import MultiwayWay, Plain, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock.planner.cost.join_model import JoinModel, Order
    from penstock_bench.multijoin_run import MeasuredWay, WayEffort
    from penstock_bench.multijoin_traffic import StreamTraffic
    from penstock_bench.multijoin_ways import Way
    from penstock_bench.report import Figures

SAMPLE = AnswerSample(
    replace(TABLE_5, windows=(20, 20, 40, 20), values=(100, 10, 8, 1)).every(5), 12
)
"""The windows of Table 5, shorter."""
LARGE_STEP = 10_000
"""Rows that come at once where it is not the paper that says how many."""


PAPER: dict[tuple[int, Timing, int], tuple[int, int]] = {
    (1, "eager", 1): (1614, 333),
    (1, "lazy", 5): (1446, 296),
    (5, "eager", 1): (11540, 2524),
    (5, "lazy", 5): (8420, 2041),
}
"""Table 8 by buckets, timing, and units of time from evaluation to evaluation: the rates of the
best and the worst order. Where the paper evaluates at each tuple, here it is at each unit of time.
"""


class OrderedWay(Protocol):
    """A way to join, in some order."""

    def __call__(self, order: Order) -> Way:
        """The way in an order."""


@dataclass(frozen=True)
class Variant:
    """An algorithm of the paper, or ours.

    Args:
        name: What it is called.
        way: In some order.
        traffic: What it is measured with.
        model: Of its cost.
        paper: The rates of the best and the worst order in the paper, if it has them.
    """

    name: str
    way: OrderedWay
    traffic: StreamTraffic
    model: JoinModel
    paper: tuple[int, int] | None = None


@dataclass(frozen=True)
class Ranked:
    """A variant in all orders."""

    variant: Variant
    agreed: int
    orders: Mapping[Order, MeasuredWay]

    @property
    def by_model(self) -> tuple[Order, Order]:
        """The best and the worst order, as the model says."""
        ordered = sorted(self.orders, key=self.variant.model.cost)
        return ordered[0], ordered[-1]

    @property
    def by_rate(self) -> tuple[Order, Order]:
        """The best and the worst order, as measured."""
        ordered = sorted(self.orders, key=lambda one: self.orders[one].least)
        return ordered[0], ordered[-1]

    @property
    def measured_ratio(self) -> float:
        """The factor by which the model's best order is faster than its worst."""
        best, worst = self.by_model
        return self.orders[best].rate / self.orders[worst].rate

    @property
    def model_ratio(self) -> float:
        """The same factor, as the model says."""
        best, worst = (self.variant.model.cost(one) for one in self.by_model)
        return worst / best

    @property
    def correlation(self) -> float:
        """Of the ranks of orders by the model and as measured."""
        costs = [self.variant.model.cost(one) for one in self.orders]
        times = [one.least for one in self.orders.values()]
        by_cost, by_time = (np.argsort(np.argsort(one)) for one in (costs, times))
        return float(np.corrcoef(by_cost, by_time)[0, 1])


@dataclass(frozen=True)
class Orders:
    """The section: each variant in all orders."""

    effort: WayEffort
    name: str = "orders"

    @property
    def items(self) -> Sequence[Variant]:
        """The items that are measured."""
        return variants(self.effort.scale)

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Measure one variant after the other; `done` is called after each."""
        found = []
        for variant in self.items:
            orders = {_name(order): order for order in all_orders(variant.model)}
            ways = {name: variant.way(order) for name, order in orders.items()}
            point = MeasuringPoint("", 0, variant.traffic, ways, SAMPLE)
            agreed, measured = look_at(point, self.effort)
            by_order = {orders[name]: one for name, one in measured.items()}
            found.append(Ranked(variant, agreed, by_order))
            done()
            tell(f"{self.name}: {variant.name}")
        return SectionOutcome(
            self.name, _table(found), {one.variant.name: _figures(one) for one in found}
        )


def variants(scale: int) -> list[Variant]:
    """The variants of the paper, beside others: plain loops and tables of any size."""
    base = TABLE_5.scaled(scale)
    made = [
        Variant("nested loop, tuple by tuple", Plain, base.every(scale), _model(base, 1)),
        Variant(
            "5 buckets, tuple by tuple",
            lambda order: Plain(order, (5, 5, 5, 5)),
            base.every(scale),
            _model(base, 5),
        ),
    ]
    for (buckets, timing, interval), paper in PAPER.items():
        name = "nested loop" if buckets == 1 else f"{buckets} buckets"
        made.append(
            Variant(
                f"{name}, {timing}",
                partial(MultiwayWay, timing=timing, buckets=(buckets,) * 4),
                base.every(interval * scale),
                _model(base, buckets).lazily(interval * scale if timing == "lazy" else 0),
                paper,
            )
        )
    large = replace(base, step_rows=LARGE_STEP)
    return [*made, Variant("tables", MultiwayWay, large, _model(base, None))]


def _model(traffic: StreamTraffic, buckets: float | None) -> JoinModel:
    return traffic.model((buckets,) * 4)


def _name(order: Order) -> str:
    """An order as the paper writes it."""
    return "".join(str(one + 1) for one in order)


def _table(found: Sequence[Ranked]) -> Table:
    """A row for each variant."""
    title = "Four windows (Table 5) in all orders: k tuples/s in the model's best and worst order"
    table = Table(title=title, title_justify="left", title_style="bold")
    columns = (
        "", "rows at once", "best", "k tuples/s", "worst", "k tuples/s", "ratio", "model's ratio",
        "paper's ratio", "fastest", "slowest", "rank correlation",
    )  # fmt: skip
    for column in columns:
        table.add_column(column, justify="right" if column else "left")
    for one in found:
        paper = one.variant.paper
        cells = [
            cell
            for order in one.by_model
            for cell in (_name(order), f"{one.orders[order].rate / 1e3:,.1f}")
        ]
        table.add_row(
            one.variant.name,
            f"{one.variant.traffic.step_rows:,}",
            *cells,
            f"{one.measured_ratio:.2f}",
            f"{one.model_ratio:.2f}",
            f"{paper[0] / paper[1]:.2f}" if paper else "",
            *(_name(order) for order in one.by_rate),
            f"{one.correlation:.2f}",
        )
    return table


def _figures(one: Ranked) -> Figures:
    """A variant, with every order."""
    best = one.orders[one.by_model[0]]
    made: Figures = {
        "best_by_model": _name(one.by_model[0]),
        "worst_by_model": _name(one.by_model[1]),
        "best_measured": _name(one.by_rate[0]),
        "worst_measured": _name(one.by_rate[1]),
        "ratio": round(one.measured_ratio, 3),
        "model_ratio": round(one.model_ratio, 3),
        "paper_rates": one.variant.paper,
        "rank_correlation": round(one.correlation, 3),
        "step_rows": one.variant.traffic.step_rows,
        "results_agreed_on": one.agreed,
        "orders": {
            _name(order): {"model_cost": one.variant.model.cost(order), **way_figures(cost, best)}
            for order, cost in one.orders.items()
        },
    }
    return made

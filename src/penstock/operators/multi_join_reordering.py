"""Joins of many inputs that probe in another order when rows come at other rates than thought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.operators.multi_join import MultiJoin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.operators.block import Block
    from penstock.operators.join_sides import JoinSide
    from penstock.operators.multi_join import Evaluation, Expiration, Theta

Orders = tuple[tuple[int, ...], ...]

LEAST_ROWS = 4096
"""Fewer rows say too little of how often they come."""
DRIFT = 2.0
"""By this factor a rate has to differ from the one that the orders were chosen for."""
STATE_SHARE = 4
"""At least one row has come for so many that are kept: other orders may need other hash tables."""


@dataclass(frozen=True)
class Ordering:
    """Orders to begin with, the rates that they were chosen for, and how others are chosen.

    `choose` is given rates and the orders that are in use.
    """

    orders: Orders
    rates: Sequence[float]
    choose: Callable[[Sequence[float], Orders], Orders]


class ReorderingJoin(MultiJoin):
    """Counts the rows of each input by event time, and changes its orders between two steps.

    What it decides follows from the rows of its steps alone, never from a clock on the wall: the
    same rows lead to the same orders. Its answers do not depend on them.

    A lane gets a share of the rows: which one is told by those that come first.
    """

    def __init__(
        self,
        inputs: Sequence[JoinSide],
        agreements: Sequence[tuple[int, ...]],
        thetas: Sequence[Theta],
        ordering: Ordering,
        *,
        evaluation: Evaluation = "lazy",
        expiration: Expiration = "lazy",
        expected: Sequence[int] | None = None,
    ) -> None:
        orders = ordering.orders
        super().__init__(
            inputs,
            agreements,
            thetas,
            orders,
            evaluation=evaluation,
            expiration=expiration,
            expected=expected,
        )
        self.orders = orders
        self.reordered = 0
        self._rates = list(ordering.rates)
        self._choose = ordering.choose
        self._share: float | None = None
        self._forget()

    def _forget(self) -> None:
        self._came = [0] * len(self._rates)
        self._span: tuple[int, int] | None = None

    def process(self, port: int, block: Block) -> Sequence[Block]:
        """Count the rows, and keep them until all of their step have come."""
        if len(block):
            first, latest = int(block.ts.min()), int(block.ts.max())
            before = self._span or (first, latest)
            self._span = (min(first, before[0]), max(latest, before[1]))
            self._came[port] += len(block)
        return super().process(port, block)

    def advance(self, clock: int) -> Sequence[Block]:
        """The combinations that begin in this step; then perhaps other orders."""
        made = super().advance(clock)
        if sum(self._came) >= max(LEAST_ROWS, self.state_rows // STATE_SHARE):
            self._consider()
            self._forget()
        return made

    def _consider(self) -> None:
        assert self._span is not None
        steps = self._span[1] - self._span[0] + 1
        rates = [came / steps for came in self._came]
        if self._share is None:
            self._share = sum(rates) / max(sum(self._rates), 1e-12)
        # An input of which nothing came may still send a row.
        rates = [max(rate, 0.5 / steps) / self._share for rate in rates]
        if not any(_differ(*pair) for pair in zip(rates, self._rates, strict=True)):
            return
        self._rates = rates
        orders = self._choose(rates, self.orders)
        if orders != self.orders:
            self.reorder(orders)
            self.orders = orders
            self.reordered += 1


def _differ(one: float, other: float) -> bool:
    return max(one, other) > DRIFT * min(one, other)

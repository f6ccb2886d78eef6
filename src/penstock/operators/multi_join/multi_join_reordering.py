"""Joins of many inputs that probe in another order when rows come at other rates than thought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.operators.multi_join.multi_join import MultiJoin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from penstock.operators.block import Block
    from penstock.operators.join.join_sides import JoinSide
    from penstock.operators.multi_join.multi_join import Evaluation, Expiration, Theta
    from penstock.operators.multi_join.multi_join_probes import Levels
    from penstock.operators.operator import Inputs
    from penstock.state.arrays import Ints

Orders = tuple[tuple[int, ...], ...]

LEAST_ROWS = 4096
"""Fewer rows say too little of how often they come."""
DRIFT = 2.0
"""By this factor a rate or size has to differ from that which the orders were chosen for."""
STATE_SHARE = 4
"""At least one row has come for so many that are kept: other orders may need other hash tables."""


@dataclass(frozen=True)
class Chosen:
    """For the rows of each input: the order of probes, and behind how many each condition is asked.

    Conditions are asked as soon as they can be if `levels` is None.
    """

    orders: Orders
    levels: tuple[Levels, ...] | None = None


@dataclass(frozen=True)
class JoinOrders:
    """Orders to begin with, what they were chosen for, and how others are chosen.

    Args:
        chosen: The orders.
        rates: How many rows of each input come in a step of time, to all lanes together.
        sizes: How many each has at a time.
        choose: Is given rates, sizes and the orders that are in use.
        share: Of all rows, that which comes to a lane, about.
        counted: The inputs whose size does not follow from the rate; that of others is not asked.
    """

    chosen: Chosen
    rates: Sequence[float]
    sizes: Sequence[float]
    choose: Callable[[Sequence[float], Sequence[float], Orders], Chosen]
    share: float = 1.0
    counted: Collection[int] = ()


class ReorderingJoin(MultiJoin):
    """Counts the rows of each input by event time, and changes its orders between two steps.

    What it decides follows from the rows of its steps alone, never from a clock on the wall: the
    same rows lead to the same orders. Its answers do not depend on them.

    A lane takes its rows for an equal share of all. One that has more, because of a frequent key,
    sees higher rates; so are the windows larger that are there, whatever they count.
    """

    def __init__(
        self,
        inputs: Sequence[JoinSide],
        agreements: Sequence[tuple[int, ...]],
        thetas: Sequence[Theta],
        ordering: JoinOrders,
        *,
        evaluation: Evaluation = "lazy",
        expiration: Expiration = "lazy",
        expected: Sequence[int] | None = None,
    ) -> None:
        super().__init__(
            inputs,
            agreements,
            thetas,
            ordering.chosen.orders,
            levels=ordering.chosen.levels,
            evaluation=evaluation,
            expiration=expiration,
            expected=expected,
        )
        self.reordered = 0
        self._chosen = ordering.chosen
        self._ordering = ordering
        self._rates = list(ordering.rates)
        self._sizes = list(ordering.sizes)
        self._forget()

    @property
    def orders(self) -> Orders:
        """Those in use."""
        return self._chosen.orders

    def _forget(self) -> None:
        self._came = [0] * len(self._rates)
        self._span: tuple[int, int] | None = None

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The combinations that begin in this step; then perhaps other orders."""
        for port, blocks in enumerate(inputs):
            for block in blocks:
                self._count(port, block.ts)
        made = super().step(inputs, clock)
        if sum(self._came) >= max(LEAST_ROWS, self.state_rows // STATE_SHARE):
            self._consider()
            self._forget()
        return made

    def _count(self, port: int, ts: Ints) -> None:
        # What is there from the beginning, such as the first rows of a relation, has no rate.
        ts = ts[ts > BEGINNING]
        if len(ts):
            first, latest = int(ts.min()), int(ts.max())
            before = self._span or (first, latest)
            self._span = (min(first, before[0]), max(latest, before[1]))
            self._came[port] += len(ts)

    def _consider(self) -> None:
        assert self._span is not None
        steps, share = self._span[1] - self._span[0] + 1, self._ordering.share
        # An input of which nothing came may still send a row, or have one.
        rates = [max(came, 0.5) / steps / share for came in self._came]
        sizes = [
            max(len(rows), 0.5) / share if number in self._ordering.counted else size
            for number, (rows, size) in enumerate(zip(self._rows, self._sizes, strict=True))
        ]
        if not _differ(rates, self._rates) and not _differ(sizes, self._sizes):
            return
        self._rates, self._sizes = rates, sizes
        chosen = self._ordering.choose(rates, sizes, self.orders)
        if chosen != self._chosen:
            self.reorder(chosen.orders, chosen.levels)
            self.reordered += chosen.orders != self.orders
            self._chosen = chosen


def _differ(some: Sequence[float], others: Sequence[float]) -> bool:
    return any(
        max(one, other) > DRIFT * min(one, other) for one, other in zip(some, others, strict=True)
    )

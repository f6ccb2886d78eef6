"""Ways to join many windows: the operator, a tree of joins of two, and plain loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol

from penstock.algebra.patterns import Pattern
from penstock.operators.join.join import JoinOperator
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.multi_join.multi_join import MultiJoin
from penstock.operators.operator import stepped
from penstock_bench.multijoin_loops import Loops
from penstock_bench.multijoin_traffic import INSTANT, VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.operator import Segments
    from penstock.planner.cost.join_model import Order
    from penstock_bench.multijoin_traffic import StreamTraffic, TrafficStep

TYPES = (VALUE, INSTANT)
Timing = Literal["eager", "lazy"]
"""Each row looks for others by itself, and what has ended leaves at each step; or neither."""


class Running(Protocol):
    """A join that runs."""

    def fill(self, traffic: StreamTraffic) -> None:
        """Let windows be full."""

    def step(self, step: TrafficStep) -> list[Block]:
        """The results of the rows of a step."""

    @property
    def state_bytes(self) -> int:
        """The bytes of its state."""


@dataclass(frozen=True)
class MultiwayWay:
    """The operator, probing in one global order.

    Args:
        order: None: that of the inputs.
        timing: Of evaluation and expiration.
        buckets: Of the hash table of each window, 1 for nested loops; None: as rows need.
    """

    order: Order | None = None
    timing: Timing = "lazy"
    buckets: tuple[int, ...] | None = None

    def running(self, traffic: StreamTraffic) -> Running:
        """A join with empty windows."""
        inputs = len(traffic.rates)
        order = self.order or tuple(range(inputs))
        orders = [tuple(one for one in order if one != origin) for origin in range(inputs)]
        sides = [_side(TYPES, Pattern.WKS, length) for length in traffic.lengths]
        join = MultiJoin(
            sides,
            [(0,)] * inputs,
            [],
            orders,
            evaluation=self.timing,
            expiration=self.timing,
            expected=traffic.live,
            buckets=self.buckets,
        )
        return _Operator(join)


@dataclass(frozen=True)
class TreeWay:
    """A tree of joins of two, each of which keeps the results of the one below."""

    def running(self, traffic: StreamTraffic) -> Running:
        """Joins with empty windows."""
        return _Joins(traffic)


@dataclass(frozen=True)
class Plain:
    """Loops over the rows of windows, or of one of their buckets, for one tuple after the other."""

    order: Order | None = None
    buckets: tuple[int, ...] | None = None
    naive: bool = False

    def running(self, traffic: StreamTraffic) -> Loops:
        """Loops over empty windows."""
        inputs = len(traffic.rates)
        order, buckets = self.order or tuple(range(inputs)), self.buckets or (1,) * inputs
        return Loops(traffic, order, buckets, naive=self.naive)


Way = MultiwayWay | TreeWay | Plain


class _Operator:
    """The operator by itself, without a lane."""

    def __init__(self, operator: MultiJoin) -> None:
        self.operator = operator

    def fill(self, traffic: StreamTraffic) -> None:
        self.operator.restore(_full_windows(traffic))

    def step(self, step: TrafficStep) -> list[Block]:
        return stepped(self.operator, [[block] for block in step.blocks], step.clock)

    @property
    def state_bytes(self) -> int:
        return self.operator.state_bytes


@lru_cache(maxsize=1)
def _full_windows(traffic: StreamTraffic) -> Segments:
    """The state that any choice of orders and tables has then: nested loops fill too slowly."""
    running = MultiwayWay().running(traffic)
    assert isinstance(running, _Operator)
    for number in range(traffic.steps_to_fill):
        running.step(traffic.step(number))
    return running.operator.segments()


class _Joins:
    """A left-deep tree, in the order of the inputs."""

    def __init__(self, traffic: StreamTraffic) -> None:
        self._joins = []
        for below, length in enumerate(traffic.lengths[1:], 1):
            # What a join finds ends in another order than it begins.
            pattern = Pattern.WKS if below == 1 else Pattern.WK
            left = _side(TYPES * below, pattern, min(traffic.lengths[:below]))
            self._joins.append(JoinOperator(left, _side(TYPES, Pattern.WKS, length)))

    def fill(self, traffic: StreamTraffic) -> None:
        for number in range(traffic.steps_to_fill):
            self.step(traffic.step(number))

    def step(self, step: TrafficStep) -> list[Block]:
        found, *others = ([block] for block in step.blocks)
        for join, blocks in zip(self._joins, others, strict=True):
            found = stepped(join, [found, blocks], step.clock)
        return found

    @property
    def state_bytes(self) -> int:
        return sum(join.state_bytes for join in self._joins)


def _side(types: Sequence[pa.DataType], pattern: Pattern, span: int) -> JoinSide:
    return JoinSide(types, _first_column, (False,), pattern, span)


def _first_column(block: Block) -> Sequence[pa.Array]:
    return block.columns[:1]

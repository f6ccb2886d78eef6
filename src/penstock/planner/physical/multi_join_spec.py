"""The spec of joins of three inputs or more.

It stands here and not beside its operator, because it has the model by which the planner chose in
which order inputs are probed: the operator chooses anew by it when rows come at other rates.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from penstock.operators.join.join_specs import SideSpec, condition_of
from penstock.operators.multi_join.multi_join import Theta
from penstock.operators.multi_join.multi_join_reordering import Chosen, JoinOrders, ReorderingJoin
from penstock.operators.spec import Columns, Lineage, Spec, Structure
from penstock.planner.cost.join_orders import Orders, orders_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.failures import Failures
    from penstock.algebra.tactics import Evaluation, Expiration
    from penstock.planner.cost.join_model import JoinModel
    from penstock.planner.physical.agreements import Condition

TABLE_BYTES = 16.0
"""Of a row in a hash table; the first is part of what a row takes anyway."""


@dataclass(frozen=True)
class MultiJoinSpec(Spec):
    """All combinations of rows of several inputs that agree, and satisfy some conditions.

    Args:
        sides: The inputs.
        agreements: For each key of each input, the number of the agreement that it is in.
        conditions: What is asked of some inputs, beyond equal keys.
        evaluation: When combinations are computed.
        expiration: When rows that have ended are forgotten.
        classes: The keys that are equal, over positions in the columns of all inputs.
        orders: In which order the rows of each input probe the others, to begin with.
        model: What is expected of the inputs, by which the orders were chosen.
        expected: How many rows the inputs will have at a time, in each lane, if that is known.
        lanes: How many share the rows.
    """

    sides: tuple[SideSpec, ...]
    agreements: tuple[tuple[int, ...], ...]
    conditions: tuple[Condition, ...]
    evaluation: Evaluation
    expiration: Expiration
    classes: tuple[tuple[Expression, ...], ...] = field(compare=False)
    orders: Orders = field(compare=False)
    model: JoinModel = field(compare=False)
    expected: tuple[int, ...] | None = field(compare=False, default=None)
    lanes: int = field(compare=False, default=1)

    def build(self, failures: Failures) -> ReorderingJoin:
        """The operator; each condition counts of how many combinations it is asked."""
        asked = []
        for one in self.conditions:
            rows = [self.sides[place].rows for place in one.inputs]
            made = condition_of(one.asks, rows, failures)
            assert made is not None
            asked.append(made)
        thetas = [
            Theta(one.inputs, own, one.rank)
            for one, own in zip(self.model.asked, asked, strict=True)
        ]
        join = ReorderingJoin(
            [side.build(failures) for side in self.sides],
            list(self.agreements),
            thetas,
            self._ordering(),
            evaluation=self.evaluation,
            expiration=self.expiration,
            expected=self.expected,
        )
        named = zip((one.name for one in self.conditions), asked, strict=True)
        join.conditions = {name: one for name, one in named if name is not None}
        return join

    def _ordering(self) -> JoinOrders:
        sides = self.model.sides
        return JoinOrders(
            _with_levels(self.model, self.orders),
            [side.rate for side in sides],
            [side.live for side in sides],
            partial(_chosen_at, self.model),
            1.0 / self.lanes,
            [place for place, side in enumerate(sides) if side.is_counted],
        )

    def on_lanes(self, lanes: int) -> MultiJoinSpec:
        """The same where so many lanes share the rows: each will have another share of them."""
        if self.expected is None:
            return replace(self, lanes=lanes)
        expected = tuple(one * self.lanes // lanes for one in self.expected)
        return replace(self, lanes=lanes, expected=expected)

    def lineage(self) -> Lineage:
        """Rows of all inputs that meet: keys of one agreement are equal."""
        widths = [len(one.rows.types) for one in self.sides]
        columns: list[Columns] = []
        for place, one in enumerate(self.sides):
            before, behind = sum(widths[:place]), sum(widths[place + 1 :])
            columns.append((*[None] * before, *one.rows.columns, *[None] * behind))
        equal = [(group[0], other) for group in self.classes for other in group[1:]]
        return Lineage(tuple(columns), equal=tuple(equal))

    def structures(self) -> tuple[Structure, ...]:
        """Rows of each input, in one hash table or more."""
        sides = enumerate(zip(self.sides, self.tables, strict=True))
        return tuple(
            replace(one.structure(port), more=max(count - 1, 0) * TABLE_BYTES)
            for port, (one, count) in sides
        )

    @property
    def tables(self) -> list[int]:
        """The hash tables of each input: one for each set of agreements that it is probed by."""
        own = [frozenset(one) for one in self.agreements]
        found: list[set[frozenset[int]]] = [set() for _ in own]
        for origin, order in enumerate(self.orders):
            bound = own[origin]
            for place in order:
                found[place].add(own[place] & bound)
                bound |= own[place]
        return [len({one for one in several if one}) for several in found]


def _chosen_at(
    model: JoinModel, rates: Sequence[float], sizes: Sequence[float], orders: Orders
) -> Chosen:
    """The orders to go on with at other rates and sizes."""
    changed = model.at_rates(rates, sizes)
    return _with_levels(changed, orders_at(changed, orders))


def _with_levels(model: JoinModel, orders: Orders) -> Chosen:
    return Chosen(orders, tuple(model.levels(*each) for each in enumerate(orders)))

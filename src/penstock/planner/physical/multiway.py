"""A join of many inputs as one operator of a plan that runs, and the model of what it does.

The logical plan stays a tree of joins: keys for lanes, fragments and meaning are found on that. It
is replaced where operators are chosen, and in what EXPLAIN shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra import streams as st
from penstock.algebra.expressions import substituted
from penstock.algebra.plan import different_nodes
from penstock.planner.cost.condition_cost import condition_cost
from penstock.planner.cost.join_flows import by_name, key_values
from penstock.planner.cost.join_model import ConditionEstimate, JoinModel, Side, Weights
from penstock.planner.cost.selectivity import selectivity
from penstock.planner.operator_facts import follows_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.operators.flow import Flow
    from penstock.planner.cost.join_model import Order
    from penstock.planner.flattening import Flat
    from penstock.planner.physical.agreements import Agreed, Condition
    from penstock.planner.statistics.statistics import Statistics

LOOK, VISIT, COMPARED = 20.0, 25.0, 15.0
"""For a partial result that looks into a window, for what it meets there, for what it is asked.

To ask is to gather the columns; what the functions of a condition take comes on top.
"""


@dataclass(frozen=True)
class Multiway:
    """All combinations of rows of several inputs that agree, and satisfy some conditions.

    Args:
        inputs: What is joined.
        flat: That tree taken apart.
        agreed: What it asks.
        orders: In which order the rows of each input probe the others.
        model: What is expected of it, by which the orders were chosen.
        expected: How many rows its inputs will have at a time, in each lane, if that is known.
        lanes: How many share the rows.
    """

    inputs: tuple[Plan, ...]
    flat: Flat
    agreed: Agreed
    orders: tuple[Order, ...]
    model: JoinModel = field(compare=False)
    expected: tuple[int, ...] | None = None
    lanes: int = 1

    def label(self) -> str:
        """The conditions, in a line."""
        return label_of(self.flat, self.agreed)

    @property
    def names(self) -> list[str]:
        """The names of the inputs in orders."""
        return names_of(self.inputs)


def label_of(flat: Flat, agreed: Agreed) -> str:
    """The conditions of a join of many inputs, in a line; the order of inputs is theirs."""
    names = {str(place): one for place, one in enumerate(flat.names)}
    classes = [
        " = ".join(str(substituted(one, names)) for one in group) for group in agreed.classes
    ]
    others = [str(substituted(asks, names)) for asks in _beyond(flat, agreed)]
    asked = " AND ".join([*classes, *(f"({one})" for one in others)])
    return f"Join of {len(flat.inputs)} {asked}".rstrip()


def condition_text(flat: Flat, condition: Condition) -> str:
    """A condition over the names of columns."""
    offsets, names = flat.offsets, flat.names
    read = [one for place in condition.inputs for one in names[offsets[place] : offsets[place + 1]]]
    return str(substituted(condition.asks, {str(n): one for n, one in enumerate(read)}))


def _beyond(flat: Flat, agreed: Agreed) -> list[Expression]:
    """The conditions beyond agreements."""
    equal = {one for group in agreed.classes for one in group}
    return [part.asks for part in flat.parts if not {*part.asks.children} <= equal]


def names_of(inputs: Sequence[Plan]) -> list[str]:
    """Inputs by the names that their columns have in front, or by number."""
    found: list[str] = []
    for number, one in enumerate(inputs, 1):
        owners = [*dict.fromkeys(name.rpartition(".")[0] for name in one.schema.names)]
        owner = owners[0] if len(owners) == 1 else f"({', '.join(owners)})"
        found.append(owner if owners and all(owners) and owner not in found else f"#{number}")
    return found


def model_of(
    inputs: Sequence[Plan], agreed: Agreed, flows: Sequence[Flow], known: Statistics
) -> JoinModel:
    """The model of the windows, by the rows that come to each."""
    sides = []
    for plan, keys, flow in zip(inputs, agreed.keys, flows, strict=True):
        values = {one.agreement: key_values(one.expression, flow) for one in keys}
        follows = follows_rate(plan)
        # Each lane may have all of a relation: what it has tells nothing of the others.
        is_counted = not follows and has_stream(plan)
        sides.append(Side(flow.sent, flow.live, values, None, follows, is_counted))
    conditions = [
        ConditionEstimate(
            one.inputs, _share_of(one, flows, known), COMPARED + condition_cost(one.asks)
        )
        for one in agreed.conditions
    ]
    return JoinModel(tuple(sides), tuple(conditions), Weights(look=LOOK, visit=VISIT))


def _share_of(condition: Condition, flows: Sequence[Flow], known: Statistics) -> float:
    """The share of combinations for which a condition holds; as measured, if it was."""
    measured = None if condition.name is None else known.selectivities.get(condition.name)
    if measured is not None:
        return measured
    return selectivity(condition.asks, by_name([flows[place] for place in condition.inputs]))


def has_stream(plan: Plan) -> bool:
    """Rows of a stream come to a plan."""
    return any(isinstance(one, st.Stream) for one in different_nodes(plan))

"""A join of many inputs as one operator of a plan that runs, and the model of what it does.

The logical plan stays a tree of joins: keys for lanes, fragments and meaning are found on that. It
is replaced where operators are chosen, and in what EXPLAIN shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.expressions import columns_of, substituted
from penstock.algebra.plan import Plan, different_nodes
from penstock.algebra.windows import Rows
from penstock.planner.cost.condition_cost import condition_cost
from penstock.planner.cost.join_model import ConditionEstimate, JoinModel, Side, Weights
from penstock.planner.cost.selectivity import selectivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.types import Schema
    from penstock.planner.cost.estimating import Estimates
    from penstock.planner.cost.join_model import Order
    from penstock.planner.flattening import Flat
    from penstock.planner.physical.agreements import Agreed, Condition

INSERT, TABLE = 35.0, 15.0
"""For a row that comes: to keep it, and for each hash table that it enters."""
LOOK, VISIT, COMPARED = 20.0, 25.0, 15.0
"""For a partial result that looks into a window, for what it meets there, for what it is asked.

To ask is to gather the columns; what the functions of a condition take comes on top.
"""
GATHER = 2.0
"""For a result and each input: to gather the columns."""
TABLE_BYTES = 16.0
"""Of a row in a hash table; the first is part of what a row takes anyway."""


@dataclass(frozen=True)
class Multiway(Plan):
    """All combinations of rows of several inputs that agree, and satisfy some conditions.

    Args:
        inputs: What is joined.
        tree: The tree of joins that it takes the place of.
        flat: That tree taken apart.
        agreed: What it asks.
        orders: In which order the rows of each input probe the others.
        model: What is expected of it, by which the orders were chosen.
        expected: How many rows its inputs will have at a time, in each lane, if that is known.
        lanes: How many share the rows.
    """

    inputs: tuple[Plan, ...]
    tree: Plan
    flat: Flat
    agreed: Agreed
    orders: tuple[Order, ...]
    model: JoinModel = field(compare=False)
    expected: tuple[int, ...] | None = None
    lanes: int = 1

    @property
    def children(self) -> tuple[Plan, ...]:
        """The inputs that are joined."""
        return self.inputs

    @cached_property
    def schema(self) -> Schema:
        """The columns of the tree."""
        return self.tree.schema

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


def model_of(flat: Flat, agreed: Agreed, estimates: Estimates, asked: Sequence[float]) -> JoinModel:
    """The model of the windows; `asked` is the share of combinations for each condition."""
    sides = []
    for plan, keys in zip(flat.inputs, agreed.keys, strict=True):
        flow = estimates.of(plan)
        names = plan.schema.names
        values = {
            key.agreement: flow.evenly_spread(
                [names[int(one)] for one in columns_of(key.expression)]
            )
            for key in keys
        }
        rate = flow.rate + flow.withdrawn
        follows = follows_rate(plan)
        # Each lane may have all of a relation: what it has tells nothing of the others.
        is_counted = not follows and has_stream(plan)
        sides.append(Side(rate, flow.live, values, None, follows, is_counted))
    conditions = [
        ConditionEstimate(one.inputs, share, COMPARED + condition_cost(one.asks))
        for one, share in zip(agreed.conditions, asked, strict=True)
    ]
    return JoinModel(tuple(sides), tuple(conditions), Weights(look=LOOK, visit=VISIT))


def follows_rate(plan: Plan) -> bool:
    """More rows are valid at a time when more come: not if windows count their rows."""
    match plan:
        case st.Window(_, Rows()) | st.Relation() | op.Aggregate() | op.Combine() | op.Distinct():
            return False
        case st.Source():
            return True
    return any(map(follows_rate, plan.children))


def has_stream(plan: Plan) -> bool:
    """Rows of a stream come to a plan."""
    return any(isinstance(one, st.Stream) for one in different_nodes(plan))


def share_of(condition: Condition, flat: Flat, estimates: Estimates) -> float:
    """The share of combinations for which a condition holds; as measured, if it was."""
    known = estimates.measured_share(condition.name)
    if known is not None:
        return known
    names = [one for place in condition.inputs for one in flat.inputs[place].schema.names]
    different = {
        name: count
        for place in condition.inputs
        for name, count in estimates.of(flat.inputs[place]).different.items()
    }
    over = {str(n): name for n, name in enumerate(names)}
    columns = {name: different.get(over[name], 1.0) for name in columns_of(condition.asks)}
    return selectivity(condition.asks, columns)


def tables_of(agreed: Agreed, orders: Sequence[Order]) -> list[int]:
    """The number of hash tables of each input: one for each set of agreements it is probed by."""
    own = [frozenset(key.agreement for key in keys) for keys in agreed.keys]
    found: list[set[frozenset[int]]] = [set() for _ in own]
    for origin, order in enumerate(orders):
        bound = own[origin]
        for place in order:
            found[place].add(own[place] & bound)
            bound |= own[place]
    return [len({one for one in several if one}) for several in found]

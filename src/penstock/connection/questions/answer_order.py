"""ORDER BY of an answer: its rows in order, and of these the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra.failures import Failures
from penstock.compute.evaluate import compile_expression
from penstock.operators.output.order_limit import OrderKey, ranks_of

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


def unordered(plan: Plan) -> tuple[Plan, orders.Sort | None]:
    """The plan of a question without its order, and the order."""
    match plan:
        case orders.Sort():
            return plan.child, plan
        case op.Map(orders.Sort() as sort):
            return sort.child, sort
    return plan, None


def first_rows(plan: Plan) -> Plan:
    """The plan without its order, and only with rows that may be shown by it."""
    below, sort = unordered(plan)
    if sort is None or sort.limit is None:
        return below
    return orders.Sort(below, sort.keys, sort.limit + sort.offset)


def in_order(plan: Plan, sort: orders.Sort, columns: tuple[pa.Array, ...]) -> tuple[pa.Array, ...]:
    """The rows below an order as the whole plan shows them."""
    schema = sort.child.schema
    keys = [
        OrderKey(compile_expression(one.expression, schema), one.descending, one.nulls_first)
        for one in sort.keys
    ]
    ranks = ranks_of(keys, columns, len(columns[0]), Failures())
    end = None if sort.limit is None else sort.offset + sort.limit
    chosen = pa.array(np.argsort(ranks, kind="stable")[sort.offset : end])
    by_name = dict(zip(schema.names, columns, strict=True))
    # Columns that are only there to order by are left out above the order.
    shown = plan.columns if isinstance(plan, op.Map) else None
    names = schema.names if shown is None else [str(one.expression) for one in shown]
    return tuple(by_name[name].take(chosen) for name in names)

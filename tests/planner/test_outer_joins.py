"""Which outer joins are one operator, and which are put together."""

from __future__ import annotations

import pytest

from penstock.builder import QueryBuilder, stream
from penstock.planner.physical.lowering import operator_graph


def streams() -> tuple[QueryBuilder, QueryBuilder]:
    orders = stream("orders", "ts BIGINT, id INT, item STRING", time="ts").range(10)
    payments = stream("payments", "at BIGINT, order_id INT, amount INT", time="at").range(5)
    return orders, payments


def labels(query: QueryBuilder) -> list[str]:
    return [node.label for node in operator_graph({"q": query.plan}).nodes]


@pytest.mark.parametrize("side", ["LEFT", "RIGHT", "FULL"])
@pytest.mark.parametrize("equals", ["=", "IS NOT DISTINCT FROM"])
def test_equal_keys_are_one_operator(side: str, equals: str) -> None:
    orders, payments = streams()
    query = orders.outer_join(payments, f"id {equals} order_id", side)
    kinds = [label.split()[0] for label in labels(query)]
    assert kinds == ["Stream", "Window", "Stream", "Window", side.capitalize()]


def test_any_other_condition_is_put_together() -> None:
    orders, payments = streams()
    query = orders.outer_join(payments, "id = order_id AND ts < at", "FULL")
    assert labels(query)[-1].startswith("UnionAll")


def test_a_union_that_is_no_outer_join_stays_one() -> None:
    orders, payments = streams()
    pairs = orders.join(payments, "id = order_id")
    assert labels(pairs.union_all(pairs))[-1].startswith("UnionAll")

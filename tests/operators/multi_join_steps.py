"""What tests of the join of many inputs share: joins by one column, and streams for them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from operators.join_model import Element, sent
from operators.multi_join_model import plain_orders
from penstock.algebra.patterns import Pattern
from penstock.operators.block import Block
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.multi_join.multi_join import MultiJoin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.operator import Operator


def by_first(pattern: Pattern = Pattern.WKS, width: int = 2, span: int = 100) -> JoinSide:
    return JoinSide([pa.int64()] * width, lambda block: block.columns[:1], (False,), pattern, span)


def common(inputs: int, pattern: Pattern = Pattern.WKS, **options: Any) -> MultiJoin:
    """A join of so many inputs on their first columns."""
    sides = [by_first(pattern)] * inputs
    return MultiJoin(sides, [(0,)] * inputs, (), plain_orders(inputs), **options)


def passing(start: int, stop: int, keys: int, seed: int, window: int = 100) -> Block:
    """One row each instant."""
    ts = np.arange(start, stop)
    drawn = np.random.default_rng((start, seed)).integers(0, keys, len(ts))
    return Block((pa.array(drawn), pa.array(ts)), ts, ts + window)


def run(operator: Operator, steps: Sequence[Sequence[Block]], length: int) -> Counter[Element]:
    found: Counter[Element] = Counter()
    for number, blocks in enumerate(steps):
        found.update(sent(operator, (number + 1) * length, *blocks))
    return found


def steps_of(inputs: int, count: int, length: int, keys: int) -> list[list[Block]]:
    return [
        [passing(at, at + length, keys, port) for port in range(inputs)]
        for at in range(0, count * length, length)
    ]

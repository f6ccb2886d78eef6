"""Cases of the contract: joins of two inputs and of many, and reads of a relation on arrival."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa

from operators.contract import inputs
from operators.contract.trial import Case, Edge, Trial, spread_by
from operators.multi_join_model import plain_orders
from penstock.algebra.patterns import Pattern
from penstock.operators.join.anti import AntiJoinOperator
from penstock.operators.join.arrival import Mode, ReadOnArrival
from penstock.operators.join.join import JoinOperator
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.join.outer import OuterJoinOperator
from penstock.operators.multi_join.multi_join import (
    Evaluation,
    Expiration,
    MultiJoin,
    Theta,
)
from penstock.operators.multi_join.multi_join_reordering import (
    Chosen,
    JoinOrders,
    ReorderingJoin,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from operators.contract.inputs import Draws
    from operators.contract.trial import Bag
    from operators.join_model import Row

TYPES = (pa.int64(), pa.string(), pa.int64())
"""Two columns that are compared, and a number."""
NULL_MATCHES = (False, True)
"""Of the first two columns, whether NULL is like NULL."""
KEYS = [(one, other) for one in (1, 2, 3, None) for other in ("a", None)]


def rows(random: Draws) -> Row:
    return (*random.choice(KEYS), random.randint(0, 2))


def any_pattern(random: Draws) -> Pattern:
    return random.choice(list(Pattern))


def side(random: Draws, pattern: Pattern, types: Sequence[pa.DataType] = TYPES) -> JoinSide:
    """Rows by their first two columns, kept in any structure."""
    span, partitions = inputs.queue(random)
    return JoinSide(types, keys_of, NULL_MATCHES, pattern, span, partitions)


def keys_of(block: Any) -> Any:
    return block.columns[:2]


def edges_of(random: Draws, patterns: Sequence[Pattern], most: int | None = None) -> list[Edge]:
    return [
        Edge(inputs.edge(random, one, rows, most=most), TYPES, one is Pattern.STR)
        for one in patterns
    ]


def agree(*found: Row) -> bool:
    """Whether rows have equal keys."""
    return found[0][0] is not None and len({one[:2] for one in found}) == 1


def odd_one_out(found: Sequence[Row]) -> bool:
    """What is asked of rows beyond equal keys."""
    return bool(sum(one[2] for one in found) % 3 != 1)


def asks(columns: Sequence[pa.Array], length: int) -> Any:
    assert all(len(one) == length for one in columns)
    return sum(columns[place].to_numpy() for place in range(2, len(columns), 3)) % 3 != 1


def pairs(bags: Sequence[Bag], *, residual: bool) -> Bag:
    """Combinations of rows that agree."""
    found: Bag = Counter()
    for chosen in product(*(bag.items() for bag in bags)):
        members = [row for row, _ in chosen]
        if agree(*members) and (not residual or odd_one_out(members)):
            found[sum(members, ())] += int(np.prod([copies for _, copies in chosen]))
    return found


def at_once(random: Draws) -> int:
    return random.choice(random.size.at_once)


def join(random: Draws) -> Trial:
    patterns, residual = [any_pattern(random) for _ in range(2)], random.random() < 0.5

    def make() -> JoinOperator:
        both = [side(random, one) for one in patterns]
        return JoinOperator(both[0], both[1], asks if residual else None, at_once(random))

    is_strict = Pattern.STR in patterns
    return Trial(
        make,
        edges_of(random, patterns),
        spread_by(0, 6, strict=is_strict),
        lambda bags: pairs(bags, residual=residual),
        strict=is_strict,
    )


def outer_join(random: Draws) -> Trial:
    patterns = [any_pattern(random) for _ in range(2)]
    padded = random.choice([(True, False), (False, True), (True, True)])

    def make() -> OuterJoinOperator:
        both = [side(random, one) for one in patterns]
        return OuterJoinOperator(both[0], both[1], padded, at_once(random))

    def meaning(bags: Sequence[Bag]) -> Bag:
        found = pairs(bags, residual=False)
        for port in (0, 1):
            for row, copies in bags[port].items():
                if padded[port] and not any(agree(row, other) for other in bags[1 - port]):
                    found[(None,) * 3 + row if port else row + (None,) * 3] += copies
        return found

    results = spread_by(0, 6, strict=True)
    return Trial(make, edges_of(random, patterns), results, meaning, strict=True)


def anti_join(random: Draws) -> Trial:
    pattern, signed = any_pattern(random), random.random() < 0.5

    def make() -> AntiJoinOperator:
        right = side(random, Pattern.STR, TYPES[:2])
        return AntiJoinOperator(side(random, pattern), right, at_once(random))

    def meaning(bags: Sequence[Bag]) -> Bag:
        covered = bags[1].keys()
        left = {row: n for row, n in bags[0].items() if row[0] is None or row[:2] not in covered}
        return Counter(left)

    edges = [
        *edges_of(random, [pattern]),
        Edge(inputs.coverage(random, KEYS, signed=signed), TYPES[:2], signed),
    ]
    return Trial(make, edges, spread_by(0, 3, strict=True), meaning, strict=True)


def on_arrival(mode: Mode) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        pattern, residual = random.choice([Pattern.MON, Pattern.WKS]), random.random() < 0.5

        def make() -> ReadOnArrival:
            return ReadOnArrival(
                side(random, pattern),
                side(random, Pattern.STR),
                mode,
                asks if residual else None,
                matches if mode == "aggregate" else None,
                at_once(random),
            )

        edges = edges_of(random, [pattern, Pattern.STR])
        return Trial(make, edges, spread_by(0, 6, strict=False))

    return draw


def matches(numbers: Any, columns: tuple[pa.Array, ...], rows: int) -> tuple[pa.Array, ...]:
    """How many relation rows each stream row matched, and the sum of their numbers."""
    counts = np.bincount(numbers, minlength=rows).astype(np.int64)
    sums = np.bincount(numbers, columns[2].to_numpy(), minlength=rows).astype(np.int64)
    return pa.array(counts), pa.array(sums)


def many_inputs(
    width: int, make: Callable[[Draws, Sequence[JoinSide], Sequence[Theta]], MultiJoin]
) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        patterns, residual = [any_pattern(random) for _ in range(width)], random.random() < 0.5
        thetas = [Theta(tuple(range(width)), asks)] if residual else []

        def made() -> MultiJoin:
            return make(random, [side(random, one) for one in patterns], thetas)

        is_strict = Pattern.STR in patterns
        return Trial(
            made,
            edges_of(random, patterns, random.size.counts[-1] // (width - 1)),
            spread_by(0, 3 * width, strict=is_strict),
            lambda bags: pairs(bags, residual=residual),
            strict=is_strict,
        )

    return draw


def ways(random: Draws) -> dict[str, Any]:
    return {
        "evaluation": random.choice(get_args(Evaluation)),
        "expiration": random.choice(get_args(Expiration)),
        "expected": random.choice([None, [0, 9, 100]]),
    }


def orders(random: Draws, width: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(random.sample(each, len(each))) for each in plain_orders(width))


def multi_join(random: Draws, sides: Sequence[JoinSide], thetas: Sequence[Theta]) -> MultiJoin:
    return MultiJoin(
        sides,
        [(0, 1)] * len(sides),
        thetas,
        orders(random, len(sides)),
        at_once=at_once(random),
        portion=random.choice([1, 4, None]),
        buckets=random.choice([None, [1, 2, 5][: len(sides)]]),
        **ways(random),
    )


def reordering_join(
    random: Draws, sides: Sequence[JoinSide], thetas: Sequence[Theta]
) -> ReorderingJoin:
    width = len(sides)

    def choose(*_: Any) -> Chosen:
        return Chosen(orders(random, width))

    ordering = JoinOrders(choose(), [1.0] * width, [1.0] * width, choose, counted=range(width))
    return ReorderingJoin(sides, [(0, 1)] * width, thetas, ordering, **ways(random))


CASES = [
    Case(JoinOperator, "", join),
    Case(OuterJoinOperator, "", outer_join),
    Case(AntiJoinOperator, "", anti_join),
    *(Case(ReadOnArrival, mode, on_arrival(mode)) for mode in get_args(Mode)),
    Case(MultiJoin, "of two", many_inputs(2, multi_join)),
    Case(MultiJoin, "of three", many_inputs(3, multi_join)),
    Case(ReorderingJoin, "", many_inputs(3, reordering_join)),
]

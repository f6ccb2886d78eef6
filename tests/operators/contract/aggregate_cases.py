"""Cases of the contract: aggregation, whole and in two phases."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from operators.accumulating import call_of
from operators.contract import inputs
from operators.contract.trial import Case, Edge, Trial, column, spread_by
from penstock.algebra.expressions import Column, Literal
from penstock.algebra.failures import Failures
from penstock.algebra.patterns import Pattern
from penstock.algebra.types import BIGINT, BOOLEAN, DOUBLE, STRING, decimal, to_arrow
from penstock.operators.aggregate.accumulators.choice import accumulator_for
from penstock.operators.aggregate.aggregate import AggregateOperator
from penstock.operators.aggregate.aggregate_calls import ComputedCall
from penstock.operators.aggregate.combine_partials import CombineOperator
from penstock.operators.aggregate.partials import partial_for
from penstock.reference.aggregate_values import aggregate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from operators.contract.inputs import Draws
    from operators.contract.trial import Bag
    from operators.join_model import Row
    from penstock.algebra.expressions import AggregateCall

OF = (BIGINT, BIGINT, DOUBLE, STRING, decimal(30, 2), BOOLEAN)
TYPES = tuple(map(to_arrow, OF))
GROUPS: dict[str, list[AggregateCall]] = {
    "counts and sums": [
        call_of("count"),
        call_of("sum", BIGINT),
        call_of("sum", DOUBLE),
        call_of("avg", decimal(30, 2)),
        call_of("var_pop", DOUBLE),
        call_of("bool_or", BOOLEAN),
    ],
    "extremes": [call_of("min", STRING), call_of("max", BIGINT), call_of("max", decimal(30, 2))],
    "ranks": [call_of("median", BIGINT), call_of("quantile", DOUBLE, at=0.25)],
    "different values": [
        call_of("count", STRING, distinct=True),
        call_of("sum", BIGINT, distinct=True),
        call_of("median", decimal(30, 2), distinct=True),
    ],
}
PHASED = [
    call_of("count"),
    call_of("sum", BIGINT),
    call_of("sum", DOUBLE),
    call_of("min", STRING),
    call_of("max", DOUBLE),
]


def rows(random: Draws) -> Row:
    return (
        random.choice([1, 2, None]),
        random.choice([3, -7, 3, 12, None]),
        random.choice([0.5, -2.25, 1e3, None]),
        random.choice(["a", "a longer text", "", None]),
        random.choice([Decimal("1.25"), Decimal(10) ** 20, None]),
        random.choice([True, False, None]),
    )


def place_of(call: AggregateCall) -> int | None:
    """The column that a call reads: the last of its type."""
    of = [one.type for one in call.args if isinstance(one, Column)]
    return max(place for place, one in enumerate(OF) if one == of[0]) if of else None


def arguments(call: AggregateCall) -> list[Any]:
    place = place_of(call)
    return [] if place is None else [column(place)]


def values(calls: Sequence[AggregateCall], found: Sequence[Row]) -> Row:
    """Aggregates over the rows of a group, as the reference has them."""
    made = []
    for call in calls:
        place = place_of(call)
        more = [one.value for one in call.args if isinstance(one, Literal)]
        own = [() if place is None else (row[place], *more) for row in found]
        made.append(aggregate(call, own, Failures()))
    return tuple(made)


def aggregated(
    calls: Sequence[AggregateCall], *, by_key: bool, row_over_nothing: bool = True
) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        pattern = random.choice(list(Pattern))
        keys = [(column(0), TYPES[0])] if by_key else []

        def make() -> AggregateOperator:
            made = [
                (
                    ComputedCall(one.function, arguments(one), accumulator_for(one, pattern)),
                    to_arrow(one.of),
                )
                for one in calls
            ]
            span, partitions = inputs.queue(random)
            return AggregateOperator(
                keys, made, pattern, span, partitions, Failures(), row_over_nothing=row_over_nothing
            )

        def meaning(bags: Sequence[Bag]) -> Bag:
            if not by_key and not bags[0] and not row_over_nothing:
                return Counter()
            groups: dict[Row, list[Row]] = defaultdict(list) if by_key else {(): []}
            for row in bags[0].elements():
                groups[row[:1] if by_key else ()].append(row)
            return Counter((*key, *values(calls, found)) for key, found in groups.items())

        edges = [Edge(inputs.edge(random, pattern, rows), TYPES, pattern is Pattern.STR)]
        results = spread_by(0, 1 + len(calls), strict=True) if by_key else None
        return Trial(make, edges, results, meaning, strict=True)

    return draw


def combining(random: Draws) -> Trial:
    """Values of the rows of one validity; what they amount to is asked of the second phase."""
    partials = [partial_for(one.function, arguments(one), to_arrow(one.of)) for one in PHASED]
    pattern = random.choice(inputs.TAME)
    edges = [Edge(inputs.edge(random, pattern, rows), TYPES)]
    make = lambda: CombineOperator([column(0)], partials, Failures())  # noqa: E731
    return Trial(make, edges, spread_by(0, 1 + len(PHASED), strict=False))


CASES = [
    *(
        Case(AggregateOperator, name, aggregated(calls, by_key=True))
        for name, calls in GROUPS.items()
    ),
    Case(AggregateOperator, "of all", aggregated(GROUPS["counts and sums"], by_key=False)),
    Case(
        AggregateOperator,
        "of all, if any",
        aggregated(GROUPS["extremes"], by_key=False, row_over_nothing=False),
    ),
    Case(CombineOperator, "", combining),
]

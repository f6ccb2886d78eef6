"""Cases of the contract: DISTINCT and set operations, and what enters and leaves a result."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from operators.contract import inputs
from operators.contract.inputs import TAME, TYPES
from operators.contract.trial import Case, Edge, Trial, spread_by
from penstock.algebra.patterns import Pattern
from penstock.operators.set.counted import CountedRows, Target, only_grows
from penstock.operators.set.distinct import DistinctOperator
from penstock.operators.set.set_counts import InsertedRows, RemovedRows, SetOperation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from operators.contract.inputs import Draws
    from operators.contract.trial import Bag

MEANINGS: dict[Target, Callable[[Sequence[Bag]], Bag]] = {
    Target.COPIES: lambda bags: bags[0],
    Target.DISTINCT: lambda bags: Counter(dict.fromkeys(bags[0], 1)),
    Target.DIFFERENCE: lambda bags: bags[0] - bags[1],
    Target.INTERSECTION: lambda bags: bags[0] & bags[1],
    Target.MAX_UNION: lambda bags: bags[0] | bags[1],
    Target.STRICT_DIFFERENCE: lambda bags: Counter(
        {row: copies for row, copies in bags[0].items() if row not in bags[1]}
    ),
}


def edges_of(random: Draws, patterns: Sequence[Pattern]) -> list[Edge]:
    return [Edge(inputs.edge(random, one), TYPES, one is Pattern.STR) for one in patterns]


def distinct(random: Draws) -> Trial:
    def make() -> DistinctOperator:
        return DistinctOperator(TYPES, *inputs.queue(random))

    edges = edges_of(random, [random.choice(TAME)])
    return Trial(make, edges, spread_by(0, 2, strict=False), MEANINGS[Target.DISTINCT])


def set_operation(target: Target) -> Callable[[Draws], Trial]:
    ports = 1 if target in (Target.COPIES, Target.DISTINCT) else 2

    def draw(random: Draws) -> Trial:
        patterns = [random.choice(list(Pattern)) for _ in range(ports)]

        def make() -> SetOperation:
            counted = CountedRows(TYPES, patterns, target, *inputs.queue(random))
            return SetOperation(counted)

        is_strict = not only_grows(target, patterns)
        results = spread_by(0, 2, strict=is_strict)
        edges = edges_of(random, patterns)
        return Trial(make, edges, results, MEANINGS[target], strict=is_strict)

    return draw


def reported(kind: type[InsertedRows]) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        pattern = random.choice(list(Pattern))

        def make() -> InsertedRows:
            return kind(CountedRows(TYPES, [pattern], Target.COPIES, *inputs.queue(random)))

        return Trial(make, edges_of(random, [pattern]), spread_by(0, 2, strict=False))

    return draw


CASES = [
    Case(DistinctOperator, "", distinct),
    *(Case(SetOperation, target.name, set_operation(target)) for target in Target),
    Case(InsertedRows, "", reported(InsertedRows)),
    Case(RemovedRows, "", reported(RemovedRows)),
]

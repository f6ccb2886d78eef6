"""Cases of the contract: what a query sends out, and the instants at which it does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from operators.contract import inputs
from operators.contract.inputs import TAME, TYPES
from operators.contract.trial import Case, Edge, Trial, column, spread_by
from operators.contract.window_cases import any_pattern, as_it_is, one_input
from operators.join_model import Element
from penstock.algebra.failures import Failures
from penstock.algebra.patterns import Pattern
from penstock.algebra.types import BIGINT, STRING
from penstock.operators.output.cuts import CoalesceOperator, SplitOperator
from penstock.operators.output.emit_final import FinalOperator
from penstock.operators.output.first_rows import FirstPlaces, FirstRowsOperator
from penstock.operators.output.negative import AnnouncedEnds
from penstock.operators.output.order_limit import OrderKey, RowOrder
from penstock.operators.output.output_instants import Boundaries, RowSlides, TimeSlides
from penstock.operators.output.restored import NextInstant, RestoredResult
from penstock.operators.output.rstream import WholeResult
from penstock.operators.set.counted import CountedRows, Target
from penstock.operators.stateless import MapOperator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from operators.contract.inputs import Draws
    from operators.contract.trial import Bag

INSTANTS = spread_by(None, 0, strict=False)
"""Instants without columns: lanes may all know all of them."""


def counted(random: Draws, pattern: Pattern) -> CountedRows:
    return CountedRows(TYPES, [pattern], Target.COPIES, *inputs.queue(random))


def rows_edge(elements: Sequence[Element], pattern: Pattern) -> Edge:
    return Edge(elements, TYPES, pattern is Pattern.STR)


def instants_edge(found: Sequence[int]) -> Edge:
    return Edge(inputs.instants(found), (), key=None)


def split(random: Draws) -> Trial:
    pattern = random.choice([Pattern.WKS, Pattern.WK, Pattern.STR])
    length = random.randint(1, 7)
    return one_input(random, lambda: SplitOperator(length), pattern, meaning=as_it_is)


def coalesce(random: Draws) -> Trial:
    return one_input(random, CoalesceOperator, any_pattern(random), meaning=as_it_is)


def announced(random: Draws) -> Trial:
    pattern = random.choice(TAME)

    def make() -> AnnouncedEnds:
        return AnnouncedEnds(TYPES, pattern, *inputs.queue(random))

    return one_input(random, make, pattern, meaning=as_it_is, strict=True)


def final(random: Draws) -> Trial:
    pattern = any_pattern(random)

    def make() -> FinalOperator:
        return FinalOperator(TYPES, strict=pattern is Pattern.STR)

    return one_input(random, make, pattern, meaning=as_it_is, strict=False, on_time=False)


def boundaries(random: Draws) -> Trial:
    patterns = [any_pattern(random) for _ in range(2)]

    def make() -> Boundaries:
        return Boundaries(*inputs.queue(random))

    edges = [rows_edge(inputs.edge(random, one), one) for one in patterns]
    return Trial(make, edges, INSTANTS, repeated=True)


def slides(random: Draws, slide: int) -> tuple[list[Element], list[Element]]:
    """Rows as they came, and under the intervals of a sliding window."""
    length = random.randint(2, random.size.longest)
    came = inputs.edge(random, Pattern.MON)
    found = []
    for one in came:
        begin, end = (-(-x // slide) * slide for x in (one.ts, one.ts + length))
        if begin < end:
            found.append(Element(one.row, begin, end))
    return came, sorted(found, key=lambda one: one.ts)


def time_slides(random: Draws) -> Trial:
    """Every lane gets all rows: the slides between two intervals are of no lane's own."""
    slide = random.choice([2, 3, 5])
    edges = [Edge(one, TYPES, key=None) for one in slides(random, slide)]
    return Trial(lambda: TimeSlides(slide, 1), edges, INSTANTS, repeated=True)


def skipping_slides(random: Draws) -> Trial:
    """Slides at which something may be in the result: whether others are sent is left open."""
    slide = random.choice([2, 3, 5])
    came, windowed = slides(random, slide)

    def seen(one: Element) -> Element | None:
        return one if any(each.ts <= one.ts <= each.te for each in windowed) else None

    edges = [Edge(one, TYPES) for one in (came, windowed)]
    make = lambda: TimeSlides(slide, 1, skips=True)  # noqa: E731
    return Trial(make, edges, INSTANTS, seen=seen, repeated=True)


def row_slides(*partition_by: int) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        slide = random.choice([1, 2, 3])

        def make() -> RowSlides:
            return RowSlides(TYPES, slide, partition_by)

        edges = [Edge(inputs.edge(random, Pattern.MON), TYPES)]
        return Trial(make, edges, INSTANTS, ordered=True, repeated=True)

    return draw


def next_instant(random: Draws) -> Trial:
    at = random.instants()
    edges = [rows_edge(inputs.edge(random, Pattern.MON), Pattern.MON), instants_edge(at)]
    return Trial(NextInstant, edges, spread_by(0, 2, strict=False))


def whole_result(random: Draws) -> Trial:
    pattern = any_pattern(random)
    at = random.instants()
    edges = [rows_edge(inputs.edge(random, pattern), pattern), instants_edge(at)]

    def make() -> WholeResult:
        return WholeResult(counted(random, pattern), None)

    return Trial(make, edges, spread_by(0, 2, strict=False))


def ordered_result(random: Draws) -> Trial:
    pattern = any_pattern(random)
    at = random.instants()
    edges = [rows_edge(inputs.edge(random, pattern), pattern), instants_edge(at)]
    limit, offset = random.choice([None, 1, 3]), random.choice([0, 2])

    def make() -> WholeResult:
        shown = MapOperator([column(1), lambda columns, *_: pc.negate(columns[0])], Failures())
        return WholeResult(counted(random, pattern), ordering(limit, offset, [shown]))

    return Trial(make, edges)


def ordering(limit: int | None, offset: int, maps: Sequence[MapOperator] = ()) -> RowOrder:
    """By name, the last first."""
    keys = [OrderKey(column(1), descending=True, nulls_first=False)]
    return RowOrder(keys, limit, offset, maps, Failures())


def first_rows(grouped: bool, numbered: bool) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        pattern = any_pattern(random)
        limit, offset = random.choice([None, 1, 3]), random.choice([0, 2])

        def make() -> FirstRowsOperator:
            key = OrderKey(column(1), descending=True, nulls_first=False)
            groups = [column(0)] if grouped else []
            places = FirstPlaces(
                (BIGINT, STRING), [(key, STRING)], groups, limit, offset, numbered, Failures()
            )
            return FirstRowsOperator(counted(random, pattern), places, pattern)

        def meaning(bags: Sequence[Bag]) -> Bag:
            by_row = sorted(bags[0].elements(), key=lambda row: [(x is not None, x) for x in row])
            named = [row for row in by_row if row[1] is not None]
            arranged = sorted(named, key=lambda row: row[1], reverse=True)
            arranged += [row for row in by_row if row[1] is None]
            found: Bag = Counter()
            for group in {row[0] if grouped else None for row in arranged}:
                rows = [row for row in arranged if not grouped or row[0] == group]
                shown = list(enumerate(rows, 1))[offset : None if limit is None else offset + limit]
                found.update((*row, place) if numbered else row for place, row in shown)
            return found

        edges = [rows_edge(inputs.edge(random, pattern), pattern)]
        width = 3 if numbered else 2
        results = spread_by(0, width, strict=True) if grouped else None
        return Trial(make, edges, results, meaning=meaning, strict=True)

    return draw


def restored(by_rows: bool) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        pattern, slide = any_pattern(random), random.choice([2, 3, 5])
        found = inputs.edge(random, pattern, beginning=False)
        at: Sequence[int] = range(0, random.size.horizon + slide, slide)
        if by_rows:
            at = random.instants()
        edges = [
            rows_edge(found, pattern),
            instants_edge(at),
            Edge(inputs.arrivals(found), TYPES),
        ]

        def make() -> RestoredResult:
            return RestoredResult(counted(random, pattern), None if by_rows else slide)

        return Trial(make, edges, spread_by(0, 2, strict=False))

    return draw


CASES = [
    Case(SplitOperator, "", split),
    Case(CoalesceOperator, "", coalesce),
    Case(AnnouncedEnds, "", announced),
    Case(FinalOperator, "", final),
    Case(Boundaries, "", boundaries),
    Case(TimeSlides, "", time_slides),
    Case(TimeSlides, "that may be skipped", skipping_slides),
    Case(RowSlides, "", row_slides(0)),
    Case(RowSlides, "of one partition", row_slides()),
    Case(NextInstant, "", next_instant),
    Case(WholeResult, "", whole_result),
    Case(WholeResult, "in order", ordered_result),
    *(
        Case(
            FirstRowsOperator,
            f"{'of groups' * grouped} {'numbered' * numbered}",
            first_rows(grouped, numbered),
        )
        for grouped in (False, True)
        for numbered in (False, True)
    ),
    Case(RestoredResult, "", restored(by_rows=False)),
    Case(RestoredResult, "by rows", restored(by_rows=True)),
]

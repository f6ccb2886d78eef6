"""Cases of the contract: sources, what looks at one row at a time, and windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from operators.contract import inputs
from operators.contract.inputs import TYPES
from operators.contract.trial import Case, Edge, Trial, column, spread_by
from operators.join_model import Element
from penstock.algebra.failures import Failures
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.algebra.windows import (
    Between,
    Fixed,
    Hopping,
    Now,
    Range,
    Rows,
    Since,
    Unbounded,
    WindowSpec,
)
from penstock.operators.set.counted import CountedRows, Target
from penstock.operators.sources import InOrder, Passing, RelationRows
from penstock.operators.stateless import FilterOperator, MapOperator
from penstock.operators.window.arranging import ByValue
from penstock.operators.window.attached import Attached
from penstock.operators.window.element_numbers import Number
from penstock.operators.window.ends import DropEnds, EndsFromColumn, EndsToColumn
from penstock.operators.window.hopping_window import HoppingWindow
from penstock.operators.window.rows_window import RowsWindow
from penstock.operators.window.time_windows import TimeWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from operators.contract.inputs import Draws
    from operators.contract.trial import Bag
    from penstock.operators.operator import Operator

WINDOWS: list[WindowSpec] = [
    Range(5),
    Range(7, 3),
    Range(2, 5),
    Range(INFINITY, 4),
    Fixed(4),
    Now(),
    Unbounded(),
    Since(9),
    Between(4, 12),
]


HOPPING = [Hopping(5, 5), Hopping(7, 3, 1), Hopping(2, 6), Hopping(7, 3, open=True)]


def one_input(
    random: Draws,
    make: Callable[[], Operator],
    pattern: Pattern,
    **options: Any,
) -> Trial:
    """An operator over any edge of a pattern, whose results are spread as its rows are."""
    is_strict = pattern is Pattern.STR
    elements = inputs.edge(random, pattern)
    results = spread_by(0, len(TYPES), strict=is_strict)
    given: dict[str, Any] = {"results": results, "strict": is_strict}
    return Trial(make, [Edge(elements, TYPES, is_strict)], **(given | options))


def any_pattern(random: Draws) -> Pattern:
    return random.choice(list(Pattern))


def as_it_is(bags: Sequence[Bag]) -> Bag:
    return sum(bags, start=type(bags[0])())


def in_order(random: Draws) -> Trial:
    return one_input(random, InOrder, Pattern.MON, meaning=as_it_is)


def passing(random: Draws) -> Trial:
    patterns = [any_pattern(random) for _ in range(2)]
    edges = [Edge(inputs.edge(random, one), TYPES, one is Pattern.STR) for one in patterns]
    is_strict = Pattern.STR in patterns
    results = spread_by(0, len(TYPES), strict=is_strict)
    return Trial(Passing, edges, results, as_it_is, strict=is_strict)


def filtered(random: Draws) -> Trial:
    def make() -> FilterOperator:
        return FilterOperator(lambda columns, *_: pc.equal(columns[0], 2), Failures())

    def meaning(bags: Sequence[Bag]) -> Bag:
        return type(bags[0])({row: n for row, n in bags[0].items() if row[0] == 2})

    return one_input(random, make, any_pattern(random), meaning=meaning)


def mapped(random: Draws) -> Trial:
    def make() -> MapOperator:
        doubled = lambda columns, *_: pc.multiply(columns[0], 2)  # noqa: E731
        return MapOperator([column(0), doubled], Failures())

    def meaning(bags: Sequence[Bag]) -> Bag:
        found = type(bags[0])()
        for (key, _), copies in bags[0].items():
            found[key, None if key is None else 2 * key] += copies
        return found

    return one_input(random, make, any_pattern(random), meaning=meaning)


def relation(random: Draws) -> Trial:
    def make() -> RelationRows:
        counted = CountedRows(TYPES, [Pattern.STR], Target.COPIES, *inputs.queue(random))
        return RelationRows(counted, "r")

    edges = [Edge(inputs.changes(random), TYPES, signed=True)]
    return Trial(make, edges, spread_by(0, 2, strict=True), as_it_is, strict=True)


def time_window(spec: WindowSpec) -> Callable[[Draws], Trial]:
    return lambda random: one_input(random, lambda: TimeWindow(spec), Pattern.MON)


def hopping_window(spec: Hopping) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        make = lambda: HoppingWindow(spec, pa.int64())  # noqa: E731
        results = spread_by(0, len(TYPES) + 2, strict=False)
        return one_input(random, make, Pattern.MON, results=results)

    return draw


def rows_window(partition_by: tuple[int, ...], *, tell_vanished: bool) -> Callable[[Draws], Trial]:
    def draw(random: Draws) -> Trial:
        rows, slide = random.choice([1, 2, 5]), random.choice([None, 1, 2, 3])
        spec = Rows(rows, slide, tuple(str(one) for one in partition_by))

        def make() -> RowsWindow:
            return RowsWindow(TYPES, spec, partition_by, tell_vanished=tell_vanished)

        trial = one_input(random, make, Pattern.MON, ordered=True, strict=True, seen=not_empty)
        return trial if partition_by else replace(trial, results=None)

    return draw


def not_empty(one: Element) -> Element | None:
    """An element that was valid; others are told for the sake of what is attached to them."""
    return one if one.ts < one.te else None


def by_value(random: Draws) -> Trial:
    return one_input(random, lambda: ByValue((1, 0)), Pattern.MON, meaning=as_it_is)


def numbered(random: Draws) -> Trial:
    """Numbers are another matter in other lanes; `test_number` looks at them."""
    pattern = any_pattern(random)
    results = spread_by(0, 3, strict=pattern is Pattern.STR, numbers=(2,))

    def make() -> Number:
        return Number(TYPES, pattern, *inputs.queue(random))

    return one_input(random, make, pattern, results=results, meaning=as_it_is, seen=without_last)


def without_last(one: Element) -> Element:
    return replace(one, row=one.row[:-1])


def attached(random: Draws) -> Trial:
    """Elements that end at once, later, when they are withdrawn or never, and rows of each."""
    elements, rows = [], []
    for number in range(random.count()):
        ts = random.randint(0, random.size.last)
        te = random.choice([ts, ts + random.size.longest, INFINITY, INFINITY])
        elements.append(Element((number,), ts, te))
        if te == INFINITY and random.random() < 0.7:
            elements.append(Element((number,), ts + random.randint(1, random.size.longest), te, -1))
        for _ in range(random.choice([0, 1, 1, 3])):
            row = (*inputs.few_rows(random), number)
            rows.append(Element(row, random.randint(0, ts), INFINITY))
    types = (*TYPES, pa.int64())
    edges = [
        Edge(sorted(elements, key=lambda one: one.ts), types[2:], signed=True),
        Edge(sorted(rows, key=lambda one: one.ts), types, key=2),
    ]
    return Trial(lambda: Attached(TYPES), edges, spread_by(0, 2, strict=True), strict=True)


def drop_ends(random: Draws) -> Trial:
    return one_input(random, DropEnds, any_pattern(random), strict=False)


def ends_to_column(random: Draws) -> Trial:
    return one_input(random, EndsToColumn, any_pattern(random))


def ends_from_column(random: Draws) -> Trial:
    pattern = any_pattern(random)
    elements = inputs.edge(random, pattern)
    given = [replace(one, row=(*one.row, one.te)) for one in elements]
    edges = [Edge(given, (*TYPES, pa.int64()), pattern is Pattern.STR)]
    return Trial(EndsFromColumn, edges, spread_by(0, 2, strict=False))


CASES = [
    Case(InOrder, "", in_order),
    Case(Passing, "", passing),
    Case(FilterOperator, "", filtered),
    Case(MapOperator, "", mapped),
    Case(RelationRows, "", relation),
    *(Case(TimeWindow, str(spec), time_window(spec)) for spec in WINDOWS),
    *(Case(HoppingWindow, str(spec), hopping_window(spec)) for spec in HOPPING),
    Case(RowsWindow, "", rows_window((), tell_vanished=False)),
    Case(RowsWindow, "by key", rows_window((0,), tell_vanished=False)),
    Case(RowsWindow, "by key, vanished rows told", rows_window((0,), tell_vanished=True)),
    Case(ByValue, "", by_value),
    Case(Number, "", numbered),
    Case(Attached, "", attached),
    Case(DropEnds, "", drop_ends),
    Case(EndsToColumn, "", ends_to_column),
    Case(EndsFromColumn, "", ends_from_column),
]

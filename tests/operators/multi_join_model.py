"""What the tests of the join of many inputs share: generated joins, and their definition."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args
from unittest import mock

import pyarrow as pa
from hypothesis import strategies as st

from operators.join_model import Element, Row, Run, edges, plain, read_back
from penstock.algebra.patterns import Pattern
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.multi_join import multi_join_groups
from penstock.operators.multi_join.multi_join import (
    Evaluation,
    Expiration,
    MultiJoin,
    Theta,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.operators.block import Block
    from penstock.operators.operator import Operator

POOLS: dict[pa.DataType, list[Any]] = {
    pa.int64(): [1, 2, 2**40, None],
    pa.string(): ["", "a", "a longer one", None],
    pa.float64(): [1.5, 0.0, -0.0, float("nan"), None],
}
MOST_ROWS = {2: 24, 3: 14, 4: 9, 5: 7, 6: 5}
"""Elements of each input, so that a product of all can still be written down."""


@dataclass(frozen=True)
class Class:
    """Columns that must be equal: their type, and whether NULL is like NULL."""

    type: pa.DataType
    null_matches: bool


@dataclass(frozen=True)
class Shape:
    """A join: rows have a column for each class of their input, and a number behind them."""

    classes: tuple[Class, ...]
    agreements: tuple[tuple[int, ...], ...]
    patterns: tuple[Pattern, ...]
    thetas: tuple[tuple[int, ...], ...]

    def types(self, number: int) -> list[pa.DataType]:
        return [*(self.classes[one].type for one in self.agreements[number]), pa.int64()]

    def rows(self, number: int) -> st.SearchStrategy[Row]:
        pools = [POOLS[self.classes[one].type] for one in self.agreements[number]]
        return st.tuples(*map(st.sampled_from, pools), st.integers(0, 2))

    def side(self, number: int) -> JoinSide:
        agreements = self.agreements[number]
        nulls = tuple(self.classes[one].null_matches for one in agreements)

        def keys(block: Block) -> Sequence[pa.Array]:
            return block.columns[: len(agreements)]

        return JoinSide(self.types(number), keys, nulls, self.patterns[number], 8, 4)

    def conditions(self) -> list[Theta]:
        return [Theta(inputs, self._asks(inputs)) for inputs in self.thetas]

    def _asks(self, inputs: Sequence[int]) -> Callable[[Sequence[pa.Array], int], Any]:
        widths = [len(self.types(one)) for one in inputs]
        last = [sum(widths[: place + 1]) - 1 for place in range(len(widths))]

        def asks(columns: Sequence[pa.Array], length: int) -> Any:
            assert len(columns) == sum(widths)
            assert all(len(column) == length for column in columns)
            return sum(columns[one].to_numpy() for one in last) % 3 != 1

        return asks


@st.composite
def shapes(draw: st.DrawFn, inputs: int) -> Shape:
    """Any join of so many inputs."""
    numbers = list(range(inputs))
    members = draw(
        st.lists(st.sets(st.sampled_from(numbers), min_size=2), max_size=3)
        | st.just([set(numbers)])
    )
    classes = tuple(Class(draw(st.sampled_from(list(POOLS))), draw(st.booleans())) for _ in members)
    agreements = tuple(
        tuple(draw(st.permutations([one for one, each in enumerate(members) if number in each])))
        for number in numbers
    )
    patterns = tuple(draw(st.sampled_from(list(Pattern))) for _ in numbers)
    some = st.sets(st.sampled_from(numbers), min_size=1, max_size=3).map(sorted).map(tuple)
    return Shape(classes, agreements, patterns, tuple(draw(st.lists(some, max_size=2))))


@st.composite
def inputs_of(draw: st.DrawFn, shape: Shape) -> list[list[Element]]:
    """Elements of each input; a prefix of an edge is an edge."""
    most = MOST_ROWS[len(shape.patterns)]
    return [
        draw(edges(pattern, shape.rows(number)))[:most]
        for number, pattern in enumerate(shape.patterns)
    ]


@st.composite
def orders_of(draw: st.DrawFn, inputs: int) -> list[tuple[int, ...]]:
    others = [[one for one in range(inputs) if one != origin] for origin in range(inputs)]
    return [tuple(draw(st.permutations(each))) for each in others]


def levels_of(shape: Shape) -> st.SearchStrategy[list[tuple[int, ...]] | None]:
    """Behind how many probes conditions are asked, at least; None: as soon as they can be."""
    inputs = len(shape.patterns)
    each = st.tuples(*(st.integers(0, inputs - 1) for _ in shape.thetas))
    return st.none() | st.lists(each, min_size=inputs, max_size=inputs)


@st.composite
def joins(draw: st.DrawFn, /, shape: Shape, **fixed: Any) -> MultiJoin:
    """A join of the shape, carried out in any way."""
    options: dict[str, Any] = {
        "evaluation": draw(st.sampled_from(get_args(Evaluation))),
        "expiration": draw(st.sampled_from(get_args(Expiration))),
        "at_once": draw(st.sampled_from([1, 3, 1000])),
        "portion": draw(st.sampled_from([1, 4, None])),
        "buckets": draw(st.none() | st.just([1, 2, 3, 5, 8, 13][: len(shape.patterns)])),
    }
    sides = [shape.side(one) for one in range(len(shape.patterns))]
    orders, levels = draw(orders_of(len(sides))), draw(levels_of(shape))
    conditions = shape.conditions()
    return MultiJoin(
        sides, shape.agreements, conditions, orders, levels=levels, **(options | fixed)
    )


@contextmanager
def grouping() -> Iterator[None]:
    """Rows of one key look for others together, whether that is worth it or not."""
    with mock.patch.multiple(multi_join_groups, GROWTH=1e9, MORE=0.0, PAUSE=0):
        yield


@dataclass
class MultiRun(Run):
    """A join under test, which is carried on in another way, or in another order, now and then."""

    data: st.DataObject = field(kw_only=True)
    shape: Shape = field(kw_only=True)

    def reopened(self, operator: Operator) -> Operator:
        assert isinstance(operator, MultiJoin)
        if self.data.draw(st.booleans()):
            orders = self.data.draw(orders_of(len(self.types)))
            operator.reorder(orders, self.data.draw(levels_of(self.shape)))
            return operator
        segments, made = operator.segments(), self.make()
        made.restore({name: read_back(table) for name, table in segments.items()})
        assert made.state_rows == sum(len(table) for table in segments.values())
        return made


def combined(shape: Shape, snapshots: Sequence[Counter[Row]]) -> Counter[Row]:
    """The combinations of rows of snapshots that the join is defined to find."""
    found: list[tuple[list[Row], int]] = [([], 1)]
    for number, rows in enumerate(snapshots):
        found = [
            ([*before, row], copies * more)
            for before, copies in found
            for row, more in rows.items()
            if _agrees(shape, number, row, before) and _holds(shape, number, [*before, row])
        ]
    total: Counter[Row] = Counter()
    for rows_found, copies in found:
        total[sum(rows_found, ())] += copies
    return total


def _agrees(shape: Shape, number: int, row: Row, before: Sequence[Row]) -> bool:
    for place, one in enumerate(shape.agreements[number]):
        if row[place] is None and not shape.classes[one].null_matches:
            return False
        for other, theirs in enumerate(before):
            if one in shape.agreements[other]:
                value = theirs[shape.agreements[other].index(one)]
                if plain((value,)) != plain((row[place],)):
                    return False
    return True


def _holds(shape: Shape, number: int, rows: Sequence[Row]) -> bool:
    return all(
        sum(rows[one][-1] for one in inputs) % 3 != 1
        for inputs in shape.thetas
        if max(inputs) == number
    )


def plain_orders(inputs: int) -> list[tuple[int, ...]]:
    """The others as they stand."""
    return [tuple(one for one in range(inputs) if one != origin) for origin in range(inputs)]

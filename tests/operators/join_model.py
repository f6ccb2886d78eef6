"""What the tests of the join family share: generated edges, driven operators, checked results."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block
from penstock.operators.operator import stepped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.operators.operator import Operator

HORIZON = 40
"""Every finite interval of a generated edge ends before it."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Element:
    row: Row
    ts: int
    te: int
    sign: int = 1


@st.composite
def edges(draw: st.DrawFn, pattern: Pattern, rows: st.SearchStrategy[Row]) -> list[Element]:
    """Elements of an edge with this pattern, by ts."""
    count = draw(st.sampled_from([0, 2, 8, 24]))
    starts = sorted(draw(st.lists(st.integers(0, 20), min_size=count, max_size=count)))
    window, slide = draw(st.integers(1, 12)), draw(st.sampled_from([1, 1, 3]))
    found = []
    for ts in starts:
        row = draw(rows)
        if pattern is Pattern.MON:
            found.append(Element(row, ts, INFINITY))
        elif pattern is Pattern.WKS:
            begin, end = (-(-x // slide) * slide for x in (ts, ts + window))
            if begin < end:
                found.append(Element(row, begin, end))
        elif pattern is Pattern.WK:
            found.append(Element(row, ts, ts + draw(st.integers(1, 12))))
        else:
            found += draw(strict_elements(row, ts))
    return sorted(found, key=lambda one: one.ts)


@st.composite
def strict_elements(draw: st.DrawFn, row: Row, ts: int) -> list[Element]:
    """An element that may be withdrawn, and may have been there from the beginning."""
    te = draw(st.sampled_from([INFINITY, ts + 2, ts + 9]))
    element = Element(row, draw(st.sampled_from([ts, ts, ts, BEGINNING])), te)
    if draw(st.booleans()):
        return [element]
    return [element, Element(row, draw(st.integers(ts + 1, min(te - 1, ts + 8))), te, -1)]


def block_of(elements: Sequence[Element], types: Sequence[pa.DataType], signed: bool) -> Block:
    columns = zip(*(one.row for one in elements), strict=True) if elements else [[]] * len(types)
    arrays = tuple(pa.array(list(c), t) for c, t in zip(columns, types, strict=True))
    ts, te = (np.array([getattr(one, n) for one in elements], np.int64) for n in ("ts", "te"))
    sign = np.array([one.sign for one in elements], np.int8) if signed else None
    return Block(arrays, ts, te, sign)


def elements_of(block: Block) -> list[Element]:
    columns = [column.to_pylist() for column in block.columns]
    rows = zip(*columns, strict=True) if columns else [()] * len(block)
    times = zip(block.ts.tolist(), block.te.tolist(), block.signs.tolist(), strict=True)
    return [Element(tuple(row), *time) for row, time in zip(rows, times, strict=True)]


def step_of(operator: Operator, clock: int, *inputs: Block) -> list[Block]:
    """A step in which each input brings one block, perhaps an empty one."""
    return stepped(operator, [[block] if len(block) else [] for block in inputs], clock)


def sent(operator: Operator, clock: int, *inputs: Block) -> list[Element]:
    """The elements of such a step."""
    return [one for block in step_of(operator, clock, *inputs) for one in elements_of(block)]


@dataclass
class Run:
    """An operator under test: how to make it, and what its inputs look like."""

    make: Callable[[], Operator]
    types: Sequence[Sequence[pa.DataType]]
    signed: Sequence[bool]

    def results(self, data: st.DataObject, inputs: Sequence[Sequence[Element]]) -> list[Element]:
        """Feed the inputs in random steps and blocks, saving and restoring now and then."""
        clocks = sorted(data.draw(st.sets(st.integers(0, HORIZON), max_size=6)))
        operator, found, before = self.make(), [], BEGINNING
        for clock in [*clocks, HORIZON + 1]:
            arrived = []
            for port, edge in enumerate(inputs):
                step = [one for one in edge if before <= one.ts < clock]
                parts = data.draw(st.permutations(step).map(_parts))
                types, signed = self.types[port], self.signed[port]
                arrived.append([block_of(part, types, signed) for part in parts])
            blocks = stepped(operator, arrived, clock)
            made = [one for block in blocks for one in elements_of(block)]
            assert all(before <= one.ts < clock for one in made)
            found += made
            before = clock
            if data.draw(st.sampled_from([False, False, False, True])):
                operator = self.reopened(operator)
        self.last = operator
        return found

    def reopened(self, operator: Operator) -> Operator:
        """One that goes on from saved state."""
        segments, rows = operator.segments(), operator.state_rows
        made = self.make()
        made.restore({name: read_back(table) for name, table in segments.items()})
        assert made.state_rows == rows
        return made


def read_back(table: pa.Table) -> pa.Table:
    """The table as a file gives it: without chunks if it is empty."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_file(sink.getvalue()).read_all()


def _parts(step: Sequence[Element]) -> list[Sequence[Element]]:
    """Cut at a place that depends on what stands there: as random as the permutation."""
    cut = step[0].ts % len(step) if step and step[0].ts > 0 else 0
    return [part for part in (step[:cut], step[cut:]) if part]


def snapshot(elements: Sequence[Element], instant: int) -> Counter[Row]:
    """The bag of rows valid at an instant; no row has a negative count."""
    found: Counter[Row] = Counter()
    for one in elements:
        if one.ts <= instant < one.te:
            found[plain(one.row)] += one.sign
    assert min(found.values(), default=0) >= 0
    return +found


def plain(row: Row) -> Row:
    """A row that equals another one if the two are not distinct."""
    return tuple("NaN" if isinstance(one, float) and math.isnan(one) else one for one in row)


def check_edge(elements: Sequence[Element], signed: bool) -> None:
    """Intervals are not empty; negative rows withdraw what began before, with the same end."""
    assert all(one.ts < one.te for one in elements)
    assert signed or all(one.sign == 1 for one in elements)
    live: Counter[tuple[Row, int]] = Counter()
    for one in sorted(elements, key=lambda one: (one.ts, one.sign)):
        live[plain(one.row), one.te] += one.sign
        assert live[plain(one.row), one.te] >= 0, f"{one} withdraws nothing"

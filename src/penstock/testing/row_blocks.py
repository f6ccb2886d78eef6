"""The expectation blocks that hold rows: `snapshots`, `changes`, `emits`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.instants import read_instant
from penstock.algebra.time import BEGINNING, TimeUnit
from penstock.errors import DataError
from penstock.reference.compare import (
    DEFAULT_TOLERANCE,
    Mismatch,
    by_instant,
    out_of_order,
    report,
    unmatched,
)
from penstock.reference.timeline import Row, Timeline, in_order
from penstock.testing.expected_rows import (
    ExpectedRow,
    expected_row,
    print_cell,
)
from penstock.testing.printing import print_table
from penstock.testing.timed import START, timed_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Emission
    from penstock.testing.blocks import TextBlock
    from penstock.testing.format import StreamCase
    from penstock.testing.timed import TimedLine

Content = dict[int, list[tuple[str, Row]]]
"""At each instant the rows, each with its sign (none in `snapshots` and `emits`)."""
Expected = dict[int, list[tuple[str, ExpectedRow]]]


@dataclass(frozen=True)
class Computed:
    """The answer of an engine to a query."""

    plan: Plan
    warnings: Sequence[str]
    result: Timeline | Sequence[Emission]
    failures: int
    day: str | None

    @property
    def unit(self) -> TimeUnit:
        """The unit instants are shown in; relations alone have none, and show numbers."""
        return self.plan.unit or TimeUnit.TICK


def compare(case: StreamCase, block: TextBlock, computed: Computed) -> str | None:
    """The difference of the rows of a block and the computed ones, as text; None if they agree.

    Raises:
        DataError: The block does not fit the query: its columns, their types, its time.
    """
    expected = _expected(case, block, computed)
    if block.kind == "snapshots" and not expected:
        return "no instant is given; list some, or let --update fill in all that matter"
    actual = _content(block, computed, expected)
    ordered = block.argument == "in order"
    differences = [
        _difference(at, expected.get(at, []), actual.get(at, []), computed, ordered=ordered)
        for at in sorted({*expected, *actual})
    ]
    return report([one for one in differences if one is not None], computed.unit)


def written(case: StreamCase, block: TextBlock, computed: Computed) -> list[str]:
    """The lines the block must have to agree with what was computed.

    A row that was expected keeps its spelling (`19.77~`), a snapshot its place in the block.
    """
    expected = _expected(case, block, computed)
    content = _content(block, computed, expected)
    spellings = [row for entries in expected.values() for _, row in entries]
    order = expected if block.kind == "snapshots" and expected else sorted(content)
    return print_table(
        [
            (at, [(sign, _cells(row, spellings, computed)) for sign, row in content[at]])
            for at in order
        ],
        computed.plan.schema.types,
        computed.unit,
        computed.day,
    )


def _expected(case: StreamCase, block: TextBlock, computed: Computed) -> Expected:
    unit = computed.plan.unit
    expected: defaultdict[int, list[tuple[str, ExpectedRow]]] = defaultdict(list)
    for timed in timed_lines(case.source, block):
        try:
            at = BEGINNING if timed.instant == START else _instant(timed, unit, computed)
            entries = expected[at]
            if timed.row is not None:
                row = expected_row(timed.row, computed.plan.schema, computed.day)
                entries.append((timed.sign, row))
        except DataError as fault:
            raise case.fault(fault.message, timed.line.number, fault.hint) from fault
    return dict(expected)


def _instant(timed: TimedLine, unit: TimeUnit | None, computed: Computed) -> int:
    return read_instant(timed.instant, unit, computed.day)


def _content(block: TextBlock, computed: Computed, expected: Iterable[int]) -> Content:
    """The content that the block would have to have."""
    result = computed.result
    if not isinstance(result, Timeline):
        return {at: _unsigned(rows) for at, rows in by_instant(result).items()}
    if block.kind == "changes":
        return _changes(result)
    instants = list(expected) or [BEGINNING] * bool(result.initial) + [
        change.at for change in result.changes()
    ]
    return {at: _unsigned(in_order(result.at(at))) for at in instants}


def _changes(result: Timeline) -> Content:
    content = {BEGINNING: [("+", row) for row in in_order(result.initial)]}
    for change in result.changes():
        # A float that moved by less than the tolerance did not change, whatever engine moved it.
        removed, inserted = unmatched(
            in_order(change.removed), in_order(change.inserted), DEFAULT_TOLERANCE.same_rows
        )
        content[change.at] = [("-", row) for row in removed] + [("+", row) for row in inserted]
    return {at: rows for at, rows in content.items() if rows}


def _unsigned(rows: Iterable[Row]) -> list[tuple[str, Row]]:
    return [("", row) for row in rows]


def _difference(
    at: int,
    expected: list[tuple[str, ExpectedRow]],
    actual: list[tuple[str, Row]],
    computed: Computed,
    *,
    ordered: bool,
) -> Mismatch | None:
    wanted = [f"{sign} {row}".lstrip() for sign, row in expected]
    found = [f"{sign} {' | '.join(_cells(row, (), computed))}".lstrip() for sign, row in actual]
    missing, unexpected = unmatched(
        range(len(wanted)), range(len(found)), lambda i, j: _accepts(expected[i], actual[j])
    )
    if missing or unexpected:
        return Mismatch(at, [wanted[i] for i in missing], [found[j] for j in unexpected])
    if ordered:
        return out_of_order(at, wanted, found, list(map(_accepts, expected, actual)))
    return None


def _accepts(expected: tuple[str, ExpectedRow], actual: tuple[str, Row]) -> bool:
    return expected[0] == actual[0] and expected[1].accepts(actual[1])


def _cells(row: Row, spellings: Iterable[ExpectedRow], computed: Computed) -> list[str]:
    for spelling in spellings:
        if spelling.accepts(row):
            return [cell.text for cell in spelling.cells]
    return [
        print_cell(value, type_, computed.day)
        for value, type_ in zip(row, computed.plan.schema.types, strict=True)
    ]

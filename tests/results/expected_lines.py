"""Lines as they follow from the result at every instant, by the definitions: slow, and obvious."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.streams import is_ordered
from penstock.algebra.time import BEGINNING, TimeUnit
from penstock.algebra.values import row_key
from penstock.reference.compare import by_instant
from penstock.reference.intervals import validities
from penstock.reference.timeline import Timeline, in_order
from penstock.testing.expected_rows import print_cell
from penstock.testing.printing import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Bag, Emission, Row

    Content = list[tuple[int, list[tuple[str, Row]]]]


def result_lines(plan: Plan, result: Timeline | Sequence[Emission]) -> list[str]:
    """Every change of a content, or every row sent out, in columns."""
    if isinstance(result, Timeline):
        return table_lines(plan, changes(result))
    sent = {at: in_sent_order(plan, rows) for at, rows in by_instant(result).items()}
    return table_lines(plan, [(at, [("", row) for row in rows]) for at, rows in sent.items()])


def in_sent_order(plan: Plan, rows: Sequence[Row]) -> Sequence[Row]:
    """Rows of one instant by value, unless the query orders them."""
    return rows if is_ordered(plan.children[0]) else sorted(rows, key=row_key)


def changes(timeline: Timeline) -> Content:
    """The content before all input, then every change."""
    content = [
        (change.at, signed("-", change.removed) + signed("+", change.inserted))
        for change in timeline.changes()
    ]
    initial = signed("+", timeline.initial)
    return [(BEGINNING, initial), *content] if initial else content


def snapshot_lines(plan: Plan, timeline: Timeline, instant: int) -> list[str]:
    """The rows that hold at an instant."""
    return table_lines(plan, [(instant, signed("", timeline.at(instant)))])


def signed(sign: str, bag: Bag) -> list[tuple[str, Row]]:
    return [(sign, row) for row in in_order(bag)]


def table_lines(plan: Plan, content: Content) -> list[str]:
    cells = [(at, [(sign, row_cells(plan, row)) for sign, row in rows]) for at, rows in content]
    return print_table(cells, plan.schema.types, plan.unit or TimeUnit.TICK, None)


def row_cells(plan: Plan, row: Row) -> list[str]:
    return [print_cell(value, one) for value, one in zip(row, plan.schema.types, strict=True)]


def interval_lines(plan: Plan, timeline: Timeline) -> list[str]:
    """The rows with the intervals in which they hold."""
    unit = plan.unit or TimeUnit.TICK
    found = []
    for one in validities(timeline):
        start = "start" if one.start == BEGINNING else unit.format(one.start)
        found.append((f"[{start}, {unit.format(one.end)})", " | ".join(row_cells(plan, one.row))))
    width = max((len(interval) for interval, _ in found), default=0)
    return [f"{interval.ljust(width)}  {values}" for interval, values in found]

"""Printing what queries answer: every change, what holds at an instant, or rows with their time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import QueryError, count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Bag, Emission, Row, Timeline


@dataclass(frozen=True)
class OutputOptions:
    """What is to be shown: every change, or what holds at an instant, or rows with intervals."""

    at: str = ""
    intervals: bool = False


@dataclass(frozen=True)
class Answered:
    """A query and its answer: emissions for ISTREAM and its kin, else the result over time."""

    title: str | None
    plan: Plan
    result: Timeline | Sequence[Emission]


def lines_of(answer: Answered, wish: OutputOptions) -> list[str]:
    """The columns, and what is to be shown.

    Raises:
        QueryError: There is no such thing to show of a query that sends out rows.
    """
    columns = " | ".join(answer.plan.schema.names)
    title = f"{answer.title}: {columns}" if answer.title else columns
    return [title, *(_intervals(answer) if wish.intervals else _results(answer, wish.at))]


def failure_warning(failures: Mapping[str, int]) -> str:
    """What is said of expressions that failed."""
    kinds = ", ".join(name.upper() for name in failures)
    return f"warning: {count(sum(failures.values()), 'expression')} failed and gave NULL ({kinds})"


def _timeline(answer: Answered) -> Timeline:
    from penstock.reference.timeline import Timeline

    if not isinstance(answer.result, Timeline):
        msg = "the query sends out rows, which hold at no time"
        raise QueryError(msg, hint="Leave out --at and --intervals, or ISTREAM and its kin.")
    return answer.result


def _results(answer: Answered, at: str) -> list[str]:
    from penstock.algebra.time import TimeUnit
    from penstock.reference.compare import by_instant
    from penstock.reference.timeline import Timeline
    from penstock.testing.printing import print_table
    from penstock.testing.values import print_cell, read_instant

    plan = answer.plan
    unit = plan.unit or TimeUnit.TICK
    if at:
        instant = read_instant(at, unit)
        content = [(instant, _signed("", _timeline(answer).at(instant)))]
    elif isinstance(answer.result, Timeline):
        content = _changes(answer.result)
    else:
        sent = by_instant(answer.result)
        content = [(when, [("", row) for row in rows]) for when, rows in sent.items()]

    def cells(row: Row) -> list[str]:
        return [print_cell(value, one) for value, one in zip(row, plan.schema.types, strict=True)]

    printed = [(when, [(sign, cells(row)) for sign, row in rows]) for when, rows in content]
    return print_table(printed, plan.schema.types, unit, None)


def _intervals(answer: Answered) -> list[str]:
    """One line per row: the half-open interval in which it holds, and the row."""
    from penstock.algebra.time import BEGINNING, TimeUnit
    from penstock.reference.intervals import validities
    from penstock.testing.values import print_cell

    unit = answer.plan.unit or TimeUnit.TICK
    lines = []
    for one in validities(_timeline(answer)):
        start = "start" if one.start == BEGINNING else unit.format(one.start)
        cells = zip(one.row, answer.plan.schema.types, strict=True)
        values = " | ".join(print_cell(value, type_) for value, type_ in cells)
        lines.append((f"[{start}, {unit.format(one.end)})", values))
    width = max((len(interval) for interval, _ in lines), default=0)
    return [f"{interval.ljust(width)}  {values}" for interval, values in lines]


def _signed(sign: str, bag: Bag) -> list[tuple[str, Row]]:
    from penstock.reference.timeline import in_order

    return [(sign, row) for row in in_order(bag)]


def _changes(timeline: Timeline) -> list[tuple[int, list[tuple[str, Row]]]]:
    """What was there before all input, then every change."""
    from penstock.algebra.time import BEGINNING

    content = [
        (change.at, _signed("-", change.removed) + _signed("+", change.inserted))
        for change in timeline.changes()
    ]
    initial = _signed("+", timeline.initial)
    return [(BEGINNING, initial), *content] if initial else content

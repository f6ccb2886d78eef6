"""The finite inputs a plan is evaluated over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.values import canonical
from penstock.errors import DataError
from penstock.reference.timeline import Element, Origin, Row, Tagged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.streams import Relation, Stream


@dataclass(frozen=True, slots=True)
class RelationChange:
    """A row that enters (`+`) or leaves (`-`) a relation at an instant."""

    at: int
    sign: Literal["+", "-"]
    row: Row


@dataclass(frozen=True)
class RelationHistory:
    """The content of a relation before all input, and its changes in order."""

    initial: Sequence[Row] = ()
    changes: Sequence[RelationChange] = ()


@dataclass(frozen=True)
class Inputs:
    """Rows of streams in the order they arrived, and histories of relations, by name."""

    streams: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    relations: Mapping[str, RelationHistory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A row of a stream at its instant; arrivals are listed in (ts, seq) order."""

    at: int
    row: Row


def arrivals_of(stream: Stream, inputs: Inputs) -> list[Arrival]:
    """The rows of a stream by event time; rows of one instant in the order they arrived.

    Raises:
        DataError: A row has no event time, or not as many values as the stream has columns.
    """
    time_index = stream.columns.names.index(stream.time_column)
    arrivals = []
    for number, row in enumerate(inputs.streams.get(stream.name, ()), start=1):
        if len(row) != len(stream.columns):
            msg = (
                f'row {number} of stream "{stream.name}" has {len(row)} values,'
                f" the stream has {len(stream.columns)} columns"
            )
            raise DataError(msg)
        at = row[time_index]
        if not isinstance(at, int):
            msg = f'row {number} of stream "{stream.name}" has no event time: {row}'
            raise DataError(msg, hint=f'Column "{stream.time_column}" must not be NULL.')
        _require_instant(at, f'row {number} of stream "{stream.name}"')
        arrivals.append(Arrival(at, tuple(map(canonical, row))))
    return sorted(arrivals, key=lambda arrival: arrival.at)


def _require_instant(at: int, what: str) -> None:
    """The ends of the 64-bit range stand for what is before and after all time."""
    if not BEGINNING < at < INFINITY:
        msg = f"{what} lies outside of time: {at}"
        raise DataError(msg, hint=f"Instants lie between {BEGINNING + 1} and {INFINITY - 1}.")


def relation_elements(relation: Relation, inputs: Inputs) -> list[Element]:
    """The rows of a relation with the intervals in which it held them.

    Raises:
        DataError: A change removes a row that is not there.
    """
    history = inputs.relations.get(relation.name, RelationHistory())
    live: list[tuple[Tagged, int]] = []
    elements: list[Element] = []
    for position, row in enumerate(history.initial):
        live.append((Tagged(tuple(map(canonical, row)), (Origin(BEGINNING, position),)), BEGINNING))
    changes = sorted(history.changes, key=lambda change: change.at)
    for position, change in enumerate(changes):
        _require_instant(change.at, f'a change of relation "{relation.name}"')
        row = tuple(map(canonical, change.row))
        if change.sign == "+":
            live.append((Tagged(row, (Origin(change.at, position),)), change.at))
            continue
        leaving = next((entry for entry in live if entry[0].row == row), None)
        if leaving is None:
            msg = f'relation "{relation.name}" does not hold {row}, removed at {change.at}'
            raise DataError(msg)
        live.remove(leaving)
        elements.append(Element(leaving[0], leaving[1], change.at))
    elements += [Element(tagged, start, INFINITY) for tagged, start in live]
    return [element for element in elements if element.start < element.end]

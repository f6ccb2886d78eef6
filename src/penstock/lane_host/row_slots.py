"""Slots: one row format for the rows of all streams, so that one shuffle carries them all.

Columns of one type share slots: the first BIGINT of every stream is in the same one. A row has
the number of its stream, a code for its lanes, its instant, and as many slots as the widest stream
needs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.types import BIGINT, TIMESTAMP, Type, to_arrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.catalog.definitions import StreamDefinition

STREAM, CODE, INSTANT = "_stream", "_code", "_ts"
"""The columns before the slots: which stream, which lanes it is for, and when."""
RAW, BREAK = "_raw", "\n"
"""A column that is there where rows may not be taken in: where such a row stands and, behind a line
break, why and what could not be read there. Of all other rows it is NULL."""
_WHY = "\x1f"
"""Stands between why a row cannot be read, where that is known, and its text."""
OPENING = "_opening"
"""A column that is there where rows were brought one after the other, and are taken in together:
where the watermark was when each of them was brought, as far as those before it say."""
POSITIONS = ("_position_0", "_position_1", "_position_2")
"""Columns that are there where rows are counted: where the piece of the source that a row is in
comes among those of the batch. Within a piece, rows are in order."""


@dataclass(frozen=True)
class Slot:
    """A column of the common format; timestamps travel as microseconds."""

    name: str
    type: Type

    @property
    def arrow(self) -> pa.DataType:
        """Its Arrow type on the way."""
        return pa.int64() if self.type == TIMESTAMP else to_arrow(self.type)


@dataclass(frozen=True)
class StreamSlots:
    """The positions of a stream's columns; None is the event time, which every row has anyway."""

    definition: StreamDefinition
    number: int
    slots: tuple[Slot | None, ...]


@dataclass(frozen=True)
class RowFormat:
    """The common format of some streams."""

    streams: dict[str, StreamSlots]

    @property
    def all(self) -> list[Slot]:
        """Every slot that some stream uses."""
        used = {slot: None for one in self.streams.values() for slot in one.slots if slot}
        return list(used)


def raw_of(place: str, text: str, why: str | None = None) -> str:
    """The value of `RAW` of a row that cannot be read."""
    return f"{place}{BREAK}{text}" if why is None else f"{place}{BREAK}{why}{_WHY}{text}"


def split_raw(raw: str | None) -> tuple[str | None, str | None, str | None]:
    """The place, why it cannot be read, and the text, each where it is known.

    >>> split_raw(raw_of("a.csv, line 2", "x,1", "no number")), split_raw("a.csv")
    (('a.csv, line 2', 'no number', 'x,1'), ('a.csv', None, None))
    """
    if raw is None:
        return None, None, None
    place, broken, rest = raw.partition(BREAK)
    if not broken:
        return place, None, None
    why, known, text = rest.partition(_WHY)
    return (place, why, text) if known else (place, None, rest)


def slots_for(definitions: Sequence[StreamDefinition]) -> RowFormat:
    """The format for some streams."""
    return RowFormat(
        {one.name: StreamSlots(one, number, _slots(one)) for number, one in enumerate(definitions)}
    )


def _slots(definition: StreamDefinition) -> tuple[Slot | None, ...]:
    used: Counter[str] = Counter()
    found: list[Slot | None] = []
    for field in definition.schema:
        if field.name == definition.time_column and field.type in (BIGINT, TIMESTAMP):
            found.append(None)
            continue
        kind = (
            str(field.type)
            .lower()
            .translate({ord(" "): None, ord("("): "_", ord(","): "_", ord(")"): None})
        )
        found.append(Slot(f"{kind}_{used[kind]}", field.type))
        used[kind] += 1
    return tuple(found)

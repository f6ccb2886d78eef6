"""Logs: what one task was given in one micro-batch, as it came.

A log has the rows in the common format, the watermarks at the opening of the batch, and the
numbers under which streams and lanes stand in the rows. Fed to the lanes that were there before,
it makes the state that was there after.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING, TimeUnit
from penstock.algebra.types import Field, Schema, Type
from penstock.catalog.definitions import StreamDefinition
from penstock.home.bundles import Bundle
from penstock.pipeline.slots import Slots, slots_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

ROWS = "rows"
"""The part of a log that has the rows."""


def about_log(
    streams: Sequence[dict[str, Any]],
    lanes: Mapping[str, int],
    watermarks: Mapping[str, int],
    *,
    relations: Mapping[str, Mapping[str, Sequence[str]]],
    only_lane: int | None = None,
    is_last: bool = False,
) -> dict[str, Any]:
    """What a log says of itself.

    `streams` are described by `described`, in the order of their numbers.

    `relations` names for each group the files with changes to be fed before the rows. `only_lane`
    is the lane of all rows, where they do not say it themselves. The last log has no rows: it says
    that the input has come to its end.
    """
    return {
        "streams": list(streams),
        "lanes": dict(lanes),
        "watermarks": dict(watermarks),
        "relations": relations,
        "only_lane": only_lane,
        "last": is_last,
    }


@dataclass(frozen=True)
class Log:
    """A log that has been read: the rows of each lane and stream."""

    slots: Slots
    is_last: bool
    _watermarks: Mapping[str, int]
    _lanes: Mapping[str, int]
    _relations: Mapping[str, Mapping[str, Sequence[str]]]
    _rows: Mapping[int, Mapping[str, pa.Table]]

    def changes(self, group: int) -> Mapping[str, Sequence[str]]:
        """The files with changes of relations that a group is fed."""
        return self._relations.get(str(group), {})

    def watermark(self, stream: str) -> int:
        """The watermark of a stream when the batch was opened."""
        return self._watermarks.get(stream, BEGINNING)

    def share(self, lane: str) -> Mapping[str, pa.Table]:
        """The rows of a lane, by stream."""
        return self._rows.get(self._lanes[lane], {})


def described(definition: StreamDefinition) -> dict[str, Any]:
    """A stream as a log describes it: the stream may be declared otherwise when it is read."""
    return {
        "name": definition.name,
        "columns": [(one.name, *astuple(one.type)) for one in definition.schema],
        "time": definition.time_column,
        "unit": definition.unit.value,
        "slack": definition.slack,
    }


def _definition(about: dict[str, Any]) -> StreamDefinition:
    fields = tuple(Field(name, Type(*type_)) for name, *type_ in about["columns"])
    unit = TimeUnit(about["unit"])
    return StreamDefinition(about["name"], Schema(fields), about["time"], unit, about["slack"])


def read_log(path: Path) -> Log:
    """Read a log.

    Raises:
        DataError: The file is missing or damaged.
    """
    # Here, because who only writes logs need not load the operators.
    from penstock.pipeline.arriving import split

    bundle = Bundle(path)
    about = bundle.about
    slots = slots_for([_definition(one) for one in about["streams"]])
    rows: dict[int, dict[str, pa.Table]] = {}
    if ROWS in bundle.names:
        for lane, stream, table in split(bundle.table(ROWS), slots, about["only_lane"]):
            rows.setdefault(lane, {})[stream.definition.name] = table
    return Log(slots, about["last"], about["watermarks"], about["lanes"], about["relations"], rows)

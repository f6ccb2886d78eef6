"""Logs: what one task was given in one stage of a micro-batch, as it came.

A log has the rows in the common format or, in later stages, what other fragments sent; the
watermarks at the opening of the batch; and the codes under which lanes find their rows. Fed to
the lanes that were there before, it makes the state that was there after.
"""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit
from penstock.algebra.types import Field, Schema, Type
from penstock.catalog.definitions import StreamDefinition
from penstock.lane_host.row_slots import slots_for
from penstock.shedding.columns import SheddingColumns
from penstock.shedding.shedding import shedding_from
from penstock.store.bundles import Bundle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from penstock.lane_host.arrivals import Arrivals
    from penstock.store.layout import Home

ROWS = "rows"
"""The part of a log that has the rows which Spark brought."""
_SHEDDING = SheddingColumns._fields
"""Options of a stream that say which of its rows stay."""
CHANGES = "changes"
"""The part of a file that has changes of a relation."""


@dataclass(frozen=True)
class RowCoding:
    """A way to code rows.

    Args:
        lanes: For each lane, the code of the rows that it reads of each stream.
        counting: The codes of each stream whose rows together are all rows, each once.
        only: The code of all rows, where they do not say it themselves.
    """

    lanes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    counting: Mapping[str, Sequence[int]] = field(default_factory=dict)
    only: int | None = None


def about_log(
    streams: Sequence[dict[str, Any]],
    coded: RowCoding,
    watermarks: Mapping[str, int],
    *,
    relations: Mapping[str, Mapping[str, Sequence[str]]],
    clocks: Mapping[str, int] | None = None,
    holds: Mapping[str, int] | None = None,
    latest: Mapping[str, int] | None = None,
    shedding: Mapping[str, Any] | None = None,
    brought: Mapping[str, int] | None = None,
    is_last: bool = False,
) -> dict[str, Any]:
    """The header of a log.

    `streams` are described by `described`, in the order of their numbers.

    `relations` names for each group the files whose changes are fed before the rows; the log has
    them as well, so that they need not be kept as long as it is. `clocks`
    say how far fragments have come whose rows are in the log, `holds` which rows of a stream are
    known to come after the batch: its watermark does not pass them. `latest` has the latest
    instant of each stream in the batch, on all lanes, where that is known. `shedding` is the
    decision that the rows which stay follow from, with how many rows each stream had `brought`
    before. The last log has no rows: it says that the input has come to its end.
    """
    return {
        "streams": list(streams),
        "coded": asdict(coded),
        "watermarks": dict(watermarks),
        "holds": dict(holds or {}),
        "latest": dict(latest or {}),
        "shedding": shedding,
        "brought": dict(brought or {}) if shedding else {},
        "relations": relations,
        "clocks": dict(clocks or {}),
        "last": is_last,
    }


class Log:
    """A log that is being read.

    Attributes:
        slots: Where the columns of each stream are.
        is_last: Whether the input has come to its end.
        clocks: How far fragments have come that sent rows.

    Raises:
        DataError: The file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._bundle = Bundle(path)
        about = self._bundle.about
        self.slots = slots_for([_definition(one) for one in about["streams"]])
        self.is_last: bool = about["last"]
        self.clocks: Mapping[str, int] = about["clocks"]
        self._coded = RowCoding(**about["coded"])
        self._watermarks: Mapping[str, int] = about["watermarks"]
        self._holds: Mapping[str, int] = about["holds"]
        # Logs of earlier versions do not say it.
        self._latest: Mapping[str, int] = about.get("latest", {})
        self._shedding = shedding_from(about.get("shedding"))
        self._brought: Mapping[str, int] = about.get("brought", {})
        self._relations: Mapping[str, Mapping[str, Sequence[str]]] = about["relations"]

    def changes(self, group: int) -> Iterator[tuple[str, list[pa.Table]]]:
        """The changes of relations that a group is fed."""
        for relation, files in self._relations.get(str(group), {}).items():
            yield relation, [self._bundle.table(file) for file in files]

    def watermark(self, stream: str) -> int:
        """The watermark of a stream when the batch was opened."""
        return self._watermarks.get(stream, BEGINNING)

    def hold(self, stream: str) -> int:
        """The earliest row of a stream that is known to come after the batch."""
        return self._holds.get(stream, INFINITY)

    def latest(self, stream: str) -> int:
        """The latest instant that a stream brought to any lane, as far as that was known."""
        return self._latest.get(stream, BEGINNING)

    def arrived(self, lane: str, stream: str) -> Arrivals | None:
        """The rows that a stream brought to a lane; None if there are none."""
        return self._arrivals.get((stream, self._coded.lanes[lane][stream]))

    def counted(self) -> Iterator[tuple[str, Arrivals]]:
        """The rows of the streams, each counted once however many lanes it is for."""
        for (stream, code), found in self._arrivals.items():
            if code in self._coded.counting[stream]:
                yield stream, found

    def sent(self, sender: str, lane: str) -> pa.Table | None:
        """The rows that a fragment sent to a lane; None if there are none."""
        part = sent_part(sender, lane)
        return self._bundle.table(part) if part in self._bundle.names else None

    @cached_property
    def _arrivals(self) -> dict[tuple[str, int], Arrivals]:
        # Here, because who only writes logs need not load the operators.
        from penstock.lane_host.arrivals import arrivals, split

        found = [
            (code, self.slots.streams[stream], self._bundle.table(part))
            for part in self._bundle.names
            if part.startswith(f"{ROWS} ")
            for code, stream in [_of_rows_part(part)]
        ]
        if ROWS in self._bundle.names:
            found += split(self._bundle.table(ROWS), self.slots, self._coded.only)
        return {
            (name := stream.definition.name, code): arrivals(
                rows, stream, self.watermark(name), self._shedding, self._brought.get(name, 0)
            )
            for code, stream, rows in found
        }


def pending_parts(
    home: Home, pending: Mapping[str, Mapping[str, Sequence[str]]], lanes: Sequence[str]
) -> Iterator[tuple[str, pa.Table]]:
    """The changes of relations for some lanes, by the names that they have in a log."""
    groups = {lane.partition(".")[0] for lane in lanes}
    files = {
        file
        for group, relations in pending.items()
        if group in groups
        for several in relations.values()
        for file in several
    }
    for file in sorted(files):
        yield file, Bundle(home.segments / file).table(CHANGES)


def rows_part(code: int, stream: str) -> str:
    """The name of a table with rows of one stream that have one code."""
    return f"{ROWS} {code} {stream}"


def code_of(part: str) -> int:
    """The code of the rows in a table, by its name."""
    return _of_rows_part(part)[0]


def _of_rows_part(part: str) -> tuple[int, str]:
    _, code, stream = part.split(" ", 2)
    return int(code), stream


def sent_part(sender: str, lane: str) -> str:
    """The name of a table with what a fragment sends to a lane."""
    return f"{sender} to {lane}"


def described(definition: StreamDefinition) -> dict[str, Any]:
    """A stream as a log describes it: the stream may be declared otherwise when it is read."""
    return {
        "name": definition.name,
        "columns": [(one.name, *astuple(one.type)) for one in definition.schema],
        "time": definition.time_column,
        "unit": definition.unit.value,
        "slack": definition.slack,
        "options": {key: value for key, value in definition.options.items() if key in _SHEDDING},
    }


def _definition(about: dict[str, Any]) -> StreamDefinition:
    fields = tuple(Field(name, Type(*type_)) for name, *type_ in about["columns"])
    unit = TimeUnit(about["unit"])
    return StreamDefinition(
        about["name"],
        Schema(fields),
        about["time"],
        unit,
        about["slack"],
        options=about.get("options", {}),
    )

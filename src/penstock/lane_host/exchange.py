"""Rows that the fragments of one stage send to those of the next, by way of files in the home."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.store.bundles import Bundle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.lane_host.work import Done
    from penstock.store.layout import Home


@dataclass(frozen=True)
class Sent:
    """The files with what was sent in a batch so far, and how far each sender has come."""

    files: tuple[str, ...]
    clocks: dict[str, int]

    @staticmethod
    def by(done: Sequence[Done]) -> Sent:
        """The files that tasks have sent."""
        clocks: dict[str, int] = {}
        for one in done:
            for sender, clock in one.reached.items():
                clocks[sender] = min(clock, clocks.get(sender, clock))
        return Sent(tuple(one.sent for one in done if one.sent), clocks)

    def parts(self, home: Home, lanes: Sequence[str]) -> Iterator[tuple[str, pa.Table]]:
        """The tables for some lanes, by the names that they have in a log."""
        found: dict[str, list[pa.Table]] = {}
        for file in self.files:
            bundle = Bundle(home.segments / file)
            for name in bundle.names:
                if name.rpartition(" ")[2] in lanes:
                    found.setdefault(name, []).append(bundle.table(name))
        for name, tables in found.items():
            yield name, pa.concat_tables(tables)

    def remove(self, home: Home) -> None:
        """The batch is committed: what was sent is in the logs of those who read it."""
        for file in self.files:
            (home.segments / file).unlink(missing_ok=True)

    def to_json(self) -> str:
        """As it is handed to tasks."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Sent:
        """As it was handed over."""
        values = json.loads(text)
        return Sent(tuple(values["files"]), values["clocks"])

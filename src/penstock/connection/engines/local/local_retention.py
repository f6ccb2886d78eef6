"""The rows of streams and the changes of relations that this process retains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.catalog.retain_rules import NOTHING, rule_of
from penstock.operators.block import concatenated
from penstock.planner.reach import longest_windows
from penstock.store.sub_windows.piece import block_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.algebra.plan import Plan
    from penstock.catalog.definitions import StreamDefinition
    from penstock.catalog.retain_rules import RetainRule
    from penstock.catalog.store_settings import StoreSettings
    from penstock.connection.relation_log import RelationLog
    from penstock.operators.block import Block
    from penstock.store.sub_windows.retained_rows import RetainedRows


class LocalRetention:
    """The rows and changes that questions can be asked of.

    Attributes:
        streams: The rows of each stream.
        logs: The changes of each relation.
    """

    def __init__(self) -> None:
        self.streams: dict[str, RetainedRows] = {}
        self.logs: dict[str, RelationLog] = {}
        self._rules: dict[str, tuple[RetainRule, bool]] = {}

    def rule(self, stream: str) -> tuple[RetainRule, bool]:
        """The rule of a stream, and whether it is declared or set."""
        return self._rules.get(stream, (NOTHING, False))

    def forget(self, source: str) -> None:
        """A stream or relation that is not declared any more."""
        self.streams.pop(source, None)
        self.logs.pop(source, None)
        self._rules.pop(source, None)

    def follow(
        self,
        streams: Iterable[StreamDefinition],
        settings: StoreSettings,
        plans: Iterable[Plan],
        latest: Mapping[str, int],
    ) -> None:
        """Keep rows by what is declared and set, and as long as queries need them."""
        windows = [longest_windows(one) for one in plans]
        for stream in streams:
            longest = max((one.get(stream.name, 0) for one in windows), default=0)
            rule, _ = self._rules[stream.name] = rule_of(stream, settings.retain, longest)
            self.streams[stream.name].follow(
                rule.span, settings.retain_parts, rule.most_bytes, latest[stream.name]
            )

    def rows_from(
        self, streams: Iterable[str], start: int | None, *, undeclared: bool = False
    ) -> dict[str, Block]:
        """The rows of streams that are declared to retain them, from an instant on; None: all.

        Or of all streams, also the `undeclared` ones.
        """
        found = {}
        for name in streams:
            is_seen = undeclared or self.rule(name)[1]
            kept = self.streams[name].sub_windows() if is_seen else ()
            blocks = [block_of(one.table()) for one in kept]
            if blocks and start != INFINITY:
                block = concatenated(blocks)
                found[name] = block if start is None else block.take(block.ts >= start)
        return found

    def changed(self, relation: str, changes: Block, watermarks: Mapping[str, int]) -> None:
        """Changes of a relation that came when streams were so far."""
        floors = [max(watermarks[name] - one.span, BEGINNING) for name, one in self.streams.items()]
        self.logs[relation].add(changes, watermarks, min(floors, default=BEGINNING))

    def segments(self) -> dict[str, Mapping[str, pa.Table]]:
        """Rows and changes, as Arrow."""
        parts: dict[str, Mapping[str, pa.Table]] = {
            f"retained/{name}": one.segments() for name, one in self.streams.items()
        }
        parts |= {f"history/{name}": one.segments() for name, one in self.logs.items()}
        since = {name: one.since for name, one in self.streams.items()}
        since |= {name: one.since for name, one in self.logs.items()}
        table = pa.table(
            {
                "name": pa.array(since, pa.string()),
                "since": pa.array(since.values(), pa.int64()),
            }
        )
        return {**parts, "since": {"since": table}}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back; the streams and relations are declared, and know their rules."""
        since = {row["name"]: row["since"] for row in segments["since/since"].to_pylist()}
        for name, rows in self.streams.items():
            rows.restore(_within(segments, f"retained/{name}/"), since[name])
        for name, log in self.logs.items():
            log.restore(_within(segments, f"history/{name}/"), since[name])


def _within(segments: Mapping[str, pa.Table], start: str) -> dict[str, pa.Table]:
    return {key[len(start) :]: one for key, one in segments.items() if key.startswith(start)}

"""The rows a connection did not take in as they came: counted, and kept with the reason."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.runtime.lateness import LATE
from penstock.shedding.shedding import SHED
from penstock.store.rejected_rows import POSITION, REASON, TEXT, rejected_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.algebra.types import Schema
    from penstock.runtime.intake import RejectedRows


class RejectedCounts:
    """Tables by source; of each source the last `keep` rows, more are only counted."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self.tables: dict[str, pa.Table] = {}
        self.counts: Counter[tuple[str, str]] = Counter()

    def add(self, found: Iterable[RejectedRows]) -> None:
        """Keep rows with the reason and their place among the rows of their source."""
        for one in found:
            table = one.rows
            texts = pa.nulls(len(table), pa.string()) if one.texts is None else one.texts
            marks = (pa.array(one.positions).cast(pa.string()), texts, one.reasons)
            for name, column in zip((POSITION, TEXT, REASON), marks, strict=True):
                table = table.append_column(name, column)
            self.counts[one.source, one.kind] += len(table)
            before = self.tables.get(one.source)
            whole = table if before is None else pa.concat_tables([before, table])
            self.tables[one.source] = whole.slice(max(len(whole) - self._keep, 0))

    def of(self, source: str, schema: Schema) -> pa.Table:
        """The rows of a source that are kept."""
        return self.tables.get(source, rejected_schema(schema).empty_table())

    def count(self, source: str, *, late: bool) -> int:
        """The number of rows of a source that were late, or rejected for another reason."""
        return sum(
            rows
            for (name, kind), rows in self.counts.items()
            if name == source and (kind == LATE if late else kind not in (LATE, SHED))
        )

    def forgotten(self, source: str) -> int:
        """The number of rows of a source that are counted, and not kept any more."""
        counted = sum(rows for (name, _), rows in self.counts.items() if name == source)
        kept = self.tables.get(source)
        return counted - (0 if kept is None else len(kept))

    def drop(self, source: str) -> None:
        """Forget a source that is no more."""
        self.tables.pop(source, None)
        self.counts = Counter({key: n for key, n in self.counts.items() if key[0] != source})

    def restore(
        self, tables: Mapping[str, pa.Table], counts: Iterable[tuple[str, str, int]]
    ) -> None:
        """Take back what was kept and counted; this is new."""
        self.tables = dict(tables)
        self.counts = Counter({(source, kind): rows for source, kind, rows in counts})

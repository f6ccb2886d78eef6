"""Files with what came of a batch in the lanes of a task: results, rows set aside, rows sent."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.lane_host.logs import sent_part
from penstock.lane_host.work import StreamCounts
from penstock.operators.block import concatenated, to_table
from penstock.runtime.lateness import LATE
from penstock.shedding.shedding import SHED
from penstock.store.bundles import write_bundle
from penstock.store.rejected_rows import rejected_part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.lane_host.hosted_plan import HostedPlan
    from penstock.lane_host.logs import Log
    from penstock.lane_host.work import Work
    from penstock.operators.block import Block
    from penstock.runtime.lane_output import LaneOutput
    from penstock.store.layout import Home

    Outcomes = Mapping[str, LaneOutput]


class OutcomeFiles:
    """Writes the files of a batch of one task; of a kind without rows there is none."""

    def __init__(self, home: Home, plan: HostedPlan, work: Work) -> None:
        self._home = home
        self._plan = plan
        self._work = work

    def results(self, outcomes: Outcomes) -> str | None:
        """Write the results of all lanes; the file, if any."""
        results: dict[str, list[Block]] = {}
        for name, outcome in outcomes.items():
            if self._plan.lanes[name].sends is None:
                for query, blocks in outcome.blocks.items():
                    results.setdefault(query, []).extend(block for block in blocks if len(block))
        whole = {
            f"query/{query}": to_table(concatenated(blocks), self._plan.columns(query))
            for query, blocks in results.items()
            if blocks
        }
        return self._written("results", whole)

    def rejected(self, log: Log) -> str | None:
        """Write the rows that were not taken in; the file, if any."""
        aside: dict[str, list[pa.Table]] = {}
        for stream, arrived in log.counted():
            aside.setdefault(stream, []).extend(arrived.aside.values())
        whole = {
            rejected_part(one): pa.concat_tables(parts) for one, parts in aside.items() if parts
        }
        return self._written("aside", whole)

    def sent(self, outcomes: Outcomes) -> str | None:
        """Write what fragments send, divided among the lanes that read it; the file, if any."""
        whole: dict[str, list[pa.Table]] = {}
        for name, outcome in outcomes.items():
            sender = self._plan.lanes[name]
            blocks = outcome.blocks.get(sender.sends or "", [])
            if sender.sends is None or not blocks:
                continue
            block = concatenated(blocks)
            if sender.is_strict:
                # Another lane's rows may have signs, and tables are put together as they are.
                block = replace(block, sign=block.signs)
            for reader in self._plan.readers(sender):
                router = reader.router(sender.sends)
                for number, lane in enumerate(reader.lane_names()):
                    share = router.share(block, number)
                    if len(share):
                        part = sent_part(sender.name, lane)
                        whole.setdefault(part, []).append(to_table(share))
        tables = {part: pa.concat_tables(several) for part, several in whole.items()}
        return self._written("sent", tables)

    def _written(self, kind: str, tables: dict[str, pa.Table]) -> str | None:
        if not tables:
            return None
        segment = self._home.new_segment(self._work.record, self._work.task, kind)
        write_bundle(self._home.segments / segment, tables, durable=kind != "sent")
        return segment


def stream_counts(log: Log) -> dict[str, StreamCounts]:
    """The rows of each stream."""
    counted: dict[str, StreamCounts] = {}
    for stream, one in log.counted():
        total = counted.setdefault(stream, StreamCounts(0, 0, 0, BEGINNING))
        late = len(one.aside.get(LATE, ()))
        total.rows += one.rows
        total.late += late
        kept = len(one.aside.get(SHED, ()))
        total.aside += sum(map(len, one.aside.values())) - late - kept
        total.shed += one.shed
        total.latest = max(total.latest, one.latest)
        total.late_by = max(total.late_by, one.late_by)
    return counted


def result_rows(plan: HostedPlan, outcomes: Outcomes) -> dict[str, int]:
    """The rows that each result got."""
    counts: Counter[str] = Counter()
    for name, outcome in outcomes.items():
        if plan.lanes[name].sends is None:
            for query, blocks in outcome.blocks.items():
                counts[query] += sum(map(len, blocks))
    return dict(+counts)

"""Catching up: a new group of queries is fed the rows that its streams retain, before others come.

It is a micro-batch for the lanes of this group alone: a log with the retained rows, whose opening
watermarks are before all time, so that no row is late. What the lanes say of it are the first
results of the queries. No other micro-batch runs meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.time import INFINITY
from penstock.catalog.definitions import QueryDefinition, StreamDefinition
from penstock.lane_host.exchange import Sent
from penstock.lane_host.lane_host import LaneHost
from penstock.lane_host.logs import RowCoding, about_log, described, pending_parts, rows_part
from penstock.lane_host.work import Work
from penstock.operators.block import concatenated
from penstock.pipeline.file_rows import in_slots
from penstock.pipeline.retained_windows import retained_windows
from penstock.store.bundles import bundle_writer
from penstock.store.records import LaneState
from penstock.store.sub_windows.piece import block_of
from penstock.store.whole_files import sync_file

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.lane_host.hosted_plan import HostedFragment
    from penstock.lane_host.work import Done
    from penstock.operators.block import Block
    from penstock.pipeline.bound import BoundGroup
    from penstock.pipeline.ledger import Ledger


def catch_up(ledger: Ledger) -> None:
    """Feed retained rows to the groups that have not been fed yet.

    Raises:
        DataError: Retained rows cannot be read.
    """
    for number, group in ledger.plan.groups.items():
        lanes = [lane for one in group.fragments for lane in one.lane_names()]
        is_new = not any(lane in ledger.record.lanes for lane in lanes)
        if is_new and group.group.replaces is None:
            rows = _rows_for(ledger, group)
            if rows:
                done = _Catching(ledger, group, rows).done()
                ledger.commit_caught_up(number, done)
                Sent.by(done).remove(ledger.home)


def _rows_for(ledger: Ledger, group: BoundGroup) -> dict[str, Block]:
    """The rows of streams that are declared to retain them, as far as the queries want them."""
    found: dict[str, Block] = {}
    plan = ledger.plan
    query = plan.session.catalog.find(next(iter(group.group.queries)), "query")
    assert isinstance(query, QueryDefinition)
    for name in group.streams if query.start != INFINITY else ():
        if not plan.rules[name][1]:
            continue
        kept = retained_windows(ledger.home, ledger.record, plan, name)
        if kept:
            block = concatenated([block_of(one.table()) for one in kept])
            found[name] = block if query.start is None else block.take(block.ts >= query.start)
    return {name: one for name, one in found.items() if len(one)}


class _Catching:
    """The stages of a batch for one group."""

    def __init__(self, ledger: Ledger, group: BoundGroup, rows: dict[str, Block]) -> None:
        self._ledger = ledger
        self._group = group
        self._rows = rows
        self._host = LaneHost(ledger.home)
        catalog = ledger.plan.session.catalog
        found = [catalog.find(name, "stream") for name in group.streams]
        self._streams = [one for one in found if isinstance(one, StreamDefinition)]

    def done(self) -> list[Done]:
        """The words of the lanes, stage by stage."""
        done: list[Done] = []
        stages = sorted({one.stage for one in self._group.fragments})
        for stage in stages:
            fragments = [one for one in self._group.fragments if one.stage == stage]
            done.append(self._stage(fragments, Sent.by(done)))
        return done

    def _stage(self, fragments: list[HostedFragment], sent: Sent) -> Done:
        home, record = self._ledger.home, self._ledger.record
        lanes = [lane for one in fragments for lane in one.lane_names()]
        own = {key: one for key, one in record.pending.items() if key == str(self._group.number)}
        codes = {lane: dict.fromkeys(self._group.streams, n) for n, lane in enumerate(lanes)}
        about = about_log(
            [described(one) for one in self._streams],
            RowCoding(codes, {one.name: [] for one in self._streams}),
            {},
            relations=own,
            clocks=sent.clocks,
            # The watermarks of what comes next begin where they are now.
            holds={name: one.watermark for name, one in record.streams.items()},
        )
        log = home.new_segment(record.number + 1, 0, "log")
        with bundle_writer(home.segments / log, about) as writer:
            for number, (fragment, lane) in enumerate(
                (one, lane) for one in fragments for lane in range(one.lanes)
            ):
                for stream in self._streams:
                    share = self._share(fragment, stream, lane)
                    if share is not None:
                        writer.add_table(rows_part(number, stream.name), share)
            for part, table in sent.parts(home, lanes):
                writer.add_table(part, table)
            for part, table in pending_parts(home, own, lanes):
                writer.add_table(part, table)
        sync_file(home.segments / log)
        states = dict.fromkeys(lanes, LaneState())
        work = Work(str(home.path), record.plan, record.number + 1, 0, states, log)
        return self._host.do(work)

    def _share(
        self, fragment: HostedFragment, stream: StreamDefinition, lane: int
    ) -> pa.Table | None:
        """The rows of a stream for a lane; None if there are none."""
        if stream.name not in self._rows or stream.name not in fragment.streams:
            return None
        block = fragment.router(stream.name).share(self._rows[stream.name], lane)
        names = stream.schema.names
        return (
            in_slots(stream, dict(zip(names, block.columns, strict=True))) if len(block) else None
        )

"""Logs for the lanes of one group alone, and what these lanes say of them before they join."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import StreamDefinition
from penstock.lane_host.exchange import Sent
from penstock.lane_host.logs import RowCoding, about_log, described, pending_parts, rows_part
from penstock.lane_host.work import Work
from penstock.pipeline.file_rows import in_slots
from penstock.store.bundles import bundle_writer
from penstock.store.records import LaneState
from penstock.store.whole_files import sync_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from penstock.lane_host.hosted_plan import HostedFragment
    from penstock.lane_host.work import Done
    from penstock.operators.block import Block
    from penstock.pipeline.bound import BoundGroup, BoundPlan
    from penstock.store.layout import Home
    from penstock.store.records import Record

IMAGE_ROWS = 10_000
"""Lanes that have been fed so many rows write an image: whoever makes them anew need not."""

Changes = dict[str, list[str]]
"""The files with changes of each relation."""


class GroupFeed:
    """Feeds a group that no micro-batch feeds yet.

    Args:
        home: Where files are written.
        plan: A plan with the group, and the name of its file.
        record: The record that it began at.
        work: Lets lanes work.

    Attributes:
        group: The group.
        lanes: How the state of each lane is made by now.
        results: The files with what the lanes have said.
        rows: How many elements of each query these have.
        last: What the lanes said last, stage by stage.
        reached: The watermarks up to which they have been fed.
        fed: How many files of changes of each relation they have been fed.
    """

    def __init__(
        self,
        home: Home,
        plan: BoundPlan,
        record: Record,
        group: BoundGroup,
        work: Callable[[Work], Done],
    ) -> None:
        self.group = group
        self.lanes: dict[str, LaneState] = {
            lane: LaneState() for one in group.fragments for lane in one.lane_names()
        }
        self.results: list[str] = []
        self.rows: Counter[str] = Counter()
        self.last: list[Done] = []
        self.reached: dict[str, int] = {}
        self.fed: Counter[str] = Counter()
        self._home = home
        self._record = record
        self._work = work
        self._fed_rows = 0
        catalog = plan.session.catalog
        found = [catalog.find(name, "stream") for name in group.streams]
        self._streams = [one for one in found if isinstance(one, StreamDefinition)]
        self._looks_beside = any(one.graph.beside for one in group.fragments)

    @property
    def files(self) -> list[str]:
        """The files that are needed to go on, or to join."""
        found = set(self.results)
        for one in self.lanes.values():
            found.update(one.logs)
            found.update({one.image} if one.image else ())
        return sorted(found)

    def feed(
        self,
        rows: Mapping[str, Block],
        watermarks: Mapping[str, int],
        pending: Mapping[str, Sequence[str]],
        *,
        is_whole: bool = False,
    ) -> None:
        """Let the lanes take in rows, and come to watermarks.

        Args:
            rows: Of each stream those that came since, none of them late.
            watermarks: Where the streams are after them.
            pending: The changes of relations that came since the group began, by file.
            is_whole: Whether lanes write images, if they have been fed much.

        Raises:
            PenstockError: The lanes could not do their work.
        """
        new = {name: list(files[self.fed[name] :]) for name, files in pending.items()}
        new = {name: files for name, files in new.items() if files}
        self._fed_rows += sum(map(len, rows.values()))
        with_images = is_whole and self._fed_rows >= IMAGE_ROWS
        self._stages(rows, watermarks, new, with_images=with_images and not self._looks_beside)
        self.reached = dict(watermarks)
        if self._looks_beside:
            # Who does not read a stream learns of its time when a log opens.
            self._stages({}, watermarks, {}, with_images=with_images)
        for name, files in new.items():
            self.fed[name] += len(files)

    def _stages(
        self,
        rows: Mapping[str, Block],
        watermarks: Mapping[str, int],
        changes: Changes,
        *,
        with_images: bool,
    ) -> None:
        done: list[Done] = []
        for stage in sorted({one.stage for one in self.group.fragments}):
            fragments = [one for one in self.group.fragments if one.stage == stage]
            sent = Sent.by(done)
            log = self._log(fragments, rows, watermarks, changes, sent)
            states = {lane: self.lanes[lane] for one in fragments for lane in one.lane_names()}
            number = self._record.number + 1
            work = Work(
                str(self._home.path), self._record.plan, number, 0, states, log,
                with_images=with_images,
            )  # fmt: skip
            done.append(self._work(work))
            sync_file(self._home.segments / log)
            self._take(done[-1])
        Sent.by(done).remove(self._home)
        self.last = done

    def _take(self, done: Done) -> None:
        self.lanes |= done.lanes
        self.rows.update(done.result_rows)
        if done.results:
            self.results.append(done.results)

    def _log(
        self,
        fragments: Sequence[HostedFragment],
        rows: Mapping[str, Block],
        watermarks: Mapping[str, int],
        changes: Changes,
        sent: Sent,
    ) -> str:
        """Write a log; its name."""
        lanes = [lane for one in fragments for lane in one.lane_names()]
        own = {str(self.group.number): changes}
        codes = {lane: dict.fromkeys(self.group.streams, n) for n, lane in enumerate(lanes)}
        about = about_log(
            [described(one) for one in self._streams],
            RowCoding(codes, {one.name: [] for one in self._streams}),
            self.reached,
            relations=own,
            clocks=sent.clocks,
            holds=watermarks,
            latest={one.name: self._latest(one, watermarks) for one in self._streams},
        )
        log = self._home.new_segment(self._record.number + 1, 0, "log")
        with bundle_writer(self._home.segments / log, about) as writer:
            numbered = [(one, lane) for one in fragments for lane in range(one.lanes)]
            for number, (fragment, lane) in enumerate(numbered):
                for stream in self._streams:
                    share = _share(fragment, stream, lane, rows)
                    if share is not None:
                        writer.add_table(rows_part(number, stream.name), share)
            for part, table in sent.parts(self._home, lanes):
                writer.add_table(part, table)
            for part, table in pending_parts(self._home, own, lanes):
                writer.add_table(part, table)
        return log

    def _latest(self, stream: StreamDefinition, watermarks: Mapping[str, int]) -> int:
        """The instant of a row that would lead to the watermark."""
        watermark = watermarks.get(stream.name, BEGINNING)
        return watermark if watermark == BEGINNING else watermark + stream.slack


def _share(
    fragment: HostedFragment, stream: StreamDefinition, lane: int, rows: Mapping[str, Block]
) -> pa.Table | None:
    """The rows of a stream for a lane; None if there are none."""
    if stream.name not in rows or stream.name not in fragment.streams:
        return None
    block = fragment.router(stream.name).share(rows[stream.name], lane)
    columns = dict(zip(stream.schema.names, block.columns, strict=True))
    return in_slots(stream, columns) if len(block) else None

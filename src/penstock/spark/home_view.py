"""The view that a question has of a home: a record, pinned, whoever else works on the home."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.connection.questions.store_view import RetainedStream
from penstock.errors import DataError, QueryError
from penstock.operators.block import concatenated, empty_block
from penstock.pipeline.bound import BoundPlan, bound
from penstock.pipeline.plans import read_plan
from penstock.pipeline.relation_history import changes_for
from penstock.pipeline.retained_windows import retained_windows
from penstock.results.answer_kind import is_relation, unit_of
from penstock.results.settling import ChangingContent
from penstock.spark.groups import first_record_of
from penstock.store.pins import pin_record
from penstock.store.records import RelationProgress, StreamProgress
from penstock.store.result_reader import content_at, start_of

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.store.layout import Home
    from penstock.store.pins import RecordPin
    from penstock.store.records import Record
    from penstock.store.sub_windows.sub_window import SubWindow

_ATTEMPTS = 5
"""So often a newer record is tried, if files of the one before went before it was pinned."""


class HomeView:
    """The rows, relations and results of a home as of a record."""

    def __init__(self, home: Home, record: Record, plan: BoundPlan, pin: RecordPin) -> None:
        self.record = record
        self.plan = plan
        self._home = home
        self._pin = pin
        self._streams: dict[str, RetainedStream] = {}

    @property
    def is_over(self) -> bool:
        """The input has come to its end."""
        return self.record.kind == "flush"

    @cached_property
    def tables(self) -> list[str]:
        """The queries whose results can be read as they are."""
        return [
            name
            for one in self.plan.groups.values()
            if one.group.replaces is None and not one.group.catches_up
            for name, plan in one.plans.items()
            if is_relation(plan)
        ]

    def stream(self, name: str) -> RetainedStream:
        """A stream of the catalog."""
        if name not in self._streams:
            self._streams[name] = self._read_stream(name)
        return self._streams[name]

    def _read_stream(self, name: str) -> RetainedStream:
        found = self.plan.session.catalog.find(name, "stream")
        assert isinstance(found, StreamDefinition)
        progress = self.record.streams.get(name, StreamProgress())
        rule, is_declared = self.plan.rules[name]
        kept = self.record.retained.get(name)
        since = progress.latest + 1 if progress.latest > BEGINNING else BEGINNING
        sub_windows: tuple[SubWindow, ...] = ()
        if kept is not None:
            since = kept.since
            sub_windows = retained_windows(self._home, self.record, self.plan, name)
        return RetainedStream(
            name, found.unit, rule, is_declared, since, progress.watermark, progress.latest,
            sub_windows,
        )  # fmt: skip

    def relation(self, name: str, streams: Collection[str]) -> tuple[Block, int]:
        """The changes of a relation for a question over some streams; since when it is known."""
        found = self.plan.session.catalog.find(name, "relation")
        assert isinstance(found, RelationDefinition)
        known = self.record.relations.get(name, RelationProgress())
        blocks = changes_for(self._home, known.changes, streams)
        return concatenated([empty_block(found.schema), *blocks]), known.since

    def clock(self, query: str) -> int:
        """The results of a running query for instants before this are final."""
        return self.record.clocks.get(query, BEGINNING)

    def result(self, query: str, instant: int) -> tuple[pa.Array, ...]:
        """The rows of a running query that hold at an instant, which is final.

        Raises:
            QueryError: What held then is not kept any more.
        """
        bound_group = next(
            one
            for one in self.plan.groups.values()
            if query in one.plans and one.group.replaces is None
        )
        first = first_record_of(self._home, bound_group.group, query)
        start = start_of(self._home, query, first, has_content=True)
        plan = bound_group.plans[query]
        if instant < start.clock - 1 and start.clock != BEGINNING:
            unit = unit_of(plan)
            msg = f'the result of query "{query}" at {unit.format(instant)} is not kept any more'
            hint = f"The earliest that is kept is that at {unit.format(start.clock - 1)}."
            raise QueryError(msg, hint=hint)
        node = bound_group.result(query)
        partitions = bound_group.choices.queue_partitions
        content = ChangingContent(list(node.arrow_types), node.span, partitions)
        return content_at(self._home, start, self.record.number, query, instant, content)

    def newer(self) -> HomeView:
        """The newest record; this one if there is none since."""
        numbers = self._home.chain.numbers()
        if not numbers or numbers[-1] == self.record.number:
            return self
        return view_of(self._home, self.plan, self.record.plan)

    def release(self) -> None:
        """Let go of the record."""
        self._pin.release()


def view_of(home: Home, plan: BoundPlan | None = None, name: str = "") -> HomeView:
    """The newest record of a home, pinned.

    Args:
        home: The home.
        plan: A plan that is understood already, if it is that of the record.
        name: The name of its file.

    Raises:
        DataError: There is no home, or it is damaged.
    """
    for attempt in range(_ATTEMPTS):
        record = home.chain.last()
        if record is None:
            msg = f"{home.path} is no home of a pipeline"
            raise DataError(msg, hint="./penstock run --home DIR makes one.")
        pin = pin_record(home, record.number)
        try:
            # What was swept before the pin was there is seen now.
            is_newest = home.chain.numbers()[-1] == record.number
            known = plan if plan is not None and record.plan == name else None
            if is_newest or attempt == _ATTEMPTS - 1:
                return HomeView(home, record, known or bound(read_plan(home, record.plan)), pin)
        except BaseException:
            pin.release()
            raise
        pin.release()
    raise AssertionError

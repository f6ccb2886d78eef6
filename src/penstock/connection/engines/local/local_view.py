"""The view that a question has of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import StreamDefinition
from penstock.connection.questions.kept_results import kept_content
from penstock.connection.questions.store_view import RetainedStream
from penstock.results.answer_kind import is_relation

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

    from penstock.connection.engines.local.local_engine import LocalAnswer, LocalEngine
    from penstock.operators.block import Block


class LocalView:
    """The rows, relations and results of an engine, while nothing changes in it."""

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine

    @property
    def is_over(self) -> bool:
        """The input has come to its end."""
        return self._engine.is_finished

    @property
    def tables(self) -> list[str]:
        """The queries whose results can be read as they are."""
        return [
            name
            for one in self._engine.feeding.batches
            for name in one.outcomes
            if is_relation(one.plans[name])
        ]

    def stream(self, name: str) -> RetainedStream:
        """A stream of the catalog."""
        found = self._engine.catalog.find(name, "stream")
        assert isinstance(found, StreamDefinition)
        feeding = self._engine.feeding
        rows, intake = feeding.retention.streams[name], feeding.intakes[name]
        rule, is_declared = feeding.retention.rule(name)
        since = rows.since if rows.span else _since_nothing(intake.latest)
        return RetainedStream(
            name, found.unit, rule, is_declared, since, intake.watermark, intake.latest,
            rows.sub_windows(),
        )  # fmt: skip

    def relation(self, name: str, streams: Collection[str]) -> tuple[Block, int]:
        """The changes of a relation for a question over some streams; since when it is known."""
        log = self._engine.feeding.retention.logs[name]
        return log.history(streams), log.since

    def clock(self, query: str) -> int:
        """The results of a running query for instants before this are final."""
        return self._answer(query).clock

    def result(self, query: str, instant: int) -> tuple[pa.Array, ...]:
        """The rows of a running query that hold at an instant, which is final."""
        return kept_content(query, self._answer(query), instant)

    def _answer(self, query: str) -> LocalAnswer:
        found = self._engine.answer(query)
        assert found is not None
        return found

    def newer(self) -> LocalView:
        """This: rows wait while a question is answered."""
        return self

    def release(self) -> None:
        """Nothing is held."""


def _since_nothing(latest: int) -> int:
    """The instant from which rows are there if none is kept: behind the latest, if one has come."""
    return latest + 1 if latest > BEGINNING else BEGINNING

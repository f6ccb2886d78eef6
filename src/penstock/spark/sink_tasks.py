"""The tasks that write a sink: each its part of the rows of some commits."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.errors import QueryError, did_you_mean
from penstock.lane_host.lane_client import ask
from penstock.lane_host.sink_work import WrittenPart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark import SparkContext

    from penstock.lane_host.sink_work import SinkWork
    from penstock.spark.placement import Placement


SETTING = "spark.penstock.sinks"
"""The setting of Spark's that says who writes sinks of files."""
WANTED = ("auto", "driver", "tasks")
MOST_PARTS = 16
"""Each part reads what all lanes said, and makes a file of each commit: so no more of them."""


def wanted_writer(text: str) -> str:
    """The writer of sinks, by the setting.

    Raises:
        QueryError: It names nobody who does.
    """
    known = text.strip().lower() or "auto"
    if known not in WANTED:
        msg = f'{SETTING} is "{text}": sinks are not written so'
        otherwise = f"One of {', '.join(WANTED)}."
        raise QueryError(msg, hint=did_you_mean(known, WANTED, otherwise=otherwise))
    return known


@dataclass(frozen=True)
class SinkTask:
    """The work of a task that writes its part of a sink.

    Args:
        application: The Spark application.
        work: What all tasks write.
    """

    application: str
    work: SinkWork

    def write(self, numbers: Iterable[int]) -> Iterator[str]:
        """The function of `mapPartitions`: the numbers of parts in, the drafts of each out."""
        for task in numbers:
            yield json.dumps(ask(self.application, replace(self.work, task=task), os.getppid()))


class SinkJobs:
    """Runs the jobs that write sinks, beside the micro-batches.

    Args:
        context: Of Spark.
        placement: Where the tasks of micro-batches are: those of sinks are there, too.
        note: Told, in a sentence, of processes that had to be replaced.
        wanted: Who writes sinks: `auto`, `driver` or `tasks`.
    """

    def __init__(
        self,
        context: SparkContext,
        placement: Placement,
        note: Callable[[str], None],
        wanted: str = "auto",
    ) -> None:
        self.wanted = wanted
        self._context = context
        self._placement = placement
        self._note = note

    @property
    def parts(self) -> int:
        """Into how many parts the rows of a sink are divided."""
        return min(self._placement.tasks, MOST_PARTS)

    def write(self, name: str, work: SinkWork) -> dict[int, list[str]]:
        """The drafts of commits, by number, once all parts of them are on disk.

        Args:
            name: That of the sink, for Spark's pages.
            work: What is written.
        """
        task = SinkTask(self._context.applicationId, work)
        records = f"records {work.written + 1} to {work.last}"
        self._context.setJobDescription(f'penstock: sink "{name}", {records}')
        answers = self._placement.numbers(work.parts).mapPartitions(task.write).collect()
        drafts: dict[int, list[str]] = {}
        for answer in answers:
            part = WrittenPart.from_json(json.loads(answer))
            for note in part.notes:
                self._note(note)
            for number, draft in part.drafts.items():
                drafts.setdefault(number, []).append(draft)
        return dict(sorted(drafts.items()))

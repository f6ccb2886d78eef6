"""The parts of sinks that a process writes: it keeps their folds from one job to the next.

The truth is on disk: what a fold remembers is made anew from the results that are kept.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.connectors.connector_list import CONNECTORS
from penstock.connectors.folder_sink import FolderSink
from penstock.errors import DataError, InternalError
from penstock.lane_host.plan_files import read_plan_file
from penstock.lane_host.sink_work import WrittenPart
from penstock.results.part_of_results import PartOfResults
from penstock.store.layout import Home
from penstock.store.result_reader import ResultsReader, start_of

if TYPE_CHECKING:
    from penstock.lane_host.sink_work import ResultForm, SinkWork
    from penstock.results.settling import Elements

MOST_PARTS = 64
"""Of so many the folds are kept in memory."""


class SinkParts:
    """The parts that were asked for lately."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, int, int], SinkPart] = {}

    def write(self, work: SinkWork) -> WrittenPart:
        """Write the part of some commits that a request names.

        Raises:
            DataError: A file of the home is missing or damaged, or the disk is full.
        """
        key = (work.key, work.task, work.parts)
        # What fails leaves a fold in no known state: it is made anew then.
        part = self._parts.pop(key, None) or SinkPart(work)
        drafts = part.write(work)
        self._parts[key] = part
        if len(self._parts) > MOST_PARTS:
            del self._parts[next(iter(self._parts))]
        return WrittenPart(drafts)


class SinkPart:
    """A part of a sink, and what has been written of it.

    Args:
        work: The first request for it.
    """

    def __init__(self, work: SinkWork) -> None:
        home = Home(Path(work.home))
        has_content = work.form.kind == "changing"
        start = start_of(home, work.query, work.first, has_content=has_content)
        if not work.is_new:
            require_unwritten(start.record, work.written, work.first)

        def fold() -> Elements:
            return PartOfResults(work.form.fold(), work.task, work.parts)

        @cache
        def runs_in(plan: str) -> bool:
            groups = read_plan_file(home, plan)["groups"]
            # Or the query has taken the place of the one that began there.
            return any(
                one["number"] == work.group
                or work.group in one.get("follows", {}).get(work.query, ())
                for one in groups
            )

        self._reader = ResultsReader(home, work.query, start, fold, runs_in)
        self._form: ResultForm = work.form
        self._sink = folder_sink(Path(work.folder), work.format, work.options)
        # Drafts that are not known to be published: the same may be asked for again.
        self._drafts: dict[int, str] = {}
        # The record of an end of input among them, which holds until more comes.
        self._end: int | None = None
        if work.written >= start.record:
            self._reader.catch_up(work.written)

    def write(self, work: SinkWork) -> dict[int, str]:
        """Write what has not been written; the drafts of all that is not published."""
        if self._end is not None and work.last > self._end:
            self._drafts.pop(self._end, None)
        self._end = work.last if work.is_end else None
        self._drafts = {at: name for at, name in self._drafts.items() if not work.has(at)}
        for commit in self._reader.read(work.last):
            if commit.block is not None and not work.has(commit.number):
                table = self._form.table(commit.block)
                self._drafts[commit.number] = self._sink.draft(commit.number, work.task, table)
        return self._drafts


def folder_sink(folder: Path, form: str, options: dict[str, str]) -> FolderSink:
    """The sink of a folder, in a format that writes files."""
    known = CONNECTORS[form].sink
    if known is None or known.write is None:
        msg = f"sinks in the format {form!r} are no files"
        raise InternalError(msg)
    return FolderSink(folder, form, known.write, options)


def require_unwritten(start: int, written: int, first: int) -> None:
    """See that no results are gone that a sink has not written.

    Args:
        start: The first record whose results are kept.
        written: The last that was written.
        first: The first of the query.

    Raises:
        DataError: Some are gone.
    """
    if start > max(written + 1, first):
        msg = f"results of the records {written + 1} to {start - 1} are not kept any more"
        hint = "Drop the sink, and create it again with another place to write to."
        raise DataError(msg, hint=hint)

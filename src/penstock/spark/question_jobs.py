"""Questions about many rows as jobs of Spark: tasks read pieces, the asking process merges.

What tasks give back is what is left of rows by filters and maps, or the totals of each piece; so
the rest of the question, joins for instance, is computed in the asking process, as for few rows.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.connection.questions.piece_work import PieceReader, merged
from penstock.errors import DataError
from penstock.operators.saved_tables import arrays_of
from penstock.store.sub_windows.piece_files import PieceFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark import SparkContext

    from penstock.connection.questions.piece_work import Columns, PieceWork
    from penstock.store.sub_windows.piece import Piece

POOL = "questions"
"""The pool of these jobs: where Spark is fair, micro-batches get every other task."""
TASKS_PER_CORE = 4
"""Tasks are short, so that those of micro-batches come between."""
LEAST_ROWS = 500_000
"""A task reads at least so many rows."""


@dataclass(frozen=True)
class _TaskAnswer:
    """The answer of a task: its columns as Arrow, or why it has none."""

    columns: bytes
    fault: tuple[str, str | None] | None = None


class QuestionJobs(PieceReader):
    """Reads pieces in the tasks of a job if they have many rows.

    Args:
        context: Of Spark.
        least_rows: From so many rows on; None: never.
    """

    def __init__(self, context: SparkContext, least_rows: int | None) -> None:
        self._context = context
        self._least = least_rows

    def read(self, work: PieceWork, pieces: Sequence[Piece]) -> list[Columns]:
        """The columns that come of pieces; rows of logs that are not sealed yet are read here."""
        if not self._is_job(sum(one.rows for one in pieces)):
            return work.of(pieces)
        files = [one for one in pieces if isinstance(one, PieceFile)]
        portions = self._portions(files)
        asked = [pickle.dumps((work, portion)) for portion in portions]
        found = self._answers(asked) if asked else []
        return [*found, *work.of([one for one in pieces if not isinstance(one, PieceFile)])]

    def place(self, rows: int) -> str:
        """A job from so many rows on; else here."""
        if self._is_job(rows):
            tasks = self._tasks(rows)
            return f"as a job of Spark's, {tasks} task{'s' * (tasks > 1)}, merged here"
        if self._least is None:
            return "in the asking process"
        return f"in the asking process; a job from {self._least:,} rows on"

    def _is_job(self, rows: int) -> bool:
        return self._least is not None and rows >= self._least and rows > 0

    def _tasks(self, rows: int) -> int:
        most = TASKS_PER_CORE * int(self._context.defaultParallelism)
        return max(min(most, rows // LEAST_ROWS), 1)

    def _portions(self, files: Sequence[PieceFile]) -> list[list[PieceFile]]:
        """The pieces of each task, about as many rows for all; neighbours stay together."""
        rows = sum(one.rows for one in files)
        tasks = self._tasks(rows)
        portions: list[list[PieceFile]] = [[] for _ in range(tasks)]
        before = 0
        for one in files:
            portions[min(before * tasks // max(rows, 1), tasks - 1)].append(one)
            before += one.rows
        return [one for one in portions if one]

    def _answers(self, asked: Sequence[bytes]) -> list[Columns]:
        before = self._context.getLocalProperty("spark.scheduler.pool")
        self._context.setLocalProperty("spark.scheduler.pool", POOL)
        try:
            job = self._context.parallelize(asked, len(asked)).mapPartitions(answers)
            found: list[_TaskAnswer] = job.collect()
        finally:
            # This may be the user's own thread. To its types, None is no value.
            self._context.setLocalProperty("spark.scheduler.pool", before)  # type: ignore[arg-type]
        for one in found:
            if one.fault is not None:
                raise DataError(one.fault[0], hint=one.fault[1])
        return [_columns(one.columns) for one in found]


def answers(asked: Iterable[bytes]) -> Iterator[_TaskAnswer]:
    """The function of the tasks: work and pieces in, what came of them out."""
    for one in asked:
        work, pieces = pickle.loads(one)
        try:
            columns = merged(work.of(pieces), work)
        except DataError as error:
            yield _TaskAnswer(b"", (error.message, error.hint))
            continue
        names = [str(place) for place in range(len(columns))]
        table = pa.table(list(columns), names=names)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        yield _TaskAnswer(sink.getvalue().to_pybytes())


def _columns(content: bytes) -> Columns:
    return tuple(arrays_of(pa.ipc.open_stream(content).read_all()))

"""Sinks that are written in parts: what others see is each commit once, whoever dies when.

The parts are written as tasks of Spark's have them written, but in this process, so that there can
be many deaths: before drafts are noted, in the middle of publishing, and of those that keep folds.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from penstock.connectors.folder_sink import FolderSink
from penstock.connectors.parquet import write_parquet
from penstock.lane_host.sink_parts import SinkParts
from penstock.lane_host.sink_work import ResultForm, SinkWork
from penstock.results.answer_kind import is_relation, kind_of, unit_of
from penstock.results.result_tables import results_table
from penstock.results.settling import fold_for
from penstock.spark.sink_progress import Progress, ProgressFiles, Written
from penstock.spark.sink_tasks import SinkJobs
from penstock.spark.sink_ways import DriverWriting, TasksCannotWrite, TaskWriting
from penstock.store.result_reader import ResultsReader, start_of
from store.driving import Driver
from tiers import amount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from penstock.algebra.plan import Plan

Rows = Counter[tuple[object, ...]]
STATEMENTS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 3)",
    "CREATE QUERY grouped AS SELECT k, COUNT(*) AS n, SUM(v) AS t FROM s [RANGE 7] GROUP BY k",
    # Its rows do not show the key: what leaves one lane may enter another.
    "CREATE QUERY hidden AS SELECT COUNT(*) AS n FROM s [RANGE 5] GROUP BY k",
    "CREATE QUERY sent AS ISTREAM(SELECT k, v FROM s [RANGE 5])",
    "CREATE QUERY ended AS SELECT k, v FROM s [RANGE 4] EMIT FINAL",
)
QUERIES = ["grouped", "hidden", "sent", "ended"]


class DiedError(Exception):
    """The process is no more."""


class JobFailedError(Exception):
    """A job of Spark's has failed; its driver goes on."""


class MortalSink(FolderSink):
    """A folder sink whose process may die in the middle of publishing, or behind a write."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        super().__init__(folder, "parquet", write_parquet, {})
        self._draw = draw

    def write(self, number: int, table: pa.Table) -> None:
        super().write(number, table)
        if self._draw.random() < 0.15:
            raise DiedError

    def publish(self, drafts: Mapping[int, Sequence[str]]) -> None:
        count = sum(map(len, drafts.values()))
        for number, names in drafts.items():
            for name in names:
                if self._draw.random() < 0.4 / count:
                    raise DiedError
                super().publish({number: [name]})
        if self._draw.random() < 0.2:
            raise DiedError


class JobsHere(SinkJobs):
    """What tasks do, done in this process, which may die before it is known."""

    def __init__(self, parts: int, draw: random.Random) -> None:
        self._count = parts
        self._draw = draw
        self._kept = SinkParts()

    @property
    def parts(self) -> int:
        return self._count

    def write(self, name: str, work: SinkWork) -> dict[int, list[str]]:
        drafts: dict[int, list[str]] = {}
        if self._draw.random() < 0.2:
            self._kept = SinkParts()
        for part in range(self.parts):
            # Spark may try a task again that had come to its end.
            for _ in range(self._draw.choice([1, 1, 2])):
                found = self._kept.write(replace(work, task=part)).drafts
            for number, draft in found.items():
                drafts.setdefault(number, []).append(draft)
            if self._draw.random() < 0.1:
                raise self._draw.choice([DiedError, JobFailedError])
        if self._draw.random() < 0.1:
            raise DiedError
        return dict(sorted(drafts.items()))


class Calm(random.Random):
    """Nothing happens by chance."""

    def random(self) -> float:
        return 0.99


class JobsElsewhere(JobsHere):
    """Tasks that run where the folder of a sink is another one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(2, Calm())
        self._elsewhere = folder

    def write(self, name: str, work: SinkWork) -> dict[int, list[str]]:
        return super().write(name, replace(work, folder=str(self._elsewhere)))


class SinkHere:
    """A sink of a home that no Spark works on."""

    def __init__(self, driver: Driver, query: str, folder: Path, draw: random.Random) -> None:
        self.driver, self.query, self.folder, self._draw = driver, query, folder, draw
        self._files = ProgressFiles(driver.home)
        self._files.write(Progress(query, query, "parquet", {}, str(folder)))
        self.deaths = 0
        self._start()

    @property
    def plan(self) -> Plan:
        found = self.driver.ledger.plan.session.catalog.find(self.query, "query")
        return found.plan  # type: ignore[attr-defined, no-any-return]

    def _shape(self) -> tuple[list[pa.DataType], int, int]:
        (group,) = [g for g in self.driver.ledger.plan.groups.values() if self.query in g.plans]
        node = group.result(self.query)
        return list(node.arrow_types), node.span, group.choices.queue_partitions

    def reader(self) -> ResultsReader:
        home, plan = self.driver.home, self.plan
        start = start_of(home, self.query, 1, has_content=is_relation(plan))
        fold = partial(fold_for, plan, *self._shape())
        return ResultsReader(home, self.query, start, fold)

    def _start(self) -> None:
        """Go on with what is on disk, in one way or the other."""
        progress = self._files.read(self.query)
        assert progress is not None
        self.target = MortalSink(self.folder, self._draw)
        self._written = Written(self._files, progress, 0)
        self._writing: DriverWriting | TaskWriting = (
            DriverWriting(self.reader(), self.plan, self.target, self._written)
            if self._draw.random() < 0.3
            else self._by_tasks(progress, self._draw.randint(1, 4))
        )
        self._is_fresh = True

    def _by_tasks(self, progress: Progress, parts: int) -> TaskWriting:
        jobs, work = JobsHere(parts, self._draw), self._work(progress, parts)
        return TaskWriting(jobs, self.driver.home, work, self.target, self._written)

    def go_on_by(self, jobs: JobsHere) -> None:
        """Let certain tasks write from now on."""
        work = self._work(self._written.progress, jobs.parts)
        self._writing = TaskWriting(jobs, self.driver.home, work, self.target, self._written)

    def _work(self, progress: Progress, parts: int) -> SinkWork:
        plan = self.plan
        (group,) = [
            number for number, g in self.driver.ledger.plan.groups.items() if self.query in g.plans
        ]
        form = ResultForm.of(kind_of(plan), unit_of(plan), plan.schema.names, *self._shape())
        return SinkWork(
            str(self.driver.home.path), str(self._draw.random()), self.query, group, 1, form,
            str(self.folder), "parquet", {}, parts, progress.record,
            progress.end, progress.record, is_new=True,
        )  # fmt: skip

    def catch_up(self) -> None:
        """Write all there is; who dies is followed by another."""
        for _ in range(50):
            try:
                self._catch_up()
            except JobFailedError:
                pass
            except DiedError:
                self.deaths += 1
                self.check_what_is_seen()
                self._start()
            else:
                return
        msg = "it never came to its end"
        raise AssertionError(msg)

    def _catch_up(self) -> None:
        last = self.driver.ledger.record
        self._written.finish_publishing(self.target)
        if self._is_fresh:
            self.target.remove_drafts()
            self._is_fresh = False
        end = self._written.progress.end
        if end is not None and last.number > end:
            self.target.withdraw(end)
            self._written.end_was_none()
        self._writing.write(last.number, last.number if last.kind == "flush" else None)

    def commits(self) -> dict[int, Rows]:
        """The rows of each commit, as one process reads them."""
        plan = self.plan
        return {
            one.number: rows(results_table(plan, one.block))
            for one in self.reader().read(self.driver.ledger.record.number)
            if one.block is not None
        }

    def seen(self) -> dict[int, Rows]:
        """The rows of each commit, as others see them."""
        found: dict[int, Rows] = {}
        for path in self.folder.glob("[!.]*"):
            found.setdefault(int(path.name.split(".")[0]), Counter()).update(
                rows(pq.read_table(path))
            )
        return found

    def check_what_is_seen(self) -> None:
        """Some commits may be missing, or parts of one; nothing is there that is in none."""
        commits = self.commits()
        end = self._files.read(self.query).end  # type: ignore[union-attr]
        for number, seen in self.seen().items():
            if number not in (end, self.driver.ledger.record.number):
                assert not seen - commits.get(number, Counter()), number


def rows(table: pa.Table) -> Rows:
    return Counter(tuple(row.values()) for row in table.to_pylist())


@pytest.mark.parametrize("seed", range(amount("sinks written in parts")))
def test_each_commit_is_seen_once(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    with Driver(tmp_path / "home", STATEMENTS, QUERIES, lanes=3) as driver:
        sinks = [SinkHere(driver, query, tmp_path / query, draw) for query in QUERIES]
        now = 0
        for _ in range(8):
            for _ in range(draw.randint(1, 3)):
                now += draw.randint(0, 6)
                driver.batch(drawn(draw, now))
                if draw.random() < 0.25:
                    driver.flush()
            if draw.random() < 0.1:
                driver.fold()
            for sink in draw.sample(sinks, draw.randint(0, len(sinks))):
                sink.catch_up()
                assert sink.seen() == sink.commits()
        driver.flush()
        for sink in sinks:
            sink.catch_up()
            assert sink.seen() == sink.commits()
            assert sink.seen()


def test_parts_that_are_not_seen_here_are_not_published(tmp_path: Path) -> None:
    with Driver(tmp_path / "home", STATEMENTS, QUERIES, lanes=3) as driver:
        draw = Calm(3)
        for now in range(5):
            driver.batch(drawn(draw, 6 * now))
        sink = SinkHere(driver, "grouped", tmp_path / "out", draw)
        (tmp_path / "out").mkdir()
        sink.go_on_by(JobsElsewhere(tmp_path / "elsewhere"))
        with pytest.raises(TasksCannotWrite, match="is not seen by the driver"):
            sink.catch_up()
        assert list((tmp_path / "elsewhere").glob(".*"))
        assert sink.seen() == {}
        # Somebody who sees the folder does it all.
        sink.go_on_by(JobsHere(2, draw))
        sink.catch_up()
        assert sink.seen() == sink.commits()
        assert sink.seen()


def drawn(draw: random.Random, now: int) -> dict[str, list[dict[str, object]]]:
    count = draw.randint(0, 8)
    found: list[dict[str, object]] = [
        {"ts": now + draw.randint(0, 5), "k": draw.choice([1, 2, 3, None]), "v": draw.randint(0, 2)}
        for _ in range(count)
    ]
    return {"s": found}

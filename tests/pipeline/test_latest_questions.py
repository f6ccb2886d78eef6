"""Questions for the latest state of a home, while records are committed and rows sealed."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.connection.questions.one_time_query import asked
from penstock.pipeline.sweeping import Retention
from penstock.reference.inputs import Inputs
from penstock.spark.home_view import HomeView, view_of
from penstock.store.layout import Home
from penstock.store.pins import pinned_records
from pipeline.test_sealing import COUNTED, PARTS, STREAMS, drawn, oracle_says, rows_seen, taken
from store.driving import Driver

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.reference.timeline import Row

QUESTIONS = (
    "SELECT k, v FROM s [RANGE 9]",
    "SELECT k, COUNT(*) AS n, MIN(v) AS v FROM s [RANGE 30] GROUP BY k",
    "SELECT DISTINCT k FROM s [RANGE 33]",
    "SELECT k, MEDIAN(ts) AS m FROM s [RANGE 24] GROUP BY k",
)


@dataclass
class Work:
    """A pipeline, and what has come so far."""

    driver: Driver
    random: Random
    seen: dict[str, list[Row]] = field(default_factory=rows_seen)
    step: int = 0

    def go_on(self) -> None:
        """A batch, and now and then a seal; old records and files go."""
        rows = drawn(self.random, self.step * 6)
        for name, several in taken(self.driver, rows).items():
            self.seen[name] += several
        self.driver.batch(rows)
        self.step += 1
        if self.random.random() < 0.3:
            self.driver.housekeeping.clean(Retention(seal_bytes=0, grace=0))


def busy(view: HomeView, work: Work, batches: int) -> HomeView:
    """A view of a home in which so many batches are committed while a question is answered."""
    look = view.newer
    left = batches

    def newer() -> HomeView:
        nonlocal left
        if left:
            work.go_on()
            left -= 1
        found = look()
        return view if found is view else busy(found, work, left)

    view.newer = newer  # type: ignore[method-assign]
    return view


@pytest.mark.parametrize("batches", [0, 1, 5])
def test_the_answer_has_what_was_committed_until_its_end(tmp_path: Path, batches: int) -> None:
    for seed in range(4):
        path = tmp_path / str(seed)
        driver = Driver(path, [PARTS, *STREAMS, COUNTED], ["counted"], lanes=2)
        work = Work(driver, Random(seed))
        for _ in range(9):
            work.go_on()
        for question in QUESTIONS:
            before = driver.ledger.record.number
            view = busy(view_of(Home(path)), work, batches)
            session = view.plan.session
            session.settings = session.settings.changed("isolation", "latest")
            answer = asked(question, session, view, view.tables)
            view.release()
            assert driver.ledger.record.number > before or batches == 0
            assert answer.instant == driver.ledger.record.streams["s"].watermark - 1
            columns = answer.to_pylist()
            found = sorted(repr(tuple(one.values())) for one in columns)
            wanted = oracle_says(Inputs(work.seen), driver, question, answer.instant)
            assert found == sorted(map(repr, wanted.elements())), (seed, question)
            assert pinned_records(Home(path)) == []
        driver.close()

"""Many readers at once, while rows come at half speed: what it costs the micro-batches.

Rows are numbered, one for each step of time, so that the answer to every question is known by its
instant. Readers are threads of other processes, as other programs that ask a home.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.catalog.definitions import QueryDefinition
from penstock.connection.questions.one_time_query import asked
from penstock.errors import Refused
from penstock.pipeline.bound import understood
from penstock.pipeline.housekeeping import Housekeeping
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.pipeline.sweeping import Retention
from penstock.spark.home_view import view_of
from penstock.store.layout import Home
from penstock.store.pins import pinned_records
from penstock_fuzz.driving import LaneHostDriver

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.synchronize import Event

    KnownQuestion = Callable[[int], tuple[str, list[dict[str, int]]]]

BATCH = 50_000
RETAINED = 2_000_000
WINDOW = 100_000
GROUPS = 1000
STATEMENTS = (
    f"CREATE STREAM s (ts BIGINT, k BIGINT, g INT, WATERMARK FOR ts AS ts) RETAIN {RETAINED};",
    f"CREATE QUERY q AS SELECT g, COUNT(*) AS n FROM s [RANGE {WINDOW}] GROUP BY g;",
)
RETENTION = Retention(seal_bytes=8 << 20, grace=10.0)
PROCESSES = 5


@dataclass(frozen=True)
class ReadersEffort:
    """The amount of work.

    Attributes:
        readers: So many ask at once.
        batches: So many micro-batches without readers, and as many with them.
        pause: Seconds between an answer and the next question of a reader.
    """

    readers: int = 50
    batches: int = 300
    pause: float = 4.0


@dataclass
class ReadersFigures:
    """The counts and measured times, in seconds.

    Attributes:
        alone: The micro-batches without readers.
        beside: Those with them.
        answers: The questions that were answered,
        wrong: wrongly,
        refused: and not at all.
        reader_bytes: The most memory that a process with readers took.
        own_bytes: The most that this process took.
        pins: Pins that were left at the end.
        files: Files with rows that were left.
    """

    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    answers: int = 0
    wrong: int = 0
    refused: int = 0
    reader_bytes: int = 0
    own_bytes: int = 0
    pins: int = 0
    files: int = 0

    def to_json(self) -> dict[str, object]:
        """The figures by name."""
        alone, beside = (statistics.median(one) for one in (self.alone, self.beside))
        return {
            "batch_seconds_alone": round(alone, 4),
            "batch_seconds_beside": round(beside, 4),
            "ratio": round(beside / alone, 3),
            "answers": self.answers,
            "wrong": self.wrong,
            "refused": self.refused,
            "reader_megabytes": self.reader_bytes >> 20,
            "own_megabytes": self.own_bytes >> 20,
            "pins": self.pins,
            "files": self.files,
        }


def measure(effort: ReadersEffort, say: Callable[[str], None]) -> ReadersFigures:
    """Micro-batches at half speed, alone and beside readers."""
    found = ReadersFigures()
    with tempfile.TemporaryDirectory(prefix="penstock-readers-") as folder:
        feeder = _Feeder(Path(folder) / "home")
        # How long a batch takes at full speed, when as much is retained as ever.
        fast = feeder.feed(RETAINED // BATCH + 10, 0.0)
        period = 2 * statistics.median(fast[-10:])
        say(f"full speed: {BATCH / statistics.median(fast[-10:]):,.0f} rows a second")
        found.alone = feeder.feed(effort.batches, period)
        with _Readers(feeder.path, effort) as readers:
            found.beside = feeder.feed(effort.batches, period)
            readers.note(found)
        feeder.keeping.wait()
        feeder.keeping.clean(Retention(seal_bytes=0, grace=0.0))
        home = feeder.ledger.home
        found.pins, found.files = len(pinned_records(home)), len(list(home.segments.glob("*.rows")))
        found.own_bytes = _most_memory()
        home.close()
    return found


class _Feeder:
    """Feeds a home without Spark."""

    def __init__(self, path: Path) -> None:
        self.path = path
        home = Home(path)
        home.open()
        self.ledger = Ledger(home)
        session = understood(STATEMENTS)
        query = session.catalog.find("q", "query")
        assert isinstance(query, QueryDefinition)
        groups = tuple(groups_for({"q": query.plan}, 0, 1))
        self.ledger.change_plan(PipelinePlan(STATEMENTS, groups, session=session))
        self.lock = threading.RLock()
        self.keeping = Housekeeping(self.ledger, self.lock, _fail)
        self._driver = LaneHostDriver(self.ledger, 1)
        self._next = 0

    def feed(self, batches: int, period: float) -> list[float]:
        """So many micro-batches, one each period; the seconds that each took."""
        found = []
        for _ in range(batches):
            began = time.perf_counter()
            with self.lock:
                self._driver.feed({"s": _rows(self._next)})
                self._next += BATCH
            found.append(time.perf_counter() - began)
            if self.keeping.is_pressing(RETENTION):
                self.keeping.begin(RETENTION, lambda: True)
            time.sleep(max(period - (time.perf_counter() - began), 0.0))
        return found


def _fail(sentence: str) -> None:
    raise AssertionError(sentence)


def _rows(first: int) -> pa.Table:
    """A row for each step of time; its key is its number."""
    ts = np.arange(first, first + BATCH)
    return pa.table({"ts": ts, "k": ts, "g": (ts % GROUPS).astype(np.int32)})


def _window(instant: int) -> tuple[str, list[dict[str, int]]]:
    """An aggregate over a window, and its answer."""
    low = instant - WINDOW + 1
    text = f"SELECT COUNT(*) AS n, SUM(k) AS total FROM s [RANGE {WINDOW}] AS OF {instant}"
    return text, [{"n": WINDOW, "total": (low + instant) * WINDOW // 2}]


def _key(instant: int) -> tuple[str, list[dict[str, int]]]:
    """A look-up of a key among all that is retained, and its answer."""
    key = instant - RETAINED // 2
    return f"SELECT ts FROM s WHERE k = {key} AS OF {instant}", [{"ts": key}]


def _grouped(instant: int) -> tuple[str, list[dict[str, int]]]:
    """The greatest of groups in a window, and its answer."""
    text = (
        f"SELECT g, COUNT(*) AS n FROM s [RANGE {WINDOW}] WHERE g < 3 GROUP BY g ORDER BY g"
        f" AS OF {instant}"
    )
    return text, [{"g": g, "n": WINDOW // GROUPS} for g in range(3)]


QUESTIONS = (_window, _key, _grouped)


class _Readers:
    """Readers in some processes, until it is left."""

    def __init__(self, path: Path, effort: ReadersEffort) -> None:
        context = multiprocessing.get_context("spawn")
        self._over = context.Event()
        self._said: multiprocessing.Queue[tuple[int, int, int, int]] = context.Queue()
        self._ready: multiprocessing.Queue[int] = context.Queue()
        shares = [effort.readers // PROCESSES] * PROCESSES
        shares[0] += effort.readers % PROCESSES
        self._processes = [
            context.Process(
                target=_read_all,
                args=(path, share, effort.pause, self._over, self._ready, self._said),
            )
            for share in shares
            if share
        ]

    def __enter__(self) -> _Readers:
        for one in self._processes:
            one.start()
        for _ in self._processes:
            self._ready.get(timeout=300)
        return self

    def note(self, found: ReadersFigures) -> None:
        """Let them end, and note what they have seen."""
        self._over.set()
        for _ in self._processes:
            answers, wrong, refused, size = self._said.get(timeout=120)
            found.answers += answers
            found.wrong += wrong
            found.refused += refused
            found.reader_bytes = max(found.reader_bytes, size)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for one in self._processes:
            one.join(60)
            if one.is_alive():
                one.kill()


def _read_all(
    path: Path,
    readers: int,
    pause: float,
    over: Event,
    ready: multiprocessing.Queue[int],
    said: multiprocessing.Queue[tuple[int, int, int, int]],
) -> None:
    """The readers of a process; the first answers, for which loops are loaded, are no news."""
    for question in QUESTIONS:
        _ask(path, question, 0)
    ready.put(os.getpid())
    counts = [[0, 0, 0] for _ in range(readers)]
    threads = [
        threading.Thread(target=_read, args=(path, number, pause, over, counts[number]))
        for number in range(readers)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    answers, wrong, refused = (sum(one[place] for one in counts) for place in range(3))
    said.put((answers, wrong, refused, _most_memory()))


def _read(path: Path, number: int, pause: float, over: Event, counts: list[int]) -> None:
    """Ask again and again."""
    random = np.random.default_rng([number, os.getpid()])
    while not over.wait(pause * random.random() * 2):
        question = QUESTIONS[int(random.integers(len(QUESTIONS)))]
        try:
            is_right = _ask(path, question, int(random.integers(0, WINDOW)))
        except Refused:
            counts[2] += 1
        else:
            counts[0] += 1
            counts[1] += not is_right


def _ask(path: Path, question: KnownQuestion, ago: int) -> bool:
    """Ask about an instant so long ago; whether the answer is right."""
    view = view_of(Home(path))
    try:
        text, wanted = question(view.stream("s").watermark - 1 - ago)
        return asked(text, view.plan.session, view, ()).to_pylist() == wanted
    finally:
        view.release()


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def report(effort: ReadersEffort, say: Callable[[str], None]) -> dict[str, object]:
    """Measure, with a line for people."""
    found = measure(effort, say).to_json()
    say(
        f"{effort.readers} readers: {found['answers']:,} answers, {found['wrong']} of them wrong,"
        f" {found['refused']} refused; a batch takes {found['ratio']} of its time alone"
    )
    return found

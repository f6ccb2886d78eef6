"""Retained rows of a home: what is asked is what the oracle says, however they were sealed."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.connection.questions.one_time_query import asked
from penstock.errors import DataError, Refused
from penstock.pipeline.sweeping import Retention
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.spark.home_view import view_of
from penstock.store.layout import Home
from penstock.store.pins import pin_record, pinned_records
from store.driving import Driver, plan_of

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.connection.questions.one_time_answer import OneTimeAnswer
    from penstock.reference.timeline import Row

STREAMS = (
    "CREATE STREAM s (ts BIGINT, k INT, v STRING, WATERMARK FOR ts AS ts - 4) RETAIN 40;",
    "CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;",
)
PARTS = "SET retain_parts = 7;"
COUNTED = "CREATE QUERY counted AS SELECT k, COUNT(*) AS n FROM s [RANGE 12] GROUP BY k;"
QUESTIONS = (
    "SELECT k, v FROM s [RANGE 9]",
    "SELECT k, COUNT(*) AS n, MIN(v) AS v FROM s [RANGE 30] GROUP BY k",
    "SELECT s.k, t.ts FROM s [RANGE 20], t [RANGE 25] WHERE s.k = t.k",
    "SELECT k FROM t EXCEPT ALL SELECT k FROM s [RANGE 11]",
    "SELECT COUNT(*) AS n FROM t",
    "ISTREAM(SELECT k, COUNT(*) AS n FROM s [RANGE 8 SLIDE 4] GROUP BY k)",
    "SELECT DISTINCT k FROM s [RANGE 60]",
    "SELECT k, n FROM counted",
)


def ask(path: Path, question: str) -> OneTimeAnswer:
    """An answer as another process would give it."""
    view = view_of(Home(path))
    try:
        return asked(question, view.plan.session, view, view.tables)
    finally:
        view.release()


def drawn(random: Random, now: int) -> dict[str, list[dict[str, object]]]:
    """Rows of a batch, some of them late."""
    rows_of_s: list[dict[str, object]] = [
        {"ts": now + random.randint(-9, 6), "k": random.randint(1, 3), "v": random.choice("abc")}
        for _ in range(random.randint(0, 5))
    ]
    rows_of_t: list[dict[str, object]] = [
        {"ts": now + random.randint(0, 5), "k": random.randint(1, 3)}
        for _ in range(random.randint(0, 3))
    ]
    return {"s": rows_of_s, "t": rows_of_t}


def taken(driver: Driver, rows: dict[str, list[dict[str, object]]]) -> dict[str, list[Row]]:
    """The rows of a batch that are not late."""
    streams = driver.ledger.record.streams
    return {
        name: [
            tuple(one.values())  # type: ignore[arg-type]  # values of columns, all of them
            for one in several
            if one["ts"] >= streams[name].watermark  # type: ignore[operator]
        ]
        for name, several in rows.items()
    }


def oracle_says(inputs: Inputs, driver: Driver, question: str, instant: int) -> Counter[Row]:
    session = driver.ledger.plan.session
    plan = session.bind(question).plan
    return Counter(Oracle(inputs).answer(plan, instant))


def rows_seen() -> dict[str, list[Row]]:
    return {"s": [], "t": []}


def trial(path: Path, seed: int) -> Counter[str]:
    """Random batches, seals, restarts and questions; how many were answered and refused."""
    random, seen, found = Random(seed), rows_seen(), Counter[str]()
    driver = Driver(path, [PARTS, *STREAMS, COUNTED], ["counted"], lanes=2)
    for step in range(14):
        rows = drawn(random, step * 6)
        for name, several in taken(driver, rows).items():
            seen[name] += several
        driver.batch(rows)
        if random.random() < 0.3:
            driver.housekeeping.clean(Retention(seal_bytes=0, grace=0))
        if random.random() < 0.15:
            driver.close()
            driver = Driver(path)
        streams = driver.ledger.record.streams
        question = random.choice(QUESTIONS)
        clock = min(one.watermark for one in streams.values())
        # That of a query follows with the next batch.
        clock = min(clock, driver.ledger.record.clocks.get("counted", -1))
        instant = clock - random.choice([1, 2, 7, 20])
        if clock < 0:
            continue
        try:
            answer = ask(path, f"{question} AS OF {instant}")
        except Refused:
            found["refused"] += 1
            is_missing = driver.ledger.record.retained["s"].since > instant - 60
            assert is_missing, (seed, step, question, instant)
            continue
        found["answered"] += 1
        rows_found = Counter(tuple(one.values()) for one in answer.to_pylist())
        wanted = oracle_says(Inputs(seen), driver, question, instant)
        assert rows_found == wanted, (seed, step, question, instant)
    driver.close()
    return found


def test_questions_get_the_answers_of_the_oracle_however_rows_were_sealed(tmp_path: Path) -> None:
    found = Counter[str]()
    for seed in range(15):
        found += trial(tmp_path / str(seed), seed)
    assert found["answered"] > 60
    assert found["refused"] > 3


def rows_at(*instants: int) -> dict[str, list[dict[str, object]]]:
    return {"s": [{"ts": one, "k": 1, "v": "a"} for one in instants]}


SEALING = Retention(seal_bytes=0, grace=0)


def test_sub_windows_that_are_too_old_are_dropped_with_their_files(tmp_path: Path) -> None:
    with Driver(tmp_path, [PARTS, *STREAMS, COUNTED], ["counted"]) as driver:
        for now in range(0, 200, 10):
            driver.batch(rows_at(now, now + 3))
            driver.housekeeping.clean(SEALING)
        record = driver.ledger.record
        files = [path.name for path in driver.home.segments.glob("*.rows")]
        # 40 steps of 7 sub-windows are about two batches each; the file of each pass has one.
        assert len(files) < 12
        assert 140 < record.retained["s"].since <= 150
        assert record.unsealed == ()
        assert ask(tmp_path, "SELECT COUNT(*) AS n FROM s")["n"].to_pylist() == [8]


def test_a_pin_keeps_the_files_of_its_record(tmp_path: Path) -> None:
    with Driver(tmp_path, [PARTS, *STREAMS, COUNTED], ["counted"]) as driver:
        driver.batch(rows_at(1, 5))
        driver.housekeeping.clean(SEALING)
        view = view_of(Home(tmp_path))
        for now in range(100, 200, 10):
            driver.batch(rows_at(now))
            driver.housekeeping.clean(SEALING)
        answer = asked("SELECT ts FROM s", view.plan.session, view, ())
        assert answer["ts"].to_pylist() == []
        kept = view.stream("s").sub_windows
        assert [one.table(["k"]).num_rows for one in kept] == [2]
        gone = {piece.file for one in kept for piece in one.pieces}  # type: ignore[attr-defined]
        view.release()
        driver.housekeeping.clean(SEALING)
        assert not any((driver.home.segments / file).exists() for file in gone)


def test_a_pin_of_a_process_that_has_ended_is_none(tmp_path: Path) -> None:
    with Driver(tmp_path, STREAMS) as driver:
        pin_record(driver.home, 0)
        assert pinned_records(driver.home) == [0]
        (own,) = (tmp_path / "pins").iterdir()
        own.rename(own.with_name("999999999.abc.json"))
        assert pinned_records(driver.home) == []
        assert list((tmp_path / "pins").iterdir()) == []


def test_a_stream_that_no_query_reads_keeps_its_rows(tmp_path: Path) -> None:
    with Driver(tmp_path, [PARTS, *STREAMS]) as driver:
        driver.batch(rows_at(1, 7, 9))
        assert ask(tmp_path, "SELECT ts FROM s AS OF 4")["ts"].to_pylist() == [1]


def test_retain_none_keeps_nothing(tmp_path: Path) -> None:
    none = STREAMS[0].replace("RETAIN 40", "RETAIN NONE")
    with Driver(tmp_path, [none, COUNTED], ["counted"]) as driver:
        driver.batch(rows_at(1, 7, 9))
        assert driver.ledger.record.unsealed == ()
        with pytest.raises(Refused, match="none is retained"):
            ask(tmp_path, "SELECT ts FROM s [RANGE 3] AS OF 4")


def test_without_retain_the_longest_window_of_queries_counts(tmp_path: Path) -> None:
    plain = STREAMS[0].replace(" RETAIN 40", "")
    with Driver(tmp_path, [plain, COUNTED], ["counted"]) as driver:
        for now in range(0, 100, 10):
            driver.batch(rows_at(now))
        answer = ask(tmp_path, "SELECT k, COUNT(*) AS n FROM s [RANGE 12] GROUP BY k")
        assert answer.to_pylist() == [{"k": 1, "n": 1}]
        with pytest.raises(Refused, match="its longest window") as refused:
            ask(tmp_path, "SELECT k FROM s [RANGE 50]")
        assert "Without RETAIN it keeps 12" in str(refused.value)


def test_another_rule_counts_from_then_on(tmp_path: Path) -> None:
    statements = [PARTS, *STREAMS, COUNTED]
    with Driver(tmp_path, statements, ["counted"]) as driver:
        for now in range(0, 60, 10):
            driver.batch(rows_at(now))
        driver.housekeeping.clean(SEALING)
        plan = plan_of(["SET retain_parts = 3;", *statements[1:]], ["counted"], first=0)
        driver.ledger.change_plan(plan)
        driver.batch(rows_at(61))
        driver.housekeeping.clean(SEALING)
        found = ask(tmp_path, "SELECT ts FROM s [RANGE 30] AS OF 56")["ts"].to_pylist()
        assert found == [30, 40, 50]


def test_the_oldest_rows_go_first_when_there_are_too_many_bytes(tmp_path: Path) -> None:
    capped = STREAMS[0].replace("RETAIN 40", "RETAIN 400, 1 kB")
    with Driver(tmp_path, [PARTS, capped, COUNTED], ["counted"]) as driver:
        for now in range(0, 400, 2):
            driver.batch(rows_at(now, now + 1))
        driver.housekeeping.clean(SEALING)
        since = driver.ledger.record.retained["s"].since
        assert 300 < since < 400
        count = ask(tmp_path, "SELECT COUNT(*) AS n, MIN(ts) AS since FROM s").to_pylist()
        assert count == [{"n": 395 - since, "since": since}]


def test_when_the_disk_gets_full_a_warning_comes_first_and_the_oldest_rows_go_last(
    tmp_path: Path,
) -> None:
    with Driver(tmp_path, [PARTS, *STREAMS, COUNTED], ["counted"]) as driver:
        for now in range(0, 60, 10):
            driver.batch(rows_at(now, now + 3) | {"t": [{"ts": now, "k": 1}]})
            driver.housekeeping.clean(SEALING)
        since = driver.ledger.record.retained["s"].since
        free = shutil.disk_usage(tmp_path).free
        # Other programs use the disk meanwhile.
        scarce = replace(SEALING, warn_free=free << 10, least_free=free >> 1)
        driver.housekeeping.clean(scarce)
        (warning,) = driver.faults
        assert "make space there; below" in warning
        assert driver.ledger.record.retained["s"].since == since
        # Not even the warned of are given up while there is some space left.
        driver.housekeeping.clean(scarce)
        assert driver.ledger.record.retained["s"].since == since
        files = set(driver.home.segments.glob("*.rows"))
        driver.housekeeping.clean(replace(scarce, least_free=free << 1))
        given_up = driver.faults[1:]
        assert any('retained rows of stream "s" before' in one for one in given_up)
        assert driver.ledger.record.retained["s"].since > since
        assert set(driver.home.segments.glob("*.rows")) < files
        kept = ask(tmp_path, "SELECT ts FROM s [RANGE 4]")["ts"].to_pylist()
        assert kept == []
        with pytest.raises(Refused, match="those from"):
            ask(tmp_path, "SELECT ts FROM s [RANGE 40]")
        driver.batch(rows_at(61))
        driver.housekeeping.clean(SEALING)
        assert ask(tmp_path, "SELECT COUNT(*) AS n FROM s [RANGE 1] AS OF 53").to_pylist()


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_damaged_file_is_named_and_refused(tmp_path: Path, is_gone: bool) -> None:
    with Driver(tmp_path, [PARTS, *STREAMS, COUNTED], ["counted"]) as driver:
        driver.batch(rows_at(1, 7, 9))
        driver.housekeeping.clean(SEALING)
        (file,) = driver.home.segments.glob("*.rows")
        if is_gone:
            file.unlink()
        else:
            content = bytearray(file.read_bytes())
            content[200] ^= 0xFF
            file.write_bytes(content)
        with pytest.raises(DataError, match=file.name):
            ask(tmp_path, "SELECT * FROM s AS OF 4")


def test_readers_beside_batches_seals_and_sweeps_see_true_answers(tmp_path: Path) -> None:
    question, seen = "SELECT k, COUNT(*) AS n FROM s [RANGE 30] GROUP BY k", rows_seen()
    answers: list[tuple[int, Counter[Row]]] = []
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            answer = ask(tmp_path, question)
            assert answer.instant is not None
            answers.append((answer.instant, Counter(tuple(r.values()) for r in answer.to_pylist())))

    random = Random(3)
    with Driver(tmp_path, [PARTS, *STREAMS, COUNTED], ["counted"]) as driver:
        rows = {"s": [{"ts": 1, "k": 1, "v": "a"}]}
        with ThreadPoolExecutor(4) as threads:
            readers = []
            for step in range(60):
                for name, several in taken(driver, rows).items():
                    seen[name] += several
                driver.batch(rows)
                readers += [threads.submit(read) for _ in range(4 if not step else 0)]
                driver.housekeeping.clean(SEALING)
                rows = drawn(random, step * 5)
            is_over.set()
            for one in readers:
                one.result()
        oracle = Oracle(Inputs(seen))
        plan = driver.ledger.plan.session.bind(question).plan
        wrong = [at for at, rows in answers if rows != Counter(oracle.answer(plan, at))]
        assert wrong == []
    assert len(answers) > 4

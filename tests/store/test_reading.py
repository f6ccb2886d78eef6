"""Results read from the records of a home are what the oracle says, however they are read."""

from __future__ import annotations

import random
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

from penstock.algebra.streams import RelationToStream
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import DataError
from penstock.pipeline.sweeping import Retention, sweep
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.results.settling import ChangingContent, Elements, SentElements
from penstock.store.result_reader import ResultsReader, Start, content_at, start_of
from store.driving import Driver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Row, Timeline
    from penstock.store.result_reader import Commit

STREAM = "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 3)"
QUERIES = {
    "grouped": "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 7] GROUP BY k",
    "different": "SELECT DISTINCT k FROM s [RANGE 5]",
    "counted": "SELECT COUNT(*) AS n FROM s [RANGE 6]",
    "last": "SELECT k, v FROM s [PARTITION BY k ROWS 2]",
}
SENT = "ISTREAM(SELECT k FROM s [RANGE 5])"
STATEMENTS = (
    STREAM,
    *(f"CREATE QUERY {name} AS {text}" for name, text in QUERIES.items()),
    f"CREATE QUERY sent AS {SENT}",
)


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    with Driver(tmp_path / "home", STATEMENTS, [*QUERIES, "sent"], lanes=3) as driver:
        yield driver


def batches(seed: int, count: int = 6) -> list[list[Row]]:
    """Rows that are out of order within the slack, so that none is late."""
    chance = random.Random(seed)
    return [
        [
            (base * 5 + chance.randint(0, 5), chance.choice([1, 2, 3, None]), chance.randint(-2, 2))
            for _ in range(chance.randint(1, 6))
        ]
        for base in range(count)
    ]


def bring(driver: Driver, rows: list[Row]) -> list[Row]:
    """Run a micro-batch; the rows that were taken in."""
    watermark = driver.ledger.record.streams["s"].watermark
    driver.batch({"s": [dict(zip(("ts", "k", "v"), row, strict=True)) for row in rows]})
    return [row for row in rows if isinstance(row[0], int) and row[0] >= watermark]


def plan_of(driver: Driver, query: str) -> Plan:
    (found,) = [
        group.plans[query] for group in driver.ledger.plan.groups.values() if query in group.plans
    ]
    return found


def empty(driver: Driver, query: str) -> partial[ChangingContent]:
    for group in driver.ledger.plan.groups.values():
        if query in group.plans:
            node = group.result(query)
            return partial(ChangingContent, node.arrow_types, node.span, 8)
    raise AssertionError(query)


def reader_of(driver: Driver, query: str) -> ResultsReader:
    start = start_of(driver.home, query, 1, has_content=query != "sent")
    fold_of = SentElements if query == "sent" else empty(driver, query)
    return ResultsReader(driver.home, query, start, fold_of)


def content_of(reader: ResultsReader) -> Counter[Row]:
    content = reader.fold
    assert isinstance(content, ChangingContent)
    return rows_of(content.current())


def past(driver: Driver, query: str, instant: int) -> Counter[Row]:
    """The rows of a query at an instant."""
    start = start_of(driver.home, query, 1, has_content=True)
    last = driver.ledger.record.number
    return rows_of(content_at(driver.home, start, last, query, instant, empty(driver, query)()))


def rows_of(columns: tuple[pa.Array, ...]) -> Counter[Row]:
    values = [column.to_pylist() for column in columns]
    return Counter(zip(*values, strict=True))


def changes_in(commits: list[Commit]) -> list[tuple[Row, int, int]]:
    found: list[tuple[Row, int, int]] = []
    for block in (one.block for one in commits):
        assert block is not None
        values = zip(*(column.to_pylist() for column in block.columns), strict=True)
        found += zip(values, block.ts.tolist(), block.signs.tolist(), strict=True)
    return found


def expected_changes(timeline: Timeline, before: int) -> Counter[tuple[Row, int, int]]:
    expected = Counter({(row, BEGINNING, 1): n for row, n in timeline.initial.items()})
    for change in timeline.changes():
        if change.at < before:
            expected.update({(row, change.at, -1): n for row, n in change.removed.items()})
            expected.update({(row, change.at, 1): n for row, n in change.inserted.items()})
    return expected


@pytest.mark.parametrize("seed", range(4))
def test_changes_and_snapshots_are_those_of_the_oracle(driver: Driver, seed: int) -> None:
    readers = {query: reader_of(driver, query) for query in QUERIES}
    seen: dict[str, list[Commit]] = {query: [] for query in QUERIES}
    taken: list[Row] = []
    for rows in batches(seed):
        taken += bring(driver, rows)
        last = driver.ledger.record.number
        for query, reader in readers.items():
            seen[query] += reader.read(last)
    oracle = Oracle(Inputs({"s": taken}))
    for query, reader in readers.items():
        timeline = oracle.timeline(plan_of(driver, query))
        clock = driver.ledger.record.clocks[query]
        assert reader.reached == clock
        assert Counter(changes_in(seen[query])) == expected_changes(timeline, clock)
        assert content_of(reader) == timeline.at(clock - 1)
        at_once = reader_of(driver, query)
        assert changes_in(list(at_once.read(driver.ledger.record.number))) == changes_in(
            seen[query]
        )


def test_a_past_instant_has_what_the_oracle_says(driver: Driver) -> None:
    taken = [row for rows in batches(7) for row in bring(driver, rows)]
    oracle = Oracle(Inputs({"s": taken}))
    for query in QUERIES:
        timeline = oracle.timeline(plan_of(driver, query))
        assert driver.ledger.record.clocks[query] > 10
        for instant in range(-1, driver.ledger.record.clocks[query]):
            assert past(driver, query, instant) == timeline.at(instant), (query, instant)


def test_what_is_sent_out_comes_when_it_is_final_and_in_order(driver: Driver) -> None:
    reader = reader_of(driver, "sent")
    taken: list[Row] = []
    found: list[tuple[Row, int, int]] = []
    for rows in batches(3):
        taken += bring(driver, rows)
        found += changes_in(list(reader.read(driver.ledger.record.number)))
        assert all(at < driver.ledger.record.clocks["sent"] for _, at, _ in found)
    clock = driver.ledger.record.clocks["sent"]
    plan = plan_of(driver, "sent")
    assert isinstance(plan, RelationToStream)
    emissions = Oracle(Inputs({"s": taken})).emissions(plan)
    expected = [(one.row, one.at) for one in emissions if one.at < clock]
    assert Counter((row, at) for row, at, _ in found) == Counter(expected)
    assert [at for _, at, _ in found] == [at for _, at in expected]


@pytest.mark.parametrize("query", ["grouped", "last"])
def test_the_end_of_the_input_holds_until_more_rows_come(driver: Driver, query: str) -> None:
    taken = bring(driver, [(1, 1, 5), (2, 2, 6)])
    driver.flush()
    reader = reader_of(driver, query)
    (*_, end) = reader.read(driver.ledger.record.number)
    assert end.clock == reader.reached == INFINITY
    timeline = Oracle(Inputs({"s": taken})).timeline(plan_of(driver, query))
    assert content_of(reader) == timeline.at(INFINITY - 1)

    taken += bring(driver, [(3, 1, 7), (20, 3, 1)])
    taken += bring(driver, [(21, 2, 2)])  # Only now all lanes know how far the stream is.
    last, clock = driver.ledger.record.number, driver.ledger.record.clocks[query]
    timeline = Oracle(Inputs({"s": taken})).timeline(plan_of(driver, query))
    assert clock == 17
    new_reader = reader_of(driver, query)
    assert Counter(changes_in(list(new_reader.read(last)))) == expected_changes(timeline, clock)
    reader.catch_up(last)
    for one in (reader, new_reader):
        assert content_of(one) == timeline.at(clock - 1)
        assert one.reached == clock
    for instant in range(clock):
        assert past(driver, query, instant) == timeline.at(instant), instant


def test_what_was_folded_away_is_where_a_reader_begins(driver: Driver) -> None:
    early = reader_of(driver, "grouped")
    taken = [row for rows in batches(5, 4) for row in bring(driver, rows)]
    driver.fold()
    rest = batches(6, 9)[4:]
    taken += [row for rows in rest[:3] for row in bring(driver, rows)]
    between = driver.ledger.record
    taken += bring(driver, rest[3])
    folded_clock = driver.ledger.record.clocks["grouped"]
    driver.fold()
    taken += bring(driver, rest[4])
    # Records before the one between are gone, those after it not yet: they name the older fold.
    now = time.time()
    retention = Retention(seconds=now - between.written_at, grace=-10.0)
    sweep(driver.home, driver.ledger.record, retention, now)
    assert driver.home.chain.numbers()[0] == between.number
    timeline = Oracle(Inputs({"s": taken})).timeline(plan_of(driver, "grouped"))
    reader = reader_of(driver, "grouped")
    (first, *_) = reader.read(driver.ledger.record.number)
    reader.catch_up(driver.ledger.record.number)
    assert first.clock == folded_clock
    assert content_of(reader) == timeline.at(reader.reached - 1)
    assert driver.ledger.record.clocks["grouped"] > folded_clock
    for instant in range(folded_clock - 1, driver.ledger.record.clocks["grouped"]):
        assert past(driver, "grouped", instant) == timeline.at(instant), instant
    with pytest.raises(DataError, match="not kept any more"):
        list(early.read(driver.ledger.record.number))
    early.catch_up(driver.ledger.record.number)
    assert content_of(early) == content_of(reader)


@pytest.mark.parametrize("has_read", [False, True])
def test_who_only_wants_the_content_reads_what_was_not_folded(
    driver: Driver, has_read: bool
) -> None:
    taken = bring(driver, [(1, 1, 5), (2, 2, 6)])
    reader = reader_of(driver, "grouped")
    if has_read:
        reader.catch_up(driver.ledger.record.number)
    taken += [row for rows in batches(8) for row in bring(driver, rows)]
    driver.fold()
    # What was folded is not looked at again.
    for path in driver.home.segments.glob("*.results"):
        path.unlink()
    taken += bring(driver, [(31, 1, 2)])
    taken += bring(driver, [(37, 2, 3)])
    reader.catch_up(driver.ledger.record.number)
    timeline = Oracle(Inputs({"s": taken})).timeline(plan_of(driver, "grouped"))
    assert reader.reached == driver.ledger.record.clocks["grouped"] > 27
    assert content_of(reader) == timeline.at(reader.reached - 1)


def test_elements_are_passed_on_as_they_are(driver: Driver) -> None:
    bring(driver, [(1, 1, 5)])
    bring(driver, [(9, 1, 6)])
    reader = ResultsReader(driver.home, "last", Start(1, (), BEGINNING), Elements)
    blocks = [one.block for one in reader.read(driver.ledger.record.number)]
    rows = sum(len(block) for block in blocks if block is not None)
    assert rows == driver.ledger.record.result_rows["last"] > 0

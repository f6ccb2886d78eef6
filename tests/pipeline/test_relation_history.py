"""Changes of a relation that are put together mean the same from the clock on."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra.time import INFINITY
from penstock.connection.questions.one_time_query import asked
from penstock.operators.block import Block
from penstock.pipeline.relation_history import MANY_FILES, what_is_left
from penstock.spark.home_view import view_of
from penstock.store.layout import Home
from penstock.store.result_files import result_blocks
from store.driving import Driver

if TYPE_CHECKING:
    from pathlib import Path

STATEMENTS = (
    "CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)",
    "CREATE RELATION r (k INT, name STRING)",
    "CREATE QUERY q AS SELECT s.k, name FROM s [NOW], r WHERE s.k = r.k",
)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[int, int | None, int]]:
    """Instant, row and sign of changes; a row only leaves if it is there."""
    there: Counter[int | None] = Counter()
    made = []
    for instant in sorted(draw(st.lists(st.integers(0, 9), max_size=30))):
        row = draw(st.sampled_from([None, 0, 1, 2]))
        sign = draw(st.sampled_from([1, -1])) if there[row] else 1
        there[row] += sign
        made.append((instant, row, sign))
    return made


def content(block: Block, instant: int) -> Counter[object]:
    found: Counter[object] = Counter()
    for row, ts, sign in zip(block.columns[0].to_pylist(), block.ts, block.signs, strict=True):
        if ts <= instant:
            found[row] += int(sign)
    return +found


@given(histories(), st.integers(0, 10))
def test_the_content_is_the_same_from_the_clock_on(
    history: list[tuple[int, int | None, int]], clock: int
) -> None:
    ts, rows, signs = (list(one) for one in zip(*history, strict=True)) if history else ([],) * 3
    whole = Block(
        (pa.array(rows, pa.int32()),),
        np.array(ts, np.int64),
        np.full(len(ts), INFINITY, np.int64),
        np.array(signs, np.int8),
    )
    left = what_is_left(whole, clock)
    for instant in range(clock - 1, 11):
        assert content(left, instant) == content(whole, instant)
    assert len(left) == sum(content(whole, clock - 1).values()) + sum(t >= clock for t in ts)


def test_files_of_changes_stay_few_and_a_late_comer_knows_the_content(tmp_path: Path) -> None:
    with Driver(tmp_path / "home", STATEMENTS, ["q"]) as driver:
        for number in range(4 * MANY_FILES):
            driver.ledger.change_relation(
                "r", pa.table({"k": [1], "name": [f"n{number}"], "_sign": [1]})
            )
            if number:
                gone = pa.table({"k": [1], "name": [f"n{number - 1}"], "_sign": [-1]})
                driver.ledger.change_relation("r", gone)
            driver.batch({"s": [{"ts": number, "k": 1}]})
        assert len(driver.ledger.record.relations["r"].changes) <= MANY_FILES + 1
        more = (*STATEMENTS, STATEMENTS[2].replace("QUERY q", "QUERY p"))
        plan = driver.ledger.plan.plan
        driver.run(more, ["q", "p"])
        assert len(plan.groups) == 1
        driver.batch({"s": [{"ts": 1000, "k": 1}]})
        driver.flush()
        record = driver.ledger.record
        rows = [
            row
            for query in ("p", "q")
            for block in result_blocks(driver.home, record, query)
            for row in zip(*(one.to_pylist() for one in block.columns), strict=True)
        ]
        assert rows == [(1, f"n{4 * MANY_FILES - 1}")] * 2


TWO_CLOCKS = (
    "CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED",
    "CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED",
    "CREATE RELATION r (k INT, name STRING)",
    "CREATE QUERY of_s AS SELECT s.k, name FROM s [RANGE 9], r WHERE s.k = r.k",
    "CREATE QUERY of_t AS SELECT t.k, name FROM t [RANGE 9], r WHERE t.k = r.k",
)


@pytest.mark.parametrize("seed", range(3))
def test_overdue_changes_take_effect_at_the_clock_of_the_streams_that_are_asked_about(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    there: dict[tuple[str, int], list[int]] = {}
    with Driver(tmp_path / "home", TWO_CLOCKS, ["of_s", "of_t"]) as driver:
        for now in range(MANY_FILES + 20):
            # One stream is far ahead of the other.
            rows: dict[str, list[dict[str, object]]] = {"s": [{"ts": 3 * now, "k": now % 2}]}
            if random.random() < 0.5:
                rows["t"] = [{"ts": now, "k": now % 2}]
            driver.batch(rows)
            row = f"n{random.randint(0, 3)}", random.randint(0, 1)
            leaves = bool(there.get(row)) and random.random() < 0.5
            # Overdue, or not; and no row leaves before it has come.
            at = there[row].pop() if leaves else random.choice([0, now, 2 * now, 3 * now])
            if not leaves:
                there.setdefault(row, []).append(at)
            changes = {"k": [row[1]], "name": [row[0]], "_sign": [-1 if leaves else 1], "_at": [at]}
            driver.ledger.change_relation("r", pa.table(changes))
        driver.batch({"s": [{"ts": 1000, "k": 0}], "t": [{"ts": 1000, "k": 0}]})
        view = view_of(Home(tmp_path / "home"))
        session, wrong = view.plan.session, []
        for stream, query in (("s", "of_s"), ("t", "of_t")):
            text = f"SELECT x.k, name FROM {stream} [RANGE 9] AS x, r WHERE x.k = r.k"
            since = max(view.relation("r", ())[1], 0)
            for instant in random.sample(range(since, 180), 25):
                found = asked(f"{text} AS OF {instant}", session, view, ())
                kept = asked(f"SELECT * FROM {query} AS OF {instant}", session, view, [query])
                if Counter(map(str, found.to_pylist())) != Counter(map(str, kept.to_pylist())):
                    wrong.append((query, instant))
        view.release()
    assert wrong == []

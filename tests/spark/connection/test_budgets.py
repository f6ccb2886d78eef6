"""Lanes with a budget: what they leave undone is done without further rows, and status tells."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import penstock
from penstock.observe.observation import Observer
from penstock.observe.prometheus import exposition
from penstock.spark.spark_engine import spark_engine
from spark.connection.test_other_lanes import QUERIES, SCRIPT, counted, feed, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.connection.connection import Connection


def test_what_a_budget_leaves_is_done_when_no_rows_come(connect: Callable[..., Connection]) -> None:
    db, expected = connect(), penstock.connect_inline()
    db.execute("SET lane_budget = '1 ms'; SET scheduler = chain_flush; SET latency = '1 ms'")
    for one in (db, expected):
        one.execute(SCRIPT)
        for first in range(0, 100, 20):
            feed(one, first)
    db["sums"].wait_idle()
    home = spark_engine(db).home
    assert any(record.behind for record in home.chain.since(0))
    assert not spark_engine(db).running.record.behind
    for query in QUERIES:
        assert counted(db[query].snapshot()) == counted(expected[query].snapshot())


def test_another_number_of_lanes_takes_over_what_waits(connect: Callable[..., Connection]) -> None:
    db, expected = connect(), penstock.connect_inline()
    db.execute("SET lane_budget = '1 ms'; SET scheduler = greedy")
    for one in (db, expected):
        one.execute(SCRIPT)
        feed(one, 0)
    db.close()
    again = connect(lanes=3)
    for one in (again, expected):
        feed(one, 20)
    again["sums"].wait_idle()
    for query in QUERIES:
        assert counted(again[query].snapshot()) == counted(expected[query].snapshot())


def test_rows_are_held_back_while_too_much_waits(connect: Callable[..., Connection]) -> None:
    db, expected = connect(), penstock.connect_inline()
    db.execute("SET lane_budget = '0.01 ms'; SET queue_limit = '0.001 kB'")
    many = 40_000
    ts = random.Random(1).choices(range(60, 100), k=many)
    large = pa.table({"ts": ts, "k": [one % 7 for one in ts], "v": [one % 11 for one in ts]})
    for one in (db, expected):
        one.execute(SCRIPT)
        for first in range(0, 60, 20):
            feed(one, first)
    wait_until_taken(db, 60)
    for one in (db, expected):
        one.insert("s", large)
        feed(one, 100)
    db["sums"].wait_idle()
    intake = db.progress()["intake"]
    assert intake["held_back"] > 0
    assert intake["rows"] < many
    records = spark_engine(db).home.chain.since(0)
    taken = [one.streams["s"].rows for one in records if "s" in one.streams]
    steps = {later - before for before, later in pairwise(taken)}
    # What was inserted together came in by parts, of which no row was late.
    assert 0 < max(steps) < many
    assert len(steps - {0, 20}) > 1
    assert db.progress()["streams"]["s"]["late"] == 0
    for query in QUERIES[:3]:
        assert counted(db[query].snapshot()) == counted(expected[query].snapshot())
    db.close()
    facts = Observer(spark_engine(db).home).look()
    assert facts.work.intake is not None
    assert f"penstock_intake_rows {facts.work.intake}" in exposition(facts)
    assert "penstock_held_back_batches_total" in exposition(facts)


def test_status_tells_of_queues_latencies_and_charts(connect: Callable[..., Connection]) -> None:
    db = connect()
    db.execute("SET lane_budget = '1 ms'; SET scheduler = chain; SET latency = '1 ms'")
    db.execute(SCRIPT)
    for first in range(0, 100, 20):
        feed(db, first)
    db["sums"].wait_idle()
    db.close()
    facts = Observer(spark_engine(db).home).look()
    assert {one.scheduler for one in facts.work.queues} == {"chain"}
    assert {one.query for one in facts.work.latencies} >= {"sums"}
    assert any(one.query == "sums" and len(one.chains) for one in facts.work.charts)
    text = exposition(facts)
    assert 'penstock_queue_peak_bytes{lane="' in text
    assert 'penstock_latency_seconds{query="sums",quantile="0.99"}' in text


def wait_until_taken(db: Connection, many: int) -> None:
    """Wait until a micro-batch with so many rows of stream s, since the start, is committed."""
    chain = spark_engine(db).home.chain
    while all("s" not in one.streams or one.streams["s"].rows < many for one in chain.since(0)):
        time.sleep(0.01)


@pytest.mark.parametrize("kind", ["random", "semantic"])
def test_an_answer_is_that_over_the_rows_that_stay(
    connect: Callable[..., Connection], kind: str
) -> None:
    db, expected = connect(lanes=2), penstock.connect_inline()
    db.execute(
        f"SET lane_budget = '0.01 ms'; SET shedding = {kind}; SET shedding_bound = '0.001 kB';"
        " SET keep_shed = true"
    )
    script = SCRIPT.replace("AS ts);", "AS ts) OPTIONS (utility 'v');").replace("last AS", "l AS")
    for one in (db, expected):
        one.execute(script)
    for first in range(0, 160, 20):
        feed(db, first)
        # What is inserted at once comes in at once, and nothing waits then.
        wait_until_taken(db, first + 20)
    db["sums"].wait_idle()
    late = {name: db.late(name).to_arrow() for name in ("s", "t")}
    for first in range(0, 160, 20):
        for stream in ("s", "t"):
            gone = set(late[stream]["ts"].to_pylist())
            table = rows(first)
            expected.insert(
                stream, table.filter([one not in gone for one in table["ts"].to_pylist()])
            )
    for stream in ("s", "t"):
        last = max(rows(140)["ts"].to_pylist())
        expected.advance(stream, last)
    for query in QUERIES[:3]:
        assert counted(db[query].snapshot()) == counted(expected[query].snapshot())
    assert db["sums"].shed == {"s": len(late["s"])}
    assert db["regrouped"].shed == {name: len(one) for name, one in late.items()}
    assert len(late["s"])
    assert "of a sample: " in repr(db["sums"])
    if kind == "semantic":
        assert set(late["s"]["v"].to_pylist()) == {0}
    db.close()
    facts = Observer(spark_engine(db).home).look()
    assert {one.name: one.shed for one in facts.streams} == {n: len(one) for n, one in late.items()}
    text = exposition(facts)
    assert f'penstock_stream_shed_rows_total{{stream="s"}} {len(late["s"])}' in text
    assert f'penstock_query_shed_rows_total{{query="sums",stream="s"}} {len(late["s"])}' in text
    assert "penstock_shedding_one_in" in text

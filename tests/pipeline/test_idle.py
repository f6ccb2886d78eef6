"""A stream that is silent for its idle_timeout holds others back no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.driving import Driver

if TYPE_CHECKING:
    from pathlib import Path

STATEMENTS = (
    "CREATE STREAM a (ts BIGINT, k INT, WATERMARK FOR ts AS ts) OPTIONS (idle_timeout '5 seconds')",
    "CREATE STREAM b (ts BIGINT, k INT, WATERMARK FOR ts AS ts)",
    "CREATE QUERY pairs AS SELECT a.k FROM a [RANGE 100], b [RANGE 100] WHERE a.k = b.k",
)


def row(ts: int) -> list[dict[str, object]]:
    return [{"ts": ts, "k": 1}]


def test_the_clock_goes_on_without_a_silent_stream(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["pairs"]) as driver:
        ledger = driver.ledger
        driver.batch({"a": row(1), "b": row(2)})
        assert not ledger.pass_idle(100.0)
        driver.batch({"b": row(50)})
        assert ledger.record.clocks["pairs"] == 1
        assert not ledger.pass_idle(104.0)
        assert ledger.pass_idle(105.0)
        assert ledger.record.streams["a"].watermark == 50
        driver.batch({"b": row(60)})
        assert ledger.record.clocks["pairs"] == 50
        # What comes after all is late if it is before that, and the stream is awake again.
        driver.batch({"a": row(49)})
        assert ledger.record.streams["a"].late == 1
        assert not ledger.pass_idle(106.0)


def test_streams_that_all_wait_wait_for_each_other(tmp_path: Path) -> None:
    statements = [
        one.replace("AS ts)", "AS ts) OPTIONS (idle_timeout '1 second')") for one in STATEMENTS[1:2]
    ]
    with Driver(tmp_path, [STATEMENTS[0], *statements, STATEMENTS[2]], ["pairs"]) as driver:
        driver.batch({"a": row(1), "b": row(20)})
        driver.ledger.pass_idle(0.0)
        assert not driver.ledger.pass_idle(1000.0)

"""The intake in one process: fewer rows at once while too much waits, and the same answers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import penstock

if TYPE_CHECKING:
    from penstock.connection.connection import Connection

SCRIPT = """
    CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts - 20);
    CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts - 20);
    CREATE QUERY counts AS SELECT k, COUNT(*) AS n FROM s [RANGE 50] GROUP BY k;
    CREATE QUERY pairs AS SELECT s.k, COUNT(*) AS n FROM s [RANGE 9], t [NOW]
        WHERE s.k = t.k GROUP BY s.k;
"""


def feed(db: Connection, seed: int) -> None:
    draw = random.Random(seed)
    for batch in range(4):
        for stream in ("s", "t"):
            rows = [(100 * batch + draw.randint(-60, 130), draw.randint(0, 3)) for _ in range(3000)]
            db.insert(stream, rows)


@pytest.mark.parametrize("lanes", [1, 3])
def test_rows_are_taken_in_by_parts_and_none_is_late_for_that(lanes: int) -> None:
    held, plain = penstock.connect_inline(lanes=lanes), penstock.connect_inline()
    held.execute("SET lane_budget = '0.001 ms'; SET queue_limit = '0.001 kB'")
    for db in (held, plain):
        db.execute(SCRIPT)
        feed(db, 1)
        db.wait_idle()
    intake = held.progress()["intake"]
    assert intake["rows"] is not None
    assert 1024 <= intake["rows"] < 3000
    assert intake["held_back"] > 0
    assert plain.progress()["intake"] == {"rows": None, "one_in": 1, "held_back": 0}
    assert held.progress()["streams"] == plain.progress()["streams"]
    assert held.progress()["streams"]["s"]["late"] > 0
    for stream in ("s", "t"):
        assert held.late(stream).equals(plain.late(stream))
    for query in ("counts", "pairs"):
        found = [sorted(map(str, one[query].changes().to_pylist())) for one in (held, plain)]
        assert found[0] == found[1]


def test_the_intake_grows_again_when_little_waits() -> None:
    db = penstock.connect_inline()
    db.execute("SET lane_budget = '0.001 ms'; SET queue_limit = '0.001 kB'")
    db.execute(SCRIPT)
    feed(db, 2)
    seen = []
    for at in range(12):
        db.wait_idle()
        db.insert("s", [(10_000 + at, 1)])
        seen.append(db.progress()["intake"]["rows"])
    assert seen[0] >= 1024
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]
    db.execute("SET queue_limit = none")
    db.insert("s", [(20_000, 1)])
    assert db.progress()["intake"]["rows"] is None

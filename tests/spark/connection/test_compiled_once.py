"""A query is parsed, bound, optimised and lowered once, however many others and lane hosts run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock import session as sessions
from penstock.pipeline import query_groups
from penstock.planner import optimizing

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from penstock.connection.connection import Connection

STREAM = "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)"
QUERY = "CREATE QUERY {} AS SELECT k, SUM(v) AS n FROM s [RANGE 9] WHERE v > {} GROUP BY k"


def counted(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, what: str, counts: Counter[str]
) -> None:
    real: Callable[..., object] = getattr(owner, name)

    def counting(*args: object, **named: object) -> object:
        counts[what] += 1
        return real(*args, **named)

    monkeypatch.setattr(owner, name, counting)


def test_each_stage_runs_once(
    connect: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    db = connect(lanes=4)
    db.execute(STREAM)
    for number in range(3):
        db.execute(QUERY.format(f"q{number}", number))
    counts: Counter[str] = Counter()
    counted(monkeypatch, sessions, "parse_script", "parsed", counts)
    counted(monkeypatch, sessions, "bind_query", "bound", counts)
    counted(monkeypatch, optimizing, "Shared", "optimised", counts)
    counted(monkeypatch, query_groups, "lowered", "lowered", counts)
    db.execute(QUERY.format("last", 7))
    assert counts == {"parsed": 1, "bound": 1, "optimised": 1, "lowered": 1}
    db.insert("s", pa.table({"ts": range(30), "k": [n % 3 for n in range(30)], "v": range(30)}))
    db.wait_idle()
    assert counts == {"parsed": 1, "bound": 1, "optimised": 1, "lowered": 1}
    assert db["last"].snapshot().num_rows == 3
    db.execute("DROP QUERY q1")
    assert counts == {"parsed": 2, "bound": 1, "optimised": 1, "lowered": 1}

"""More text than an Arrow array can hold: results are cut into blocks, steps into smaller ones."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.errors import DataError, InternalError
from penstock.runtime.local_run import LocalRun
from penstock.session import Session
from penstock.state import arrays

if TYPE_CHECKING:
    from penstock.operators.block import Block

HORIZON = 45
QUERIES = [
    "SELECT x FROM s [RANGE 10]",
    "SELECT a.x, b.x AS y FROM s [RANGE 9] a, s [RANGE 9] b WHERE a.k = b.k",
    "SELECT a.x, b.x AS y FROM s [RANGE 9] a, s [ROWS 3] b WHERE a.k = b.k AND a.x < b.x",
    "SELECT x, COUNT(*) AS n FROM s [RANGE 10] GROUP BY x",
    "SELECT k, MAX(x) AS m, MIN(x) AS l FROM s [RANGE 10] GROUP BY k",
    "SELECT MAX(x) AS m, COUNT(*) AS n FROM s [RANGE 10 SLIDE 4]",
    "SELECT DISTINCT x FROM s [RANGE 10]",
    "SELECT x FROM s [RANGE 9] EXCEPT ALL SELECT x FROM s [RANGE 3]",
    "SELECT x FROM s [RANGE 9] INTERSECT ALL SELECT x FROM s [RANGE 3]",
    "SELECT x FROM s [PARTITION BY k ROWS 2]",
    "SELECT x FROM s [RANGE 9] WHERE NOT EXISTS (SELECT 1 FROM s [RANGE 3] t WHERE t.k = s.k)",
    "SELECT s.x, r.x AS y FROM s [RANGE 9], r WHERE s.k = r.k",
    "ISTREAM(SELECT x FROM s [RANGE 9])",
    "RSTREAM(SELECT x FROM s [RANGE 9 SLIDE 5])",
    "SELECT x FROM s [RANGE 9] EMIT FINAL",
]


def running(text: str) -> LocalRun:
    session = Session()
    session.execute("CREATE STREAM s (ts BIGINT, k BIGINT, x STRING, WATERMARK FOR ts AS ts)")
    session.execute("CREATE RELATION r (k BIGINT, x STRING)")
    return LocalRun({"q": session.bind(text).plan})


def rows() -> list[tuple[int, int, str]]:
    random = Random(7)
    return [(ts, random.randrange(3), random.choice("abc") * 1000) for ts in range(30)]


def fed(text: str) -> list[Block]:
    query = running(text)
    tables = {"s": pa.table(dict(zip(("ts", "k", "x"), zip(*rows(), strict=True), strict=True)))}
    if "r" in query.graph.relations:
        relation = {"k": [0, 0, 1, 2], "x": [one * 500 for one in "uvwx"], "_sign": [1] * 4}
        tables["r"] = pa.table(relation)
    results = query.feed(tables)
    results.extend(query.finish())
    return results.blocks["q"]


def contents(blocks: list[Block]) -> list[Counter[tuple[object, ...]]]:
    """What the blocks say of every instant."""
    found: list[Counter[tuple[object, ...]]] = [Counter() for _ in range(HORIZON)]
    for block in blocks:
        values = list(zip(*(column.to_pylist() for column in block.columns), strict=True))
        for row, ts, te, sign in zip(values, block.ts, block.te, block.signs, strict=True):
            for instant in range(max(int(ts), 0), min(int(te), HORIZON)):
                found[instant][row] += int(sign)
    return found


@pytest.mark.parametrize("text", QUERIES)
def test_results_are_the_same_however_little_text_an_array_holds(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fed(text)
    most = 6000
    monkeypatch.setattr(arrays, "MOST_TEXT", most)
    cut = fed(text)
    assert contents(cut) == contents(whole)
    assert any(contents(cut))
    columns = [column for block in cut for column in block.columns if arrays.is_text(column.type)]
    assert max(map(arrays.text_bytes, columns)) <= most


def test_texts_that_come_at_one_instant_cannot_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MOST_TEXT", 10_000)
    query = running("SELECT x, COUNT(*) AS n FROM s [RANGE 10] GROUP BY x")
    few = pa.table({"ts": [1, 1], "k": [1, 2], "x": ["a" * 4000, "b" * 4000]})
    query.feed({"s": few})
    many = pa.table({"ts": [5] * 9, "k": [1] * 9, "x": [one * 4000 for one in "abcdefghi"]})
    query.feed({"s": many})
    with pytest.raises(DataError, match="bytes of text meet in one column at one instant; 10000"):
        query.finish()
    with pytest.raises(InternalError, match="failed before and cannot go on: DataError"):
        query.finish()
    with pytest.raises(InternalError, match="failed before"):
        query.save()


def test_an_array_refuses_more_text_than_it_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MOST_TEXT", 5)
    assert arrays.joined([pa.array(["ab", "c"]), pa.array(["de"])]).to_pylist() == ["ab", "c", "de"]
    with pytest.raises(DataError, match="6 bytes of text"):
        arrays.joined([pa.array(["ab", "c"]), pa.array(["def"])])
    with pytest.raises(DataError, match="7 bytes of text"):
        arrays.check_text(7)

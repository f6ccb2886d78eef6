"""Damaged, missing and foreign files of a home: a sentence that names the file, or no harm at all.

Lanes are driven without Spark here, so that many kinds of damage can be tried.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.errors import DataError
from penstock.pipeline.ledger import Ledger
from penstock.store.bundles import Bundle
from penstock.store.layout import Home
from penstock.store.records import FORMAT
from penstock.store.result_files import result_blocks
from penstock.testing.inline import rows_of
from store.driving import Driver

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.reference.timeline import Row

STATEMENTS = (
    "CREATE STREAM s (ts BIGINT, k INT, v BIGINT, WATERMARK FOR ts AS ts - 3)",
    "CREATE RELATION r (k INT, name STRING)",
    "CREATE QUERY sums AS SELECT k, SUM(v) AS total FROM s [RANGE 30] GROUP BY k",
    "CREATE QUERY named AS SELECT s.v, r.name FROM s [RANGE 30], r WHERE s.k = r.k",
    "CREATE QUERY pairs AS SELECT COUNT(*) AS n FROM s [RANGE 25], r WHERE s.k = r.k",
)
QUERIES = ("sums", "named", "pairs")
RELATION = pa.table(
    {
        "k": pa.array([0, 1, 2], pa.int32()),
        "name": ["zero", "one", "two"],
        "_sign": pa.array([1, 1, 1], pa.int8()),
    }
)


def rows(batch: int) -> dict[str, list[dict[str, object]]]:
    return {"s": [{"ts": batch * 5 + n % 7, "k": n % 3, "v": n * n} for n in range(12)]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose lanes are made from an image and two logs."""
    path = tmp_path / "home"
    with Driver(path, STATEMENTS, QUERIES, lanes=2, least_log=0) as driver:
        driver.ledger.change_relation("r", RELATION)
        driver.batch(rows(0))
    with Driver(path) as driver:
        driver.batch(rows(1))
        driver.batch(rows(2))
        states = driver.ledger.record.lanes.values()
        assert all(one.image and len(one.logs) == 2 for one in states)
    return path


def answer(home: Path) -> list[tuple[str, Row, int, int]]:
    """What comes of one more batch and the end, and all results so far, after a restart."""
    with Driver(home) as driver:
        driver.batch(rows(3))
        driver.flush()
    return committed(home)


def answer_or_refusal(home: Path) -> list[tuple[str, Row, int, int]] | str:
    """What comes of one more batch and the end; if a file is refused, in which words."""
    try:
        return answer(home)
    except DataError as error:
        return str(error)


def committed(home: Path) -> list[tuple[str, Row, int, int]]:
    """All elements that records name."""
    reopened = Home(home)
    return sorted(
        (query, row, int(ts), int(te) * int(sign))
        for record in reopened.chain.since(0)
        for query in QUERIES
        for block in result_blocks(reopened, record, query)
        for row, ts, te, sign in zip(rows_of(block), block.ts, block.te, block.signs, strict=True)
    )


def newest(home: Path, kind: str) -> Path:
    """The newest file of a kind that the last record needs."""
    record = Home(home).chain.last()
    assert record is not None
    names = {
        "log": [log for one in record.lanes.values() for log in one.logs],
        "image": [one.image for one in record.lanes.values() if one.image],
        "results": list(record.results),
        "relation": [one for known in record.relations.values() for one in known.changes],
    }[kind]
    return home / "segments" / max(names)


def cut_off(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def overwrite(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def delete(path: Path) -> None:
    path.unlink()


DAMAGES = [cut_off, empty, shorten, overwrite, delete]


@pytest.mark.parametrize("kind", ["log", "image", "results"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_segment_is_refused_by_name(
    home: Path, kind: str, damage: Callable[[Path], None]
) -> None:
    path = newest(home, kind)
    damage(path)
    with pytest.raises(DataError, match=path.name):
        answer(home)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_relation_is_refused_by_name(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    with Driver(tmp_path / "home", STATEMENTS, QUERIES) as driver:
        driver.ledger.change_relation("r", RELATION)
        path = newest(driver.home.path, "relation")
        damage(path)
        with pytest.raises(DataError, match=path.name):
            driver.batch(rows(0))


@pytest.mark.parametrize("kind", ["log", "image", "results"])
def test_flipped_bits_never_change_an_answer(home: Path, tmp_path: Path, kind: str) -> None:
    shutil.copytree(home, tmp_path / "whole")
    expected = answer(tmp_path / "whole")
    name = newest(home, kind).name
    content = (home / "segments" / name).read_bytes()
    refused = 0
    step = max(1, len(content) // 60)
    for position in [*range(0, len(content), step), *range(len(content) - 16, len(content))]:
        copy = tmp_path / f"flipped {position}"
        shutil.copytree(home, copy)
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        (copy / "segments" / name).write_bytes(damaged)
        found = answer_or_refusal(copy)
        if isinstance(found, str):
            assert name in found
            refused += 1
        else:
            assert found == expected, f"byte {position} of {len(content)}"
        shutil.rmtree(copy)
    # Some bytes only fill gaps. Most do not.
    assert refused > 30


def test_digits_about_a_log_are_protected(home: Path, tmp_path: Path) -> None:
    """What a log says of itself matters as much as its rows: a watermark decides what is late."""
    path = newest(home, "log")
    watermark = str(Bundle(path).about["watermarks"]["s"])
    content = path.read_bytes()
    at = content.rindex(f'"s": {watermark}'.encode()) + len('"s": ')
    path.write_bytes(content[:at] + b"9" + content[at + 1 :])
    with pytest.raises(DataError, match=path.name):
        answer(home)


def last_record(home: Path) -> Path:
    return max((home / "records").glob("[0-9]*.json"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"17",
        json.dumps({"format": FORMAT}).encode(),
        json.dumps({"format": FORMAT, "number": 5, "x": 1}).encode(),
    ],
    ids=["empty", "cut off", "list", "number", "format only", "other fields"],
)
def test_a_damaged_record_is_refused_by_name(home: Path, content: bytes) -> None:
    path = last_record(home)
    path.write_bytes(content)
    with pytest.raises(DataError, match=path.name):
        Ledger(Home(home))


def test_a_changed_digit_in_a_record_is_noticed(home: Path) -> None:
    path = last_record(home)
    watermark = Home(home).chain.read(int(path.stem)).streams["s"].watermark
    before = f'"watermark": {watermark}'.encode()
    content = path.read_bytes()
    assert content.count(before) == 1
    path.write_bytes(content.replace(before, f'"watermark": {watermark + 1}'.encode()))
    with pytest.raises(DataError, match=path.name):
        Ledger(Home(home))


def test_a_record_of_another_format_is_refused(home: Path) -> None:
    path = last_record(home)
    values = json.loads(path.read_bytes())
    values["format"] += 1
    path.write_text(json.dumps(values), "utf-8")
    with pytest.raises(DataError, match="has format"):
        Ledger(Home(home))


@pytest.mark.parametrize("damage", [cut_off, empty, delete])
def test_a_damaged_plan_is_refused_by_name(home: Path, damage: Callable[[Path], None]) -> None:
    record = Home(home).chain.last()
    assert record is not None
    damage(home / "plans" / record.plan)
    with pytest.raises(DataError, match=record.plan):
        Ledger(Home(home))


def test_orphans_do_no_harm(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "whole")
    expected = answer(tmp_path / "whole")
    for name in ("000000000004.0.aaaaaaaaaaaa.log", "000000000009.1.bbbbbbbbbbbb.results"):
        (home / "segments" / name).write_bytes(b"torn")
    (home / "records" / ".000000000005.json.0123").write_bytes(b'{"form')
    (home / "segments" / "000000000004.0.aaaaaaaaaaaa.log").unlink()
    assert answer(home) == expected


def test_a_lane_whose_work_was_cut_short_is_not_fed_twice(tmp_path: Path) -> None:
    """One lane of a task is fed, the next one fails; the task is tried again."""
    found = []
    for name in ("untroubled", "troubled"):
        # Only the second of the two, which is in a group of its own, reads the relation.
        with Driver(tmp_path / name, STATEMENTS, ["sums", "pairs"]) as driver:
            driver.ledger.change_relation("r", RELATION)
            if name == "troubled":
                path = newest(driver.home.path, "relation")
                content = path.read_bytes()
                path.write_bytes(b"")
                with pytest.raises(DataError):
                    driver.batch(rows(0))
                path.write_bytes(content)
            driver.batch(rows(0))
            driver.flush()
        found.append(committed(tmp_path / name))
    assert found[0] == found[1]

"""How far sources have been read: as Spark writes it down, in the records, and in the status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.catalog.definitions import StreamDefinition
from penstock.observe.observation import Observer
from penstock.session import Session
from penstock.spark.offsets import read_offsets
from penstock.store.layout import Home
from spark.test_folders import declare, put

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.observe.facts import SourceFacts

QUERY = "CREATE QUERY {name} AS SELECT k, COUNT(*) AS n FROM {name}s [UNBOUNDED] GROUP BY k;"
ABOUT = '{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{"a:b":"c"},"sourceMetadataInfo":{}}'


@pytest.fixture
def streams() -> list[StreamDefinition]:
    session = Session()
    for name in ("cars", "`a b`", "ticks", "silent"):
        session.execute(f"CREATE STREAM {name} (ts BIGINT, WATERMARK FOR ts AS ts);")
    return [one for one in session.catalog if isinstance(one, StreamDefinition)]


def written(home: Home, text: str) -> None:
    folder = home.checkpoint / "offsets"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "7").write_text(text, "utf-8")


def test_offsets_are_read_by_the_names_of_streams(
    tmp_path: Path, streams: list[StreamDefinition]
) -> None:
    home = Home(tmp_path)
    topic = '{"a:b":{"0":12,"1":9}}'
    written(home, f'v2\n{ABOUT}\ncars:{{"logOffset":5}}\nsilent:-\na_20_b:{topic}\nticks:13')
    assert read_offsets(home, 7, streams) == {
        "cars": {"logOffset": 5},
        "a b": {"a:b": {"0": 12, "1": 9}},
        "ticks": 13,
    }


@pytest.mark.parametrize(
    "text",
    ["", "v1\n{}\n5", f"v3\n{ABOUT}\ncars:1", f"v2\n{ABOUT}", "v2\nrubbish\n\ncars\nticks:{"],
)
def test_what_cannot_be_understood_is_left_out(
    tmp_path: Path, streams: list[StreamDefinition], text: str
) -> None:
    home = Home(tmp_path)
    written(home, text)
    assert read_offsets(home, 7, streams) == {}
    assert read_offsets(home, 8, streams) == {}, "there is no such file"
    (home.checkpoint / "offsets" / "7").write_bytes(b"v2\n\xff\ncars:1")
    assert read_offsets(home, 7, streams) == {}


def sources(folder: Path) -> dict[str, SourceFacts]:
    return {one.stream: one for one in Observer(Home(folder)).look().sources}


def checkpointed(folder: Path) -> dict[str, Any]:
    """The offsets of Spark's newest micro-batch, in its own file."""
    newest = max((folder / "checkpoint" / "offsets").glob("[0-9]*"), key=lambda one: int(one.name))
    lines = newest.read_text("utf-8").splitlines()[2:]
    return {name: json.loads(offset) for name, _, offset in (one.partition(":") for one in lines)}


def test_one_batch_over_csv_is_told_when_it_has_ended(tmp_path: Path) -> None:
    put(tmp_path / "csv", 1, 1, 2)
    with penstock.connect("local[2,4]", tmp_path / "home", 2) as db:
        by_spark = declare("cs", tmp_path / "csv").replace("');", "', reader 'spark');")
        db.execute(by_spark + QUERY.format(name="c"))
        db.finish()
    assert {name: one.offset for name, one in sources(tmp_path / "home").items()} == {
        "cs": {"logOffset": 0}
    }


def test_offsets_keep_up_while_it_runs_and_when_it_is_stopped_and_opened_again(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    statements = (
        declare("cs", tmp_path / "csv").replace(
            "');", "', maxFilesPerTrigger '1', reader 'spark');"
        )
        + declare("ps", tmp_path / "parquet").replace("');", "', maxFilesPerTrigger '1');")
        + "CREATE STREAM bs (ts BIGINT, k BIGINT, WATERMARK FOR ts AS ts);"
        + "".join(QUERY.format(name=name) for name in "cpb")
    )

    def check(csv: int, parquet: int, brought: int) -> None:
        found = sources(home)
        assert checkpointed(home) == {"cs": {"logOffset": csv - 1}}
        assert found["cs"].offset == {"logOffset": csv - 1}
        assert (found["ps"].files_read, found["ps"].files_waiting) == (parquet, 0)
        assert (found["bs"].files_read, found["bs"].files_waiting) == (brought, 0)

    for number in range(4):
        put(tmp_path / "csv", number, 1)
        put(tmp_path / "parquet", number, 1)
    with penstock.connect("local[2,4]", home, 2) as db:
        db.execute(statements)
        for at in range(3):
            db.insert("bs", [(at, 1)])
        db.wait_idle()
        check(4, 4, 3)
    check(4, 4, 3)
    put(tmp_path / "csv", 4, 1)
    with penstock.connect("local[2,4]", home, 2) as db:
        db.insert("bs", [(9, 1)])
        db.wait_idle()
        check(5, 4, 4)
        put(tmp_path / "parquet", 4, 1)
        db.wait_idle()
    check(5, 5, 4)

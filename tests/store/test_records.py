"""The chain of records: published once, never changed, damage noticed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError
from penstock.store.layout import Home
from penstock.store.records import (
    FORMAT,
    FilesRead,
    FoldedContent,
    LaneState,
    Record,
    RejectedFile,
    RelationProgress,
    StreamProgress,
    decoded,
    encoded,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FULL = Record(
    3,
    "batch",
    "p",
    {"s": StreamProgress(1, 2, 3, 4, 5, 6)},
    {"s": FilesRead(("f",), ("d", "e"), 9)},
    {"0.0": LaneState("image", 9, ("a", "b"), 7)},
    {"r": RelationProgress(("c",), 5)},
    {"0": {"r": ["c"]}},
    ("x", "y"),
    FoldedContent("z", 2, 8),
    (RejectedFile("v", 3),),
    {"q": 11},
    {},
    {"q": {"/": 2}},
    {"q": 4},
    ("id", 6),
    {"t": {"topic": {"0": 12}}},
    1.5,
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    made.open()
    yield made
    made.close()


def test_a_record_comes_back_as_it_was() -> None:
    assert decoded(encoded(FULL)) == FULL


def test_records_follow_each_other(home: Home) -> None:
    chain = home.chain
    assert chain.last() is None
    first = Record(0, "start", "p")
    chain.publish(first)
    second = first.next("change", clocks={"q": 5})
    chain.publish(second)
    assert chain.last() == second
    assert [one.number for one in chain.since(0)] == [0, 1]
    assert [one.number for one in chain.since(1)] == [1]


def test_a_number_is_given_once(home: Home) -> None:
    home.chain.publish(Record(0, "start", "p"))
    with pytest.raises(DataError, match="another pipeline uses this home"):
        home.chain.publish(Record(0, "start", "other"))
    last = home.chain.last()
    assert last is not None
    assert last.plan == "p"


def test_after_the_end_of_the_input_the_clocks_are_those_before() -> None:
    before = Record(0, "batch", "p", clocks={"q": 5})
    end = before.next("flush", clocks={"q": 99}, resumed=before.open_clocks)
    assert end.next("change").clocks == {"q": 5}
    assert end.next("flush", clocks={"q": 99}, resumed=end.open_clocks).resumed == {"q": 5}


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-20],
        lambda text: text.replace('"latest": 2', '"latest": 3'),
        lambda text: "[]",
        lambda text: text.replace("streams", "screams"),
        lambda text: "",
    ],
)
def test_a_damaged_record_is_refused_by_name(home: Home, damage: object) -> None:
    home.chain.publish(FULL)
    path = home.path / "records" / "000000000003.json"
    assert callable(damage)
    path.write_text(damage(path.read_text()))
    with pytest.raises(DataError, match=r"000000000003\.json cannot be read"):
        home.chain.last()


@pytest.mark.parametrize("version", [*range(1, FORMAT), FORMAT + 1])
def test_another_format_is_refused_with_a_sentence(home: Home, version: int) -> None:
    home.chain.publish(FULL)
    path = home.path / "records" / "000000000003.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": version}))
    said = f"the home has format {version}, this version of Penstock reads format {FORMAT}"
    with pytest.raises(DataError, match=said):
        home.chain.last()


def test_a_home_belongs_to_one_process(home: Home) -> None:
    other = Home(home.path)
    with pytest.raises(DataError, match="another pipeline uses the home"):
        other.open()
    home.close()
    other.open()
    other.close()


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be used"):
        Home(tmp_path / "file").open()

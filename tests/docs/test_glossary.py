"""The glossary: sorted, each word once, and what it names is where it says."""

from __future__ import annotations

import ast
import re

import pytest

from docs.pages import ROOT

PAGE = ROOT / "docs" / "contributors" / "glossary.md"
ROW = re.compile(
    r"^\| (?P<word>[^|]+) \| (?P<meaning>[^|]+) \| (?P<source>`[^|]+`) \|$", re.MULTILINE
)
SOURCE = re.compile(r"(?:`(?P<name>\w+)` in )?`(?P<path>src/[\w/]+\.py)`")
ROWS = [one.groupdict() for one in ROW.finditer(PAGE.read_text("utf-8"))]


def test_the_glossary_is_read_whole() -> None:
    lines = [one for one in PAGE.read_text("utf-8").splitlines() if one.startswith("| ")]
    assert len(ROWS) == len(lines) - 1


def test_words_are_sorted_and_stand_there_once() -> None:
    words = [one["word"] for one in ROWS]
    assert words == sorted(set(words))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["word"])
def test_a_word_is_defined_where_the_glossary_says(row: dict[str, str]) -> None:
    source = SOURCE.fullmatch(row["source"])
    assert source is not None
    tree = ast.parse((ROOT / source["path"]).read_text("utf-8"))
    names = {one.name for one in tree.body if isinstance(one, ast.ClassDef)}
    assert source["name"] is None or source["name"] in names

"""The index of docs/contributors/decisions.md is its headings; one decision is short to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docs.pages import HOW_TO_UPDATE, ROOT, UPDATE, anchor, prose

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "contributors" / "decisions.md"
INDEX = re.compile(r"(?<=^## Index\n\n).*?(?=\n\n## )", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(##|###) (?!Index$)(.+)$", re.MULTILINE)


def index() -> Iterator[str]:
    """A line for each chapter and, below it, each decision."""
    for level, title in HEADING.findall(prose(PAGE)):
        yield f"{'' if level == '##' else '  '}- [{title}](#{anchor(title)})"


def test_the_index_is_the_headings() -> None:
    text = PAGE.read_text("utf-8")
    real = INDEX.sub(lambda _: "\n".join(index()), text)
    if UPDATE and text != real:
        PAGE.write_text(real, "utf-8")
    else:
        assert text == real, HOW_TO_UPDATE


def test_each_decision_has_a_heading_of_its_own() -> None:
    titles = [title for _, title in HEADING.findall(prose(PAGE))]
    assert sorted(set(titles)) == sorted(titles)
    bold = re.findall(r"^(?:- )?\*\*(.+?)\*\*", prose(PAGE), re.MULTILINE)
    assert bold == [], "write them as headings, ### ..."

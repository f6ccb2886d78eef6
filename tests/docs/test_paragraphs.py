"""A page is read in paragraphs, none of which is a wall."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from docs.pages import PAGES, ROOT, prose

if TYPE_CHECKING:
    from pathlib import Path

LONGEST = 900
"""Characters of a paragraph, or of an entry of a list: more is a wall."""
NO_PROSE = ("|", "#")
INDEX = re.compile(r"^## Index\n.*?(?=^## )", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_paragraph_is_a_wall(page: Path) -> None:
    text = INDEX.sub("", prose(page))
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:- |\d+\. ))", text)
    walls = [one for one in paragraphs if len(one) > LONGEST and not one.startswith(NO_PROSE)]
    assert [one[:60] for one in walls] == []

"""The pages of the documentation, the fenced blocks in them, and writing those anew.

How to add an example: write it in a page, inside a fence whose kind says how it is run, with its
output left out or wrong, then `UPDATE_DOCS=1 ./test tests/docs` and read what was filled in.

| fence | what happens |
|---|---|
| console, sh | lines after `$ ` (continued after `> `) are run; the others are their output |
| stream | all such blocks of a `##` section, one under the other, are one stream test |
| timeline | the answer of the case above it, drawn: `tests/docs/test_timelines.py` |
| cql | all such blocks of a `##` section are executed in one session |
| python | the `>>>` examples of a page are one doctest |
| text | shown only: time lines, trees, shapes |

What commands write to `/tmp` goes to a folder of the run, so that two runs do not meet there.
"""

from __future__ import annotations

import difflib
import fcntl
import os
import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
UPDATE = os.environ.get("UPDATE_DOCS", "") not in ("", "0")
HOW_TO_UPDATE = "the page is not true (- shown, + real): UPDATE_DOCS=1 ./test tests/docs mends it"
KINDS = ("console", "sh", "stream", "timeline", "cql", "python", "text")


@dataclass(frozen=True)
class Fence:
    """A fenced block: the number of its place on the page, its kind, and where its lines stand.

    `first` is the line below the opening fence, counted from one.
    """

    page: Path
    place: int
    kind: str
    section: str
    first: int
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.first}"

    @property
    def last(self) -> int:
        """The last line of the body."""
        return self.first + len(self.lines) - 1


def fences(page: Path) -> Iterator[Fence]:
    """The fenced blocks of a page, in order."""
    kind, section, first, body = "", "", 0, list[str]()
    inside, place = False, 0
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        if line.startswith("```"):
            if inside:
                yield Fence(page, place, kind, section, first, tuple(body))
                place += 1
            inside, kind, first, body = not inside, line[3:].strip(), number + 1, []
        elif inside:
            body.append(line)
        elif line.startswith("## "):
            section = line[3:]


def fences_of(*kinds: str) -> list[Fence]:
    """The blocks of some kinds on all pages."""
    return [fence for page in PAGES for fence in fences(page) if fence.kind in kinds]


def sections_of(kind: str) -> list[tuple[Fence, ...]]:
    """The blocks of a kind, those of one section together."""
    found = groupby(fences_of(kind), key=lambda fence: (fence.page, fence.section))
    return [tuple(group) for _, group in found]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    text = page.read_text("utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchor(heading: str) -> str:
    """The name under which GitHub and others link to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def rewrite(page: Path, bodies: Mapping[int, Sequence[str]]) -> None:
    """Give some blocks of a page, named by their places, other lines."""
    # Test processes rewrite blocks of one page at the same time, and others read it meanwhile.
    folder = os.open(page.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        lines = page.read_text("utf-8").splitlines()
        for fence in reversed(list(fences(page))):
            if fence.place in bodies:
                lines[fence.first - 1 : fence.last] = bodies[fence.place]
        draft = page.with_suffix(".draft")
        draft.write_text("\n".join([*lines, ""]), "utf-8")
        draft.replace(page)
    finally:
        os.close(folder)


def settle(page: Path, shown: Mapping[int, Sequence[str]], real: Mapping[int, list[str]]) -> None:
    """Compare what blocks of a page show with what is real, or make them show it."""
    if UPDATE and any(list(shown[place]) != lines for place, lines in real.items()):
        rewrite(page, real)
    for place, lines in real.items():
        diff = "\n".join(difflib.ndiff(list(shown[place]), lines))
        assert UPDATE or list(shown[place]) == lines, f"{HOW_TO_UPDATE}\n{diff}"

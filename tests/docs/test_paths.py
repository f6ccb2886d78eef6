"""The documentation names only files, headings and folders that exist, and the map is whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from docs.pages import KINDS, PAGES, ROOT, anchor, fences, prose

if TYPE_CHECKING:
    from pathlib import Path

MAP = ROOT / "docs" / "contributors" / "map.md"
IGNORED = {line.strip("/\n") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()}
PATH = re.compile(r"`((?:src|docs|tests|examples|bin)/[\w/.-]*|\./(?:penstock|test)\b|[\w.]+\.md)")
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    return set(map(anchor, re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_in_backquotes_exist(page: Path) -> None:
    named = PATH.findall(prose(page))
    folders = (ROOT, page.parent)
    missing = [path for path in named if not any((one / path).exists() for one in folders)]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_fence_has_a_kind_that_says_how_it_is_checked(page: Path) -> None:
    unknown = [f"{fence} is {fence.kind!r}" for fence in fences(page) if fence.kind not in KINDS]
    assert unknown == [], f"kinds: {', '.join(KINDS)}; see tests/docs/pages.py"


def test_the_index_of_the_pages_leads_to_each() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link).resolve() for link in LINK.findall(prose(index))}
    assert [
        page
        for page in PAGES
        if ROOT / "docs" in page.parents and page != index and page not in linked
    ] == []


def test_the_map_shows_every_folder() -> None:
    assert mapped() == real()


def mapped() -> set[str]:
    """The folders of the map: lines such as `  cql/   text to syntax tree`, nested by indents."""
    (tree,) = fences(MAP)
    found: set[str] = set()
    parents: list[tuple[int, str]] = []
    for line in tree.lines:
        if entry := re.match(r"( *)([\w./-]+)/(?:  |$)", line):
            indent, name = len(entry[1]), entry[2]
            while parents and parents[-1][0] >= indent:
                parents.pop()
            path = f"{parents[-1][1]}/{name}" if parents else name
            parents.append((indent, path))
            found.add(path)
    return found


def real() -> set[str]:
    """The folders at the top, the packages, and the folders of ours and of the tests."""
    found: set[str] = set()
    for parent in (ROOT, ROOT / "src", ROOT / "src" / "penstock", ROOT / "tests"):
        found |= {str(folder.relative_to(ROOT)) for folder in parent.iterdir() if is_part(folder)}
    return found - {"src"}


def is_part(folder: Path) -> bool:
    """Whether a folder belongs to the project: has files that are not left behind by tools."""
    if not folder.is_dir() or folder.name.startswith(".") or folder.name in IGNORED:
        return False
    return any(path.is_file() and "__pycache__" not in path.parts for path in folder.rglob("*"))

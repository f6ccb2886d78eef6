"""Stream tests and statements shown in the documentation hold.

The blocks of a section become one file whose lines stand where they stand on the page, so that
a failure names the line to look at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from docs.pages import ROOT, UPDATE, Fence, rewrite, sections_of
from penstock.cli.test import failure_text
from penstock.session import Session
from penstock.testing.engines import engine_called
from penstock.testing.format import parse_test
from penstock.testing.runner import run_case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.testing.blocks import TextBlock

Section = tuple[Fence, ...]


def name_of(section: Section) -> str:
    return f"{section[0]} {section[0].section}"


def text_of(section: Section) -> str:
    """The blocks in their places on the page, and empty lines between them."""
    lines = [""] * (section[-1].last + 1)
    for fence in section:
        lines[fence.first - 1 : fence.last] = fence.lines
    return "\n".join(lines)


def replaced(fence: Fence, blocks: Mapping[TextBlock, Sequence[str]]) -> list[str]:
    """A fence's lines with some of the stream test's blocks written anew."""
    lines = list(fence.lines)
    mine = [block for block in blocks if fence.first <= block.first <= fence.last]
    for block in sorted(mine, key=lambda block: block.first, reverse=True):
        lines[block.first - fence.first : block.last - fence.first + 1] = blocks[block]
    return lines


@pytest.mark.parametrize("section", sections_of("stream"), ids=name_of)
def test_examples_hold(section: Section) -> None:
    page = section[0].page
    test = parse_test(text_of(section), str(page.relative_to(ROOT)))
    failed = [
        verdict
        for case in test.cases
        if not (verdict := run_case(case, engine_called("oracle"))).passed
    ]
    blocks = {block: lines for one in failed for block, lines in one.replacements.items()}
    if UPDATE and all(verdict.replacements for verdict in failed):
        rewrite(page, {fence.place: replaced(fence, blocks) for fence in section})
    else:
        assert not failed, "\n" + "\n".join(map(failure_text, failed))


@pytest.mark.parametrize("section", sections_of("cql"), ids=name_of)
def test_statements_are_accepted(section: Section) -> None:
    Session().execute(text_of(section), str(section[0].page.relative_to(ROOT)))

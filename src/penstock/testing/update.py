"""Accepting what an engine computed: expectation blocks of a file written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.testing.format import with_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.testing.blocks import TextBlock
    from penstock.testing.collect import TestFile
    from penstock.testing.runner import Verdict


def update(file: TestFile, verdicts: Iterable[Verdict]) -> list[str]:
    """Rewrite the blocks of a stream test that failed and can be mended; say which.

    Nothing else in the file changes, and a file without such blocks is not written. Cases as
    JSON lines are never rewritten: others wrote down what is right there.
    """
    if file.stream_test is None:
        return []
    replacements: dict[TextBlock, tuple[str, ...]] = {}
    notes = []
    for verdict in verdicts:
        replacements |= verdict.replacements
        notes += [
            f"{file.path}:{block.first}: {block.kind} rewritten in: {verdict.title}"
            for block in verdict.replacements
        ]
    if replacements:
        file.path.write_text(with_blocks(file.stream_test.source, replacements), "utf-8")
    return notes

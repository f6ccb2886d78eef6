"""Trials of joins of many windows: random rows of streams that are alike, and what judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_fuzz.check import check
from penstock_fuzz.inline import InlineContender
from penstock_fuzz.trial import FileProgram, StreamInput, Trial

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

COLUMNS = "(ts BIGINT, k INT, v INT, s STRING, WATERMARK FOR ts AS ts)"


def declared(names: Sequence[str]) -> str:
    """Streams that are alike."""
    return "".join(f"CREATE STREAM {name} {COLUMNS};\n" for name in names)


def some_trial(
    draw: random.Random,
    names: Sequence[str],
    query: str,
    *,
    rows: int = 40,
    feeds: int = 3,
    lanes: int = 1,
    joins: str = "multiway",
) -> Trial:
    """Random rows, in the order of time, cut into feeds; some keys and values are NULL."""
    streams = {}
    for name in names:
        times = sorted(draw.randrange(rows) for _ in range(rows))
        found = tuple((ts, _some(draw, 3), _some(draw, 9), str(draw.randrange(20))) for ts in times)
        cuts = tuple(sorted(draw.randrange(feeds) for _ in times))
        streams[name] = StreamInput(found, cuts, slack=0)
    program = FileProgram(declared(names), query)
    return Trial(program, streams, {}, feeds, lanes, joins=joins)


def _some(draw: random.Random, most: int) -> int | None:
    return None if draw.random() < 0.1 else draw.randrange(most)


def judged(trial: Trial) -> None:
    """The engine answers as the reference evaluator does."""
    found = check(trial, InlineContender())
    assert found is None, found.text

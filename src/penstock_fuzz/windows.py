"""Random windows as CQL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock_fuzz.text import NOTHING, Text, optional, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_fuzz.draw import Draw
    from penstock_fuzz.schemas import Clock


@dataclass(frozen=True)
class Style:
    """The common part of all windows of a query.

    Args:
        slide: The SLIDE, in steps, that makes the query periodic; None leaves it open.
        rows_slide: The one window of the query is a ROWS SLIDE, which makes it periodic too.
        internal: The windows are INTERNAL, so nothing may withdraw results.
        timed: The windows hold rows for a length of time, so that what is before is forgotten.
        hopping: The windows are [start, end), each with a result of its own.
    """

    slide: int | None = None
    rows_slide: bool = False
    internal: bool = False
    timed: bool = False
    hopping: bool = False

    @property
    def below(self) -> Style:
        """The part that windows of other queries that are read have in common with these."""
        return Style(timed=self.timed)


ANY = Style()


def random_window(draw: Draw, clock: Clock, columns: Sequence[str], style: Style) -> Text:
    """A window in brackets over a stream with some columns to partition by."""
    internal = written("words", " INTERNAL" if style.internal else "")
    if style.rows_slide:
        window = _rows(draw, columns, slides=True)
    elif style.slide is not None:
        slide = optional(f" SLIDE {clock.length(style.slide)}")
        length = draw.count(1, 7) if draw.chance(30) else draw.count(style.slide, 9)
        window = written("spec", f"RANGE {clock.length(length)}{{}}", slide)
    elif style.hopping:
        window = _hopping(draw, clock)
        simplest = written("spec", f"TUMBLE {clock.length(5)}")
        return written("window", " [{}]", replace(window, instead=(simplest,)))
    else:
        window = _timed(draw, clock) if style.timed else _any(draw, clock, columns)
    simpler = (written("spec", "UNBOUNDED"), written("spec", f"RANGE {clock.length(5)}"))
    window = replace(window, instead=simpler)
    return written("window", " [{}{}]", window, internal)


def _any(draw: Draw, clock: Clock, columns: Sequence[str]) -> Text:
    few = draw.pick(2, 1, 3, 4, 5, 5, 7, 8, 10)
    match draw.pick("RANGE", "RANGE", "RANGE", "ROWS", "ROWS", "NOW", "UNBOUNDED", "FIXED", "LAND"):
        case "RANGE":
            if clock.step == 1 and draw.chance(2):
                # Nearly the whole of time: its end saturates to infinity.
                return written("spec", f"RANGE {2**62}")
            slide = optional(f" SLIDE {clock.length(draw.count(1, few + 1))}")
            return written("spec", f"RANGE {clock.length(few)}{{}}", _seldom(draw, slide))
        case "ROWS":
            return _rows(draw, columns, slides=draw.chance(25))
        case "FIXED":
            return written("spec", f"FIXED {clock.length(few)}")
        case "LAND":
            start = draw.count(-3, 5)
            if draw.chance(50):
                return written("spec", f"SINCE {clock.instant(start)}")
            end = clock.instant(start + 2 * few)
            return written("spec", f"BETWEEN {clock.instant(start)} AND {end}")
        case other:
            return written("spec", other)


def _hopping(draw: Draw, clock: Clock) -> Text:
    """Windows [start, end), more often than not the same in a whole query."""
    few = draw.pick(5, 5, 5, 5, 1, 2, 3, 7)
    offset = _seldom(draw, optional(f" OFFSET {clock.length(draw.count(1, 6))}"))
    if draw.chance(50):
        return written("spec", f"TUMBLE {clock.length(few)}{{}}", offset)
    step = clock.length(draw.pick(2, 2, 2, 1, 3, few + 2))
    return written("spec", f"HOP {clock.length(few)} BY {step}{{}}", offset)


def _timed(draw: Draw, clock: Clock) -> Text:
    few = draw.pick(1, 2, 3, 4, 5)
    match draw.pick("RANGE", "RANGE", "RANGE", "RANGE", "FIXED", "NOW"):
        case "RANGE":
            slide = optional(f" SLIDE {clock.length(draw.count(1, few))}")
            return written("spec", f"RANGE {clock.length(few)}{{}}", _seldom(draw, slide))
        case "FIXED":
            return written("spec", f"FIXED {clock.length(few)}")
    return written("spec", "NOW")


def _rows(draw: Draw, columns: Sequence[str], *, slides: bool) -> Text:
    partition = NOTHING
    if columns and draw.chance(50):
        partition = optional(f"PARTITION BY {', '.join(draw.some(columns, 2))} ")
    slide = optional(f" SLIDE {draw.pick(1, 2, 2, 3)}") if slides else NOTHING
    # More rows than there are, a number as large as numbers are.
    count = draw.pick(2**63 - 2, 2**63 - 1, 2**64) if draw.chance(3) else draw.count(1, 5)
    return written("spec", f"{{}}ROWS {count}{{}}", partition, slide)


def _seldom(draw: Draw, text: Text) -> Text:
    return text if draw.chance(25) else NOTHING

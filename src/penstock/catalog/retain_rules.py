"""Rules of retention: how long a stream keeps its rows, as declared or set."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from penstock.algebra.time import INFINITY, micros_of, unit_name
from penstock.errors import QueryError

if TYPE_CHECKING:
    from penstock.algebra.time import TimeUnit
    from penstock.catalog.definitions import StreamDefinition

SIZES = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40}


@dataclass(frozen=True)
class RetainRule:
    """A rule for the rows of one stream.

    Attributes:
        span: A row is kept for so many steps of its stream's time; INFINITY: for ever.
        most_bytes: Rows take up so many bytes at the most: the oldest go first. None: any.
    """

    span: int
    most_bytes: int | None = None

    @property
    def is_none(self) -> bool:
        """Nothing is kept."""
        return self.span == 0

    def text(self, unit: TimeUnit, *, is_declared: bool = True) -> str:
        """The rule as a statement writes it; of one that follows from windows only about how long.

        >>> from penstock.algebra.time import TimeUnit
        >>> RetainRule(7200, 1 << 20).text(TimeUnit.SECONDS)
        '2 HOURS, 1 MB'
        >>> RetainRule(86_400_000_002).text(TimeUnit.TIMESTAMP, is_declared=False)
        '1 DAY'
        """
        if self.is_none:
            return "NONE"
        length = unit.length if is_declared else unit.about
        parts = ["UNBOUNDED" if self.span == INFINITY else length(self.span)]
        if self.most_bytes is not None:
            parts = [*parts[self.span == INFINITY :], size_text(self.most_bytes)]
        return ", ".join(parts)


NOTHING = RetainRule(0)
"""Rows are not kept."""
EVERYTHING = RetainRule(INFINITY)
"""All rows are kept."""


def rule_of(
    stream: StreamDefinition, setting: RetainSetting | None, longest: int
) -> tuple[RetainRule, bool]:
    """The rule of a stream, and whether a declaration or a setting says it.

    Args:
        stream: The stream.
        setting: The rule of the home, if there is one.
        longest: The longest window of the stream's queries; 0: there is none.
    """
    if stream.retain is not None:
        return stream.retain, True
    if setting is not None:
        rule = setting.rule(stream.unit)
        if rule is not None:
            return rule, True
    return RetainRule(longest), False


@dataclass(frozen=True)
class RetainSetting:
    """The rule of a home for streams that declare none, whatever their unit of time.

    Attributes:
        text: As it was written.
        micros: The length of time; None if there is none.
        steps: The length as a plain number, which streams that count ticks go by.
        most_bytes: The size.
        is_none: Nothing is kept.
    """

    text: str
    micros: int | None = None
    steps: int | None = None
    most_bytes: int | None = None
    is_none: bool = False

    def rule(self, unit: TimeUnit) -> RetainRule | None:
        """The rule for a stream; None if it says nothing about streams of its unit."""
        if self.is_none:
            return NOTHING
        if self.micros is None and self.steps is None:
            return RetainRule(INFINITY, self.most_bytes)
        if self.micros is not None and unit.micros is not None:
            return RetainRule(-(-self.micros // unit.micros), self.most_bytes)
        if self.steps is not None and unit.micros is None:
            return RetainRule(self.steps, self.most_bytes)
        return None


def read_setting(text: str) -> RetainSetting | None:
    """The value of SET retain; None for `auto`: as long as the longest window of queries.

    >>> from penstock.algebra.time import TimeUnit
    >>> read_setting("90 minutes, 2 GB").rule(TimeUnit.SECONDS)
    RetainRule(span=5400, most_bytes=2147483648)

    Raises:
        QueryError: It is none.
    """
    words = text.strip().lower()
    if words == "auto":
        return None
    if words == "none":
        return RetainSetting(words, is_none=True)
    found = RetainSetting(words)
    for part in words.split(","):
        found = _with_part(found, part.strip())
    return found


def _with_part(found: RetainSetting, part: str) -> RetainSetting:
    whole = re.fullmatch(r"(\d+(?:\.\d+)?) *([a-z]*)", part)
    number, word = (Decimal(whole[1]), whole[2]) if whole else (Decimal(0), "")
    unit = unit_name(word) if word else None
    if part == "unbounded":
        return found
    if word in SIZES and found.most_bytes is None:
        return RetainSetting(found.text, found.micros, found.steps, int(number * SIZES[word]))
    if number and found.micros is None and found.steps is None:
        if not word and number == int(number):
            return RetainSetting(found.text, None, int(number), found.most_bytes)
        if unit is not None and unit not in ("MONTH", "QUARTER", "YEAR"):
            micros = min(int(micros_of(number, unit)), INFINITY)
            return RetainSetting(found.text, micros, None, found.most_bytes)
    msg = f"setting \"retain\" takes a length of time and a size, not '{found.text}'"
    hint = "Write SET retain = '1 hour', '500 MB', '1 hour, 500 MB', unbounded, none or auto."
    raise QueryError(msg, hint=hint)


def size_text(size: int) -> str:
    """A size with the largest unit that leaves a number of one or more.

    >>> size_text(500 << 20), size_text(1536)
    ('500 MB', '1.5 kB')
    """
    names = {"TB": 1 << 40, "GB": 1 << 30, "MB": 1 << 20, "kB": 1 << 10}
    for name, unit in names.items():
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} bytes"

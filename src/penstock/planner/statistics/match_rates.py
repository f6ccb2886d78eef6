"""Match rates: how often rows of two inputs meet, as the lanes of running joins say.

Rows that come to one input meet those of the other that are valid then. How many these could be
follows from how many come and how long they are valid, in all lanes together: rows of one key are
on one lane, so a lane alone sees more of its pairs meet. What estimates rely on are the same means,
so where rows come in bursts, which meet more often, their share is so much larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

LEAST_MET = 20
"""Fewer pairs of equal keys say too little of how often keys are equal,"""
LEAST_PAIRS = 100_000
"""unless so many pairs could have been."""


@dataclass(frozen=True)
class InputStatistics:
    """The rows of an input, or those that were sent, of all lanes; see `ValidityReport`."""

    rows: float
    ending: float
    lasting: float
    endless: float
    since: float
    always: float

    @staticmethod
    def together(parts: Sequence[Mapping[str, Any]]) -> InputStatistics:
        """The shares of several lanes; or one of them, where all lanes get the same rows."""
        copies = len(parts) if parts[0]["is_whole"] else 1
        names = ("rows", "ending", "lasting", "endless", "since", "always")
        return InputStatistics(*(sum(one[name] for one in parts) / copies for name in names))

    def valid(self, first: int, latest: int) -> float:
        """For how many steps of time the rows have been valid up to an instant, in all.

        Those with an end are thought to have come evenly, so of the last of them a part is missing.
        """
        span = latest - first + 1
        mean = self.lasting / self.ending if self.ending else 0.0
        passed = mean - mean**2 / (2 * span) if mean < span else span / 2
        since = self.endless * latest - self.since
        return self.ending * max(passed, 0.0) + max(since, 0.0) + max(self.always, 0) * span


@dataclass(frozen=True)
class MatchStatistics:
    """The matches that one operator has seen in all lanes.

    Attributes:
        condition: By what rows meet: equal keys, or [NOT] EXISTS.
        of_pairs: Whether pairs of rows are counted; else left rows.
        asked: Pairs that were valid together; or left rows that came.
        held: Those with equal keys; or as many rows as the result had for each that came, at a
            time.
        sent: Rows that were sent for each left row.
        withdrawn: Rows that were withdrawn for each.
    """

    condition: str
    of_pairs: bool
    asked: float
    held: float
    sent: float = 0.0
    withdrawn: float = 0.0

    @property
    def says_enough(self) -> bool:
        """So many pairs tell how often keys are equal."""
        return not self.of_pairs or self.held >= LEAST_MET or self.asked >= LEAST_PAIRS


def meetings(operators: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[MatchStatistics]:
    """The matches that operators have seen; each tells of all its lanes."""
    for reports in operators:
        found = _match_statistics(reports) if reports[0].get("meeting") is not None else None
        if found is not None:
            yield found


def _match_statistics(reports: Sequence[Mapping[str, Any]]) -> MatchStatistics | None:
    """The matches that the lanes of an operator have seen; None: nothing could meet."""
    told = [one["meeting"] for one in reports]
    entries = [part for one in told for part in one["came"] if part["ending"] or part["endless"]]
    if not entries:
        return None
    first, latest = min(one["first"] for one in entries), max(one["latest"] for one in entries)
    sides = [
        InputStatistics.together(parts)
        for parts in zip(*(one["came"] for one in told), strict=True)
    ]
    copies = len(told) if all(part["is_whole"] for part in told[0]["came"]) else 1
    valid = [one.valid(first, latest) for one in sides]
    met = sum(one["met"] for one in told) / copies
    condition = told[0]["condition"]
    if told[0]["sent"] is None:
        (left, right), span = sides, latest - first + 1
        asked = (left.rows * valid[1] + right.rows * valid[0]) / span
        return MatchStatistics(condition, True, asked, met) if asked else None
    came, sent = sides[0].rows, InputStatistics.together([one["sent"] for one in told])
    if not valid[0]:
        return None
    share = sent.valid(first, latest) / copies / valid[0]
    withdrawn = sum(one["withdrawn"] for one in reports) / copies
    return MatchStatistics(
        condition,
        False,
        came,
        came * min(share, 1.0),
        (met - withdrawn) / came,
        withdrawn / came,
    )

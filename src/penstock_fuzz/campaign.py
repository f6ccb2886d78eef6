"""Trial after trial until the time is over or an engine fails."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock_fuzz.check import check
from penstock_fuzz.coverage import TrialCoverage
from penstock_fuzz.generate import generate
from penstock_fuzz.shrink import FailedTrial
from penstock_fuzz.updates import try_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock_fuzz.trial import Contender
    from penstock_fuzz.updates import UpdateCase

_BETWEEN_REPORTS = 5.0
REPLANS = 50
"""In so many of a hundred trials another plan is to take over, of engines that can do that."""


@dataclass(frozen=True)
class Campaign:
    """The settings of fuzzing: from which seed, with which strategies, and until when.

    It ends after so many seconds, or after so many trials.
    """

    engine: Contender
    seed: int
    strategies: Sequence[str]
    seconds: float = math.inf
    trials: float = math.inf
    first: int = 0

    def run(self, say: Callable[[str], None]) -> CampaignOutcome:
        """Try trials, counted from `first`, and stop at the first failure.

        Args:
            say: Takes a line of progress every few seconds.
        """
        coverage = TrialCoverage()
        for number in self.numbers(say, coverage.summary):
            found = self.try_one(number, coverage)
            if found is not None:
                return CampaignOutcome(coverage, number, found)
        return CampaignOutcome(coverage)

    def numbers(self, say: Callable[[str], None], summary: Callable[[], str]) -> Iterator[int]:
        """The numbers of trials as long as there is time, or trials are left; says how it goes."""
        started = said = time.monotonic()
        for number in count(self.first):
            now = time.monotonic()
            if now - started > self.seconds or number - self.first >= self.trials:
                return
            if now - said > _BETWEEN_REPORTS:
                said = now
                say(f"{now - started:.0f} s: {summary()}")
            yield number

    def run_updates(self, say: Callable[[str], None]) -> UpdatesOutcome:
        """The same of random updates below queries side by side, on connections."""
        outcome = UpdatesOutcome()
        for number in self.numbers(say, outcome.summary):
            compared, case = try_seed(f"{self.seed}/{number}")
            outcome.programs += 1
            outcome.queries += compared
            if case is not None:
                outcome.number, outcome.case = number, case
                break
        return outcome

    def try_one(self, number: int, coverage: TrialCoverage) -> FailedTrial | None:
        """One trial; how the engine fails at it, if it does."""
        generated = generate(
            f"{self.seed}/{number}",
            self.strategies,
            with_edits=self.engine.takes_edits,
            replans=REPLANS if self.engine.replans else 0,
        )
        coverage.add(generated.trial, generated.plan, generated.refused)
        try:
            failure = check(generated.trial, self.engine, generated.plan)
        except PenstockError as error:
            # The binder took it, so the evaluator must; say which trial it was.
            error.add_note(f"seed {self.seed}, trial {number}")
            raise
        return FailedTrial(generated.trial, failure) if failure else None


@dataclass(frozen=True)
class CampaignOutcome:
    """The coverage of a campaign, and the trial at which it failed, if it did."""

    coverage: TrialCoverage
    number: int | None = None
    found: FailedTrial | None = None


@dataclass
class UpdatesOutcome:
    """The number of queries compared below random updates, and the case that went wrong."""

    programs: int = 0
    queries: int = 0
    number: int | None = None
    case: UpdateCase | None = None

    def summary(self) -> str:
        """One line."""
        return f"{self.programs} programs, {self.queries} answers compared"

"""The seam for scheduling: whoever runs next, and however far, the answers are the same."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.scheduling.work_rules import WorkRules
from penstock_fuzz.check import check
from penstock_fuzz.generate import generate
from penstock_fuzz.inline import InlineContender

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from penstock.scheduling.paths import Path
    from penstock.scheduling.scheduler import Head

TRIALS = 80


class AtRandom:
    """Any operator that can run."""

    chosen = 0

    def __init__(self) -> None:
        self._ready: set[int] = set()

    def replan(self, paths: Sequence[Path], operators: int) -> None:
        del paths, operators

    def waits(self, operator: int, head: Head | None) -> None:
        self._ready.discard(operator)
        if head is not None:
            self._ready.add(operator)

    def ran(self, operator: int, seconds: float) -> None:
        del operator, seconds

    def choose(self, now: float) -> int | None:
        del now
        AtRandom.chosen += len(self._ready) > 1
        return random.choice(sorted(self._ready)) if self._ready else None


def test_any_order_of_work_gives_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    random.seed(4)
    monkeypatch.setattr(WorkRules, "scheduler_made", lambda _: AtRandom())
    for number in range(TRIALS):
        made = generate(f"any order {number}")
        trial = replace(made.trial, budget=random.choice([0.0, 2.0, 7.0, 40.0]), block_rows=2)
        failure = check(trial, InlineContender(), made.plan)
        assert failure is None, f"trial {number}: {failure}"
    assert AtRandom.chosen > TRIALS

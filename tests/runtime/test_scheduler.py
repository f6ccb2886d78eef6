"""The seam for scheduling: whoever runs next, the answers are the same."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from penstock.runtime import lane
from penstock_fuzz.check import check
from penstock_fuzz.generate import generate
from penstock_fuzz.inline import InlineContender

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

    from penstock.runtime.station import Station

TRIALS = 60


class AtRandom:
    """Any station, at times several times, before each has its turn."""

    taken = 0

    def turns(self, stations: Sequence[Station]) -> Iterator[int]:
        for _ in range(random.randrange(2 * len(stations))):
            AtRandom.taken += 1
            yield random.randrange(len(stations))
        yield from range(len(stations))


def test_any_order_of_work_gives_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    random.seed(4)
    monkeypatch.setattr(lane, "ToCompletion", AtRandom)
    for number in range(TRIALS):
        made = generate(f"any order {number}")
        failure = check(made.trial, InlineContender(), made.plan)
        assert failure is None, f"trial {number}: {failure}"
    assert AtRandom.taken > TRIALS

"""Random updates of relations below queries side by side, and that wrong dates are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from penstock.connection.engines.local import batch as batches
from penstock.connection.engines.local import query_registry
from penstock.runtime import changes
from penstock_fuzz.campaign import Campaign
from penstock_fuzz.engines import OracleContender
from penstock_fuzz.trial import STRATEGIES
from penstock_fuzz.updates import fault_of, smaller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block

PROGRAMS = 40
"""Some 700 answers."""


def campaign(programs: int) -> Campaign:
    return Campaign(OracleContender(), 5, STRATEGIES, trials=programs)


def test_connections_answer_as_the_reference_evaluator_does() -> None:
    outcome = campaign(PROGRAMS).run_updates(print)
    assert outcome.case is None, f"{outcome.case}\n{fault_of(outcome.case)}"
    assert outcome.queries > PROGRAMS


def closing_at_once(fed: Mapping[str, Block]) -> dict[str, int]:
    """The instant of a change is over with it."""
    return {name: one + 1 for name, one in changes.told_by(fed).items()}


def all_together(plans: Mapping[str, Plan]) -> list[tuple[str, ...]]:
    """Queries share graphs whatever their clocks are."""
    return [tuple(plans)]


def as_they_say(fed: Block, clock: int) -> Block:
    """Overdue changes take effect one instant later than they can."""
    return changes.due_from(fed, clock + 1 if (fed.ts < np.int64(clock)).any() else clock)


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (batches, "told_by", closing_at_once),
        (query_registry, "sharing", all_together),
        (batches, "due_from", as_they_say),
    ],
)
def test_wrong_dates_are_found_and_shown_small(
    module: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, wrong)
    outcome = campaign(200).run_updates(print)
    assert outcome.case is not None
    small = smaller(outcome.case, 200)
    assert fault_of(small) is not None
    assert len(small.steps) <= 4

"""Random questions between feeds, to connections and homes; and that wrong answers are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.connection.questions import one_step
from penstock.pipeline import retained_windows
from penstock_fuzz.campaign import Campaign
from penstock_fuzz.questioned import QuestionedConnection, QuestionedPipeline
from penstock_fuzz.trial import STRATEGIES
from tiers import amount

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.streams import Stream
    from penstock.algebra.windows import WindowSpec
    from penstock.connection.questions.one_step import Held
    from penstock.store.sub_windows.piece import MemoryPiece

Questioned = QuestionedConnection | QuestionedPipeline


@pytest.mark.parametrize(
    ("engine", "trials"),
    [
        (QuestionedConnection, amount("random questions in one process")),
        (QuestionedPipeline, amount("random questions of pipelines without Spark")),
    ],
)
def test_answers_are_those_of_the_oracle_at_their_instants(
    engine: Callable[[], Questioned], trials: int
) -> None:
    asked = engine()
    campaign = Campaign(asked, seed=33, strategies=STRATEGIES, trials=trials)
    outcome = campaign.run(print)
    assert outcome.found is None, f"trial {outcome.number}: {outcome.found.failure.text}"
    assert asked.counts["answers"] > trials
    assert asked.counts["of results"] > 0
    assert asked.counts["refused"] > 0


HELD_BY = one_step.held_by


def too_early(spec: WindowSpec, stream: Stream, instant: int) -> Held | None:
    """Windows hold what they held one instant before."""
    return HELD_BY(spec, stream, instant - 1)


def nothing_in_logs(*_: object) -> dict[int, tuple[MemoryPiece, ...]]:
    """The rows that are not sealed yet are not found."""
    return {}


@pytest.mark.parametrize(
    ("module", "name", "wrong", "engine", "seed"),
    [
        (one_step, "held_by", too_early, QuestionedConnection, 2),
        (retained_windows, "unsealed_pieces", nothing_in_logs, QuestionedPipeline, 1),
    ],
)
def test_wrong_answers_are_found(
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    name: str,
    wrong: object,
    engine: Callable[[], Questioned],
    seed: int,
) -> None:
    monkeypatch.setattr(module, name, wrong)
    campaign = Campaign(engine(), seed=seed, strategies=STRATEGIES, trials=20)
    assert campaign.run(print).found is not None

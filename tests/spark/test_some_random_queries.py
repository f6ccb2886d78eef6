"""Random queries, cuts and lanes on pipelines: with Spark, and many more without."""

from __future__ import annotations

import pytest

from penstock_fuzz.campaign import Campaign
from penstock_fuzz.coverage import TrialCoverage
from penstock_fuzz.engines import contender_called
from penstock_fuzz.trial import STRATEGIES
from tiers import amount

SEED = 4


@pytest.mark.parametrize(
    ("engine", "plans"),
    [
        ("spark", amount("random queries on Spark")),
        ("pipeline", amount("random queries on pipelines without Spark")),
    ],
)
def test_random_queries(engine: str, plans: int) -> None:
    campaign = Campaign(contender_called(engine), SEED, STRATEGIES)
    coverage = TrialCoverage()
    for number in range(plans):
        found = campaign.try_one(number, coverage)
        assert found is None, (
            f"trial {number} of seed {SEED}: {found.failure.text}\n"
            f"./penstock fuzz --engine {engine} --seed {SEED} --trial {number} shrinks it"
        )
    print(coverage.table())
    # Joins of three inputs or more in one operator.
    assert coverage.joins.total() >= plans // 10

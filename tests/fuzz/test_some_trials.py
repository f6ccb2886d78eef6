"""Random queries on the inline engine, as part of every run of the tests: about a minute's."""

from __future__ import annotations

from penstock_fuzz.campaign import Campaign
from penstock_fuzz.engines import contender_called
from penstock_fuzz.trial import STRATEGIES
from tiers import amount

TRIALS = amount("random queries in one process")


def test_some_random_queries() -> None:
    campaign = Campaign(contender_called("inline"), seed=3, strategies=STRATEGIES, trials=TRIALS)
    outcome = campaign.run(print)
    print(outcome.coverage.table())
    assert outcome.found is None, (
        f"trial {outcome.number} of seed {campaign.seed}: {outcome.found.failure.text}\n"
        f"./penstock fuzz --seed {campaign.seed} --trial {outcome.number} shrinks it"
    )
    assert outcome.coverage.summary()

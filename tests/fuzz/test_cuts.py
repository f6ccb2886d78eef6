"""The same output whatever the cut, the lane count, the strategy, and where state was restored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock_fuzz.check import compare_answers, tolerance_for
from penstock_fuzz.draw import Draw
from penstock_fuzz.engines import contender_called
from penstock_fuzz.generate import generate
from penstock_fuzz.trial import STRATEGIES, Trial, is_feedable, late_rows


def all_at_once(trial: Trial) -> Trial:
    """One feed, one lane, no restore, and no late or shed rows, which depend on the cut."""
    late = late_rows(trial)
    streams = {}
    for name, one in trial.streams.items():
        rows = tuple(row for i, row in enumerate(one.rows) if (name, i) not in late)
        streams[name] = replace(one, rows=rows, feeds=(0,) * len(rows))
    relations = {
        name: replace(one, feeds=(0,) * len(one.feeds)) for name, one in trial.relations.items()
    }
    whole = replace(trial, streams=streams, relations=relations, feed_count=1, shedding=None)
    return replace(whole, lanes=1, restore_after=frozenset(), strategy="upa", partitions=8)


def cut_anew(trial: Trial, draw: Draw) -> Trial:
    """Other feeds, but such that no row is late, and other lanes, restores and partitions."""
    count = draw.count(1, 10)
    streams = {
        name: replace(one, feeds=tuple(sorted(draw.count(0, count - 1) for _ in one.rows)))
        for name, one in trial.streams.items()
    }
    return replace(trial, streams=streams, feed_count=count, lanes=draw.count(1, 4),
                   restore_after=frozenset(n for n in range(count) if draw.chance(30)),
                   strategy=draw.pick(*STRATEGIES), partitions=draw.pick(1, 2, 8, 64))  # fmt: skip


@pytest.mark.parametrize("number", range(30))
def test_the_output_does_not_depend_on_how_it_was_fed(number: int) -> None:
    engine = contender_called("inline")
    generated = generate(f"8/{number}")
    whole = all_at_once(generated.trial)
    expected = engine.run_trial(whole, generated.plan).answer
    tolerance = tolerance_for(generated.plan, whole.inputs(frozenset()))
    draw = Draw(f"cuts {number}")
    tried = 0
    while tried < 4:
        trial = cut_anew(whole, draw)
        if late_rows(trial) or not is_feedable(trial):
            # A feed for all is the one cut in which nothing can be late.
            trial = replace(whole, lanes=trial.lanes, strategy=trial.strategy)
        actual = engine.run_trial(trial, generated.plan).answer
        assert compare_answers(generated.plan, expected, actual, tolerance) is None, trial
        tried += 1

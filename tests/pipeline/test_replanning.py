"""Queries that are planned anew while they run answer as if nothing had happened."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from penstock.errors import Refused
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.pipeline.replanning import replanned
from penstock.planner.statistics.measuring import measured
from penstock.planner.statistics.statistics import Statistics
from penstock.reference.inputs import RelationChange
from penstock.session import Session
from penstock.store.layout import Home
from penstock_fuzz.check import check
from penstock_fuzz.generate import generate
from penstock_fuzz.lane_hosts import LaneHostContender
from penstock_fuzz.pipelines import new_home
from penstock_fuzz.trial import FileProgram, RelationInput, StreamInput, Trial, clocks
from store.driving import Driver
from tiers import amount

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable
    from pathlib import Path

DECLARED = "".join(
    f"CREATE STREAM {name} (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 1);" for name in "abc"
)
RELATION = "CREATE RELATION r (k INT, name STRING);"
JOIN = "a [RANGE 4] a JOIN b [RANGE 3] b ON a.k = b.k JOIN c [RANGE 5] c ON b.v = c.v"
WITH_CHOICE = (
    f"SELECT a.v, c.k FROM {JOIN}",
    f"SELECT a.k, COUNT(*) AS n, SUM(c.v) AS s FROM {JOIN} GROUP BY a.k",
    f"SELECT DISTINCT a.v, c.k FROM {JOIN}",
    "SELECT q.v, c.k FROM (SELECT k, v FROM a [RANGE 4] WHERE NOT EXISTS"
    " (SELECT * FROM b [RANGE 4] WHERE b.k = a.k)) AS q JOIN c [RANGE 3] ON q.k = c.k",
    "SELECT a.v, b.v AS w FROM a [RANGE 4] a JOIN b [FIXED 3] b ON a.k = b.k"
    " WHERE NOT EXISTS (SELECT * FROM c [RANGE 4] WHERE c.v = b.v)",
    "ISTREAM (SELECT a.v FROM a [RANGE 4] a JOIN b [RANGE 3] b ON a.k = b.k JOIN c [NOW] c"
    " ON b.v = c.v WHERE a.v > b.v)",
    "SELECT a.k, c.v FROM a [RANGE 4], b [RANGE 3], c [RANGE 5]"
    " WHERE a.k = b.k AND b.k = c.k AND a.v < b.v AND b.v <> c.v",
    f"SELECT a.k, COUNT(*) AS n FROM {JOIN} WHERE a.v <= c.v GROUP BY a.k HAVING COUNT(*) > 1",
    "SELECT q.k, b.v FROM (SELECT k, SUM(v) AS s FROM a [RANGE 4] GROUP BY k) AS q"
    " JOIN b [RANGE 3] ON q.k = b.k AND q.s > b.v JOIN c [RANGE 5] ON b.v = c.v",
    # A window over what another query sends out, or appends, waits for both.
    f"SELECT x.v, b.k FROM ISTREAM (SELECT a.v FROM {JOIN}) [RANGE 3] AS x JOIN b [RANGE 2] b"
    " ON x.v = b.v",
    f"SELECT a.v, c.k FROM {JOIN} OUTPUT [RANGE 3]",
    "SELECT x.v, x.w FROM (SELECT a.v, c.v AS w FROM a [RANGE 4 INTERNAL] a"
    " JOIN b [RANGE 3 INTERNAL] b ON a.k = b.k JOIN c [RANGE 2 INTERNAL] c ON b.v = c.v)"
    " [RANGE 4] AS x",
)
"""Queries that the planner makes different plans of."""
WITHOUT_CHOICE = (
    "SELECT COUNT(*) AS n, AVG(v) AS m FROM a [RANGE 4]",
    "SELECT a.v, b.v AS w FROM a [RANGE 4] a LEFT JOIN b [FIXED 5] b ON a.k = b.k",
    "DSTREAM (SELECT DISTINCT v FROM a [RANGE 4])",
    "SELECT DISTINCT a.v FROM a [RANGE 4] a JOIN b [RANGE 6 SLIDE 2] b ON a.k = b.k",
    "RSTREAM (SELECT k, MAX(v) AS top FROM a [RANGE 3] GROUP BY k)",
    "SELECT k, v FROM a [RANGE 4] EXCEPT ALL SELECT k, v FROM b [RANGE 4]",
    "RSTREAM (SELECT k, v FROM a [RANGE 4 SLIDE 2] ORDER BY v DESC LIMIT 2)",
    "ISTREAM RESTORE (SELECT DISTINCT k FROM a [RANGE 5 SLIDE 3])",
    "SELECT DISTINCT x.k FROM DSTREAM (SELECT DISTINCT k FROM a [RANGE 4]) [RANGE 3] AS x",
    "SELECT x.k FROM RSTREAM (SELECT k, v FROM a [RANGE 4 SLIDE 2]) [FIXED 3] AS x",
    "SELECT MAX(x.v) AS top FROM (SELECT k, v FROM a [UNBOUNDED] WHERE v > 0) [RANGE 3] AS x",
)
READING = (
    "SELECT a.v, r.name, c.k FROM a [RANGE 4] a JOIN r ON a.k = r.k"
    " JOIN b [RANGE 3] b ON a.k = b.k JOIN c [RANGE 5] c ON b.v = c.v",
    "SELECT DISTINCT r.name, b.v FROM a [RANGE 4] a JOIN r ON a.k = r.k JOIN b [RANGE 3] b"
    " ON a.v = b.v WHERE NOT EXISTS (SELECT * FROM c [RANGE 4] WHERE c.v = b.v)",
)
ROWS = some.lists(
    some.tuples(some.integers(0, 40), some.integers(0, 2), some.integers(0, 2)), max_size=40
).map(sorted)
FEEDS = 12
RANDOM_TRIALS = amount("random queries that another plan takes over")


@some.composite
def streams(draw: some.DrawFn) -> StreamInput:
    rows = draw(ROWS)
    feeds = [min(at * FEEDS // 41 + draw(some.integers(0, 1)), FEEDS - 1) for at, _, _ in rows]
    return StreamInput(tuple(rows), tuple(sorted(feeds)), slack=1)


def trial_of(data: some.DataObject, script: str, query: str) -> Trial:
    inputs = {name: data.draw(streams()) for name in "abc" if f" {name} [" in query}
    return Trial(
        FileProgram(script, query),
        inputs,
        {},
        FEEDS,
        data.draw(some.integers(1, 3)),
        frozenset(data.draw(some.sets(some.integers(0, FEEDS - 1), max_size=2))),
        replan_after=data.draw(some.integers(0, FEEDS // 2)),
        replan_by=data.draw(some.integers(0, 999)),
        strategy=data.draw(some.sampled_from(["upa", "direct", "negative"])),
    )


def counts_of(trials: Callable[[some.DataObject], Trial], examples: int) -> Counter[str]:
    """Run trials; what came of planning them anew."""
    engine = LaneHostContender()

    @settings(max_examples=examples, deadline=None)
    @given(some.data())
    def run(data: some.DataObject) -> None:
        failure = check(trials(data), engine)
        assert failure is None, failure.text

    run()
    return engine.replanning.counts


@pytest.mark.parametrize("query", WITH_CHOICE)
def test_another_plan_takes_over(query: str) -> None:
    counts = counts_of(lambda data: trial_of(data, DECLARED, query), 12)
    assert counts["another took over"] >= 2, counts


@pytest.mark.parametrize("query", WITHOUT_CHOICE)
def test_the_same_plan_takes_over(query: str) -> None:
    counts = counts_of(lambda data: trial_of(data, DECLARED, query), 8)
    assert counts["took over"] >= 2, counts


@pytest.mark.parametrize("kind", ["RELATION", "NONRETROACTIVE RELATION"])
@pytest.mark.parametrize("query", READING)
def test_relations_are_told_to_the_new_plan(query: str, kind: str) -> None:
    def trial(data: some.DataObject) -> Trial:
        made = trial_of(data, DECLARED + RELATION.replace("RELATION", kind), query)
        return replace(made, relations={"r": changing(data, made)})

    counts = counts_of(trial, 15)
    assert counts["another took over"] >= 2, counts


def changing(data: some.DataObject, trial: Trial) -> RelationInput:
    """A relation that changes at any time, its changes told just in time or long before."""
    times = sorted(data.draw(some.sets(some.integers(0, 40), max_size=6)))
    names = [f"version {number}" for number in range(len(times) + 1)]
    changes = [
        RelationChange(at, sign, (1, names[number + (sign == "+")]))
        for number, at in enumerate(times)
        for sign in ("-", "+")
    ]
    passed = clocks(trial)
    feeds: list[int] = []
    for change in changes:
        first = feeds[-1] if feeds else 0
        fitting = [
            feed
            for feed in range(first, FEEDS)
            if all(clock is None or clock <= change.at for clock in passed[:feed])
        ]
        feeds.append(data.draw(some.sampled_from([first, fitting[-1] if fitting else first])))
    return RelationInput(((0, "zero"), (1, names[0])), tuple(changes), tuple(feeds))


def test_another_plan_takes_over_in_many_random_trials() -> None:
    engine = LaneHostContender()
    for number in range(RANDOM_TRIALS):
        generated = generate(f"replanned/{number}", with_edits=False, replans=100)
        failure = check(generated.trial, engine, generated.plan)
        assert failure is None, f"{generated.trial.query}\n{failure.text}"
    counts = engine.replanning.counts
    assert counts["took over"] >= RANDOM_TRIALS // 4, counts
    assert counts["another took over"] >= 3, counts


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT k, COUNT(*) AS n FROM a [UNBOUNDED] GROUP BY k", r"\[UNBOUNDED\]"),
        ("SELECT k, COUNT(*) AS n FROM a [SINCE 3] GROUP BY k", r"\[SINCE 3\]"),
        ("SELECT DISTINCT k FROM a [PARTITION BY k ROWS 3]", r"\[PARTITION BY k ROWS 3\]"),
        ("SELECT k FROM a [RANGE 3 INTERNAL]", "INTERNAL windows"),
        ("SELECT k FROM a [RANGE 3] OUTPUT [ROWS 2]", r"\[ROWS 2\]"),
        ("SELECT DISTINCT k FROM a [ROWS 3]", r"\[ROWS 3\]"),
        ("SELECT DISTINCT k FROM a", 'UNBOUNDED|stream "a" without a window'),
        ("SELECT k, COUNT(*) AS n FROM a [RANGE 3] GROUP BY k EMIT FINAL", "EMIT FINAL"),
    ],
)
def test_what_never_forgets_is_refused(query: str, reason: str) -> None:
    error = refusal({"q": query})
    assert re.search(f'query "q" cannot be planned anew while it runs: it has .*({reason})', error)


def test_a_query_that_holds_others_back_is_named() -> None:
    timed = "SELECT k, COUNT(*) AS n FROM a [RANGE 5] GROUP BY k"
    counting = "SELECT k, COUNT(*) AS n FROM a [PARTITION BY k ROWS 2] GROUP BY k"
    error = refusal({"timed": timed, "counting": counting})
    assert error.startswith(
        'query "counting" cannot be planned anew while it runs: it has [PARTITION BY k ROWS 2];'
        ' nor can query "timed", registered together with it'
    )
    assert "Or register the others in an execute() of their own." in error


def refusal(queries: dict[str, str]) -> str:
    """Why queries that run together cannot be planned anew."""
    with new_home() as home:
        ledger = Ledger(home)
        session = Session()
        session.execute(DECLARED)
        plans = {name: session.bind(text).plan for name, text in queries.items()}
        created = (f"CREATE QUERY {name} AS {text}" for name, text in queries.items())
        (group,) = groups_for(plans, 0, 2)
        ledger.change_plan(PipelinePlan((DECLARED, *created), (group,)))
        with pytest.raises(Refused) as refused:
            replanned(ledger, 0, Statistics(), 1)
    return str(refused.value)


@pytest.mark.parametrize("apart", ["a", "c"])
def test_keys_that_never_meet_decide_which_plan_takes_over(tmp_path: Path, apart: str) -> None:
    chain = "a [RANGE 50] a JOIN b [RANGE 50] b ON a.k = b.k JOIN c [RANGE 50] c ON b.v = c.v"
    query = f"CREATE QUERY q AS SELECT a.v FROM {chain}"
    statements = (*filter(None, DECLARED.split(";")), "SET joins = tree", query)
    with Driver(tmp_path, statements, ["q"], lanes=2) as driver:
        for start in range(0, 800, 200):
            driver.batch(
                {
                    name: [
                        {"ts": at, "k": at % 10 + moved, "v": at * 7 % 10 + moved}
                        for at in range(start, start + 200)
                    ]
                    for name in "abc"
                    for moved in (1000 if name == apart else 0,)
                }
            )
        found = measured(driver.operators)
        made = replanned(driver.ledger, 0, found, 1)
        # The rows of `a` and `b` are joined first, as long as nothing is known.
        assert (made is None) == (apart == "a")
        if made is not None:
            driver.ledger.change_plan(made)
    kept = Ledger(Home(tmp_path)).plan.plan.groups[-1].known
    assert kept == (Statistics() if apart == "a" else found)

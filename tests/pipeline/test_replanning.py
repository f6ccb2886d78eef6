"""Queries that are planned anew while they run answer as if nothing had happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from home.driving import Driver
from penstock.errors import Refused
from penstock.fuzz.check import check
from penstock.fuzz.keepers import KeeperContender
from penstock.fuzz.pipelines import new_home
from penstock.fuzz.trial import RelationInput, Script, StreamInput, Trial
from penstock.home.layout import Home
from penstock.pipeline.grouping import groups_for
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.replanning import replanned
from penstock.planner.measuring import measured
from penstock.planner.statistics import Statistics
from penstock.reference.inputs import RelationChange
from penstock.session import Session

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = "".join(
    f"CREATE STREAM {name} (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 1);" for name in "abc"
)
RELATION = "CREATE RELATION r (k INT, name STRING);"
JOIN = "a [RANGE 4] a JOIN b [RANGE 3] b ON a.k = b.k JOIN c [RANGE 5] c ON b.v = c.v"
QUERIES = (
    f"SELECT a.v, c.k FROM {JOIN}",
    f"SELECT a.k, COUNT(*) AS n, SUM(c.v) AS s FROM {JOIN} GROUP BY a.k",
    "SELECT COUNT(*) AS n, AVG(v) AS m FROM a [RANGE 4]",
    "SELECT DISTINCT a.v FROM a [RANGE 4] a JOIN b [RANGE 6 SLIDE 2] b ON a.k = b.k",
    "SELECT q.v, c.k FROM (SELECT k, v FROM a [RANGE 4] WHERE NOT EXISTS"
    " (SELECT * FROM b [RANGE 4] WHERE b.k = a.k)) AS q JOIN c [RANGE 3] ON q.k = c.k",
    "SELECT a.v, b.v AS w FROM a [RANGE 4] a LEFT JOIN b [FIXED 5] b ON a.k = b.k",
    "ISTREAM (SELECT a.v FROM a [RANGE 4] a JOIN b [RANGE 3] b ON a.k = b.k WHERE a.v > b.v)",
    "DSTREAM (SELECT DISTINCT v FROM a [RANGE 4])",
    "SELECT a.k, c.v FROM a [RANGE 4], b [RANGE 3], c [RANGE 5]"
    " WHERE a.k = b.k AND b.k = c.k AND a.v < b.v AND b.v <> c.v",
    f"SELECT a.k, COUNT(*) AS n FROM {JOIN} WHERE a.v <= c.v GROUP BY a.k HAVING COUNT(*) > 1",
    "SELECT q.k, b.v FROM (SELECT k, SUM(v) AS s FROM a [RANGE 4] GROUP BY k) AS q"
    " JOIN b [RANGE 3] ON q.k = b.k AND q.s > b.v JOIN c [RANGE 5] ON b.v = c.v",
    "RSTREAM (SELECT k, MAX(v) AS top FROM a [RANGE 3] GROUP BY k)",
    "SELECT k, v FROM a [RANGE 4] EXCEPT ALL SELECT k, v FROM b [RANGE 4]",
    "RSTREAM (SELECT k, v FROM a [RANGE 4 SLIDE 2] ORDER BY v DESC LIMIT 2)",
)
WITH_RELATION = "SELECT a.v, r.name FROM a [RANGE 4] a JOIN r ON a.k = r.k"
ROWS = some.lists(
    some.tuples(some.integers(0, 40), some.integers(0, 2), some.integers(0, 2)), max_size=40
).map(sorted)
FEEDS = 12


@some.composite
def streams(draw: some.DrawFn) -> StreamInput:
    rows = draw(ROWS)
    feeds = [min(at * FEEDS // 41 + draw(some.integers(0, 1)), FEEDS - 1) for at, _, _ in rows]
    return StreamInput(tuple(rows), tuple(sorted(feeds)), slack=1)


def trial_of(data: some.DataObject, script: str, query: str) -> Trial:
    inputs = {name: data.draw(streams()) for name in "abc" if f" {name} [" in query}
    return Trial(
        Script(script, query),
        inputs,
        {},
        FEEDS,
        data.draw(some.integers(1, 3)),
        frozenset(data.draw(some.sets(some.integers(0, FEEDS - 1), max_size=2))),
        replan_after=data.draw(some.integers(0, FEEDS // 2)),
        strategy=data.draw(some.sampled_from(["upa", "negative", "auto"])),
    )


@pytest.mark.parametrize("query", QUERIES)
def test_another_plan_takes_over(query: str) -> None:
    engine = KeeperContender()

    @settings(max_examples=15, deadline=None)
    @given(some.data())
    def run(data: some.DataObject) -> None:
        failure = check(trial_of(data, DECLARED, query), engine)
        assert failure is None, failure.text

    run()
    assert engine.replaced >= 3


def test_relations_are_told_to_the_new_plan() -> None:
    engine = KeeperContender()

    @settings(max_examples=30, deadline=None)
    @given(some.data())
    def run(data: some.DataObject) -> None:
        trial = trial_of(data, DECLARED + RELATION, WITH_RELATION)
        at = data.draw(some.integers(15, 20))
        changes = (RelationChange(at, "-", (1, "one")), RelationChange(at, "+", (2, "two")))
        feed = data.draw(some.integers(0, 3))
        relation = RelationInput(((0, "zero"), (1, "one")), changes, (feed, feed))
        object.__setattr__(trial, "relations", {"r": relation})
        failure = check(trial, engine)
        assert failure is None, failure.text

    run()
    assert engine.replaced >= 3


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT k, COUNT(*) AS n FROM a [UNBOUNDED] GROUP BY k", r"\[UNBOUNDED\]"),
        ("SELECT DISTINCT k FROM a [ROWS 3]", r"\[ROWS 3\]"),
        ("SELECT DISTINCT k FROM a", "UNBOUNDED|without a window"),
        ("SELECT k, COUNT(*) AS n FROM a [RANGE 3] GROUP BY k EMIT FINAL", "Final"),
    ],
)
def test_what_never_forgets_is_refused(query: str, reason: str) -> None:
    with new_home() as home:
        ledger = Ledger(home)
        statements = (DECLARED, f"CREATE QUERY q AS {query}")
        session = Session()
        for text in statements:
            session.execute(text)
        plan = session.bind(query).plan
        ledger.change_plan(PipelinePlan(statements, tuple(groups_for({"q": plan}, 0, 2))))
        with pytest.raises(Refused, match=reason):
            replanned(ledger, 0, Statistics(), 1)


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

"""Joins of many windows in one operator on several lanes of Spark, by one key and in fragments."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from penstock.spark import pipeline
from penstock.spark.pipeline import Pipeline
from penstock_fuzz import spark
from penstock_fuzz.check import check
from penstock_fuzz.spark import SparkContender
from planner.many_windows import some_trial

if TYPE_CHECKING:
    from collections.abc import Mapping

LANES = 3
ON_ONE_KEY = (
    "SELECT a.ts, b.v, c.v AS w FROM a [RANGE 6], b [RANGE 9], c [PARTITION BY k ROWS 2]"
    " WHERE a.k = b.k AND b.k = c.k AND a.v - b.v < 3 AND a.v < b.v + c.v"
)
IN_FRAGMENTS = (
    "SELECT a.ts, b.v, d.s FROM a [RANGE 5], b [PARTITION BY k ROWS 3], c [RANGE 5], d [ROWS 4]"
    " WHERE a.k = b.k AND b.k = c.k AND a.v <= b.v AND c.v = d.v AND a.v + d.v > 4"
)
RESTORED = (
    "ISTREAM RESTORE (SELECT a.ts, b.k, b.v, c.v AS w"
    " FROM a [RANGE 4 SLIDE 5], b [RANGE 4 SLIDE 5], c [RANGE 4 SLIDE 5]"
    " WHERE a.k = b.k AND b.k = c.k AND NOT a.s RLIKE c.s)"
)
QUERIES = {
    "one key": (ON_ONE_KEY, "abc"),
    "fragments": (IN_FRAGMENTS, "abcd"),
    "restored": (RESTORED, "abc"),
}


@pytest.fixture(scope="module")
def engine() -> SparkContender:
    return SparkContender()


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """What the lanes of each pipeline said last, by the names of lanes."""
    found: list[Mapping[str, Any]] = []

    class Watched(Pipeline):
        def flush(self) -> None:
            super().flush()
            found.append(self.status.operators)

    monkeypatch.setattr(pipeline, "STATUS_SECONDS", 0.0)
    monkeypatch.setattr(spark, "Pipeline", Watched)
    return found


def lanes_with(label: str, operators: Mapping[str, Any]) -> dict[str, int]:
    """How many rows came to operators of this kind, by lane."""
    return {
        lane: one["rows_in"]
        for lane, several in operators.items()
        for one in several
        if one["label"].startswith(label)
    }


@pytest.mark.parametrize("evaluation", ["lazy", "eager"])
@pytest.mark.parametrize("expiration", ["lazy", "eager"])
@pytest.mark.parametrize(("query", "names"), QUERIES.values(), ids=QUERIES)
def test_the_answers_are_those_of_the_evaluator(
    query: str,
    names: str,
    evaluation: str,
    expiration: str,
    engine: SparkContender,
    reports: list[Mapping[str, Any]],
) -> None:
    draw = random.Random(f"{query} {evaluation} {expiration}")
    trial = some_trial(draw, names, query, rows=30, feeds=3, lanes=LANES)
    trial = replace(trial, join_evaluation=evaluation, join_expiration=expiration)
    found = check(trial, engine)
    assert found is None, found.text
    (operators,) = reports
    came = lanes_with("Join of 3", operators)
    assert len(came) == LANES
    # Three keys, and a lane may have none of them.
    assert sum(rows > 0 for rows in came.values()) >= 2
    fragments = {lane.rpartition(".")[0] for lane in operators}
    assert len(fragments) > 1 if names == "abcd" else len(fragments) == 1

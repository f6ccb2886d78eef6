"""State belongs to the operators that wrote it: another planner's are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError
from penstock.pipeline import bound as understanding
from penstock.pipeline.ledger import Ledger
from store.driving import Driver

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from penstock.algebra.plan import Plan

STATEMENTS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)",
    "CREATE QUERY big AS SELECT k FROM s [RANGE 5] WHERE v > 1",
    "CREATE QUERY sums AS SELECT k, SUM(v) AS sum FROM s [RANGE 5] GROUP BY k",
)


def test_the_same_planner_goes_on(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, ["big", "sums"]) as driver:
        shapes = driver.ledger.plan.shapes
        assert len(shapes) == len(driver.ledger.plan.groups)
    with Driver(tmp_path) as driver:
        assert driver.ledger.plan.shapes == shapes


def test_a_planner_that_makes_other_operators_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Driver(tmp_path, STATEMENTS, ["big", "sums"]) as driver:
        home = driver.home

    def as_they_are(plans: Mapping[str, Plan], *_: object) -> Mapping[str, Plan]:
        return plans

    # What an older planner did, which had no rules.
    monkeypatch.setattr(understanding, "plans_to_run", as_they_are)
    with pytest.raises(DataError, match='plans "big", "sums" otherwise than the one that ran it'):
        Ledger(home)

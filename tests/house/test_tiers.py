"""The budgets of random tests: each is used, and the long tier never does less."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiers

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("what", tiers.AMOUNTS)
def test_a_budget_is_used(what: str) -> None:
    assert any(f'amount("{what}")' in path.read_text("utf-8") for path in TESTS.rglob("test_*.py"))


def test_the_long_tier_does_not_do_less() -> None:
    assert all(0 < usual <= long for usual, long in tiers.AMOUNTS.values())


def test_what_is_slow_exists() -> None:
    files = [str(path.relative_to(TESTS.parent)) for path in TESTS.rglob("*.py")]
    assert all(any(path.startswith(name) for path in files) for name in tiers.SLOW)

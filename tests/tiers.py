"""The tiers of the tests: `./test --quick`, `./test`, and `./test --long`.

`conftest.py` notes the tier in the environment, where test modules and the processes of
pytest-xdist find it.
"""

from __future__ import annotations

import os

import pytest

VARIABLE = "PENSTOCK_TIER"
LONG = os.environ.get(VARIABLE) == "long"

only_long = pytest.mark.skipif(not LONG, reason="takes long: ./test --long")
"""A test that runs in the long tier only."""

SLOW = (
    "tests/bench/",
    "tests/compute/test_functions.py",
    "tests/demo/",
    "tests/docs/test_console.py",
    "tests/docs/test_python.py",
    "tests/fuzz/",
    "tests/house/",
    "tests/pipeline/",
    "tests/planner/rules/test_soundness.py",
    "tests/properties/",
    "tests/runtime/",
    "tests/spark/",
    "tests/test_external_cases.py",
    "tests/unit/cli/test_scripts.py",
)
"""Tests that `./test --quick` leaves out, and that begin first where two processes share them."""


def amount(usual: int, long: int) -> int:
    """The number of trials, kills or whatever a test does as often as there is time for."""
    return long if LONG else usual


def is_slow(name: str) -> bool:
    """Whether a file, or the test of an id that begins with it, is left out of the quick tier."""
    return name.startswith(SLOW)

"""The tiers of the tests: `./test --quick`, `./test`, and `./test --long`.

`conftest.py` notes the tier in the environment, where test modules and the processes of
pytest-xdist find it.
"""

from __future__ import annotations

import os

import pytest

VARIABLE = "PENSTOCK_TIER"

# The conditions are texts because options are not known yet when some files are read.
only_long = pytest.mark.skipif(
    "config.getoption('tier') != 'long'", reason="takes long: ./test --long"
)
"""A test that runs in the long tier only."""

not_quick = pytest.mark.skipif("config.getoption('tier') == 'quick'", reason="slow: ./test runs it")
"""A test, or a parameter of one, that the quick tier leaves out while it runs others beside it."""

SLOW = (
    "tests/bench/",
    "tests/compute/test_expressions.py",
    "tests/compute/test_functions.py",
    "tests/compute/test_special_values.py",
    "tests/connection/test_against_oracle.py",
    "tests/connection/test_questions.py",
    "tests/demo/",
    "tests/docs/test_console.py",
    "tests/docs/test_python.py",
    "tests/fuzz/",
    "tests/house/",
    # Random inputs of each operator; the contract of all of them and the stream tests stay.
    "tests/operators/test_",
    "tests/pipeline/",
    "tests/planner/test_explaining.py",
    "tests/planner/test_multiway_conditions.py",
    "tests/planner/test_multiway_explained.py",
    "tests/planner/test_partitioning.py",
    "tests/planner/rules/test_soundness.py",
    "tests/properties/",
    "tests/runtime/",
    "tests/scheduling/test_optimality.py",
    "tests/spark/",
    "tests/state/test_loop_cache.py",
    "tests/test_external_cases.py",
    "tests/unit/cli/test_scripts.py",
)
"""Tests that `./test --quick` leaves out, and that begin first where two processes share them."""


AMOUNTS = {
    "sinks written in parts": (6, 200),
    "kills while tasks write sinks": (1, 10),
    "random queries in one process": (500, 5000),
    "random queries on Spark": (40, 200),
    "random queries on pipelines without Spark": (300, 1500),
    "random queries that another plan takes over": (40, 200),
    "random questions in one process": (40, 1000),
    "random questions of pipelines without Spark": (15, 400),
    "random queries until a wrong operator is noticed": (120, 120),
    "random queries until a wrong engine is found": (200, 200),
    "attempts to shrink a failure": (1000, 1000),
    "random queries whose kinds are counted": (400, 400),
    "random queries as files": (60, 60),
    "random plans of a rule": (300, 3000),
    "random plans that a rule changes": (30, 300),
    "kills of the driver for each way of reading": (2, 10),
    "kills of workers and lane hosts": (4, 30),
    "kills of executors in an exchange": (2, 6),
    "moments at which a start is stopped": (8, 100),
}
"""The budgets of what is random, usual and long: work is counted, and never seconds.

Examples of hypothesis are said where they are drawn; `tests/conftest.py` makes them the same ones
on every run.
"""


def amount(what: str) -> int:
    """The number of trials, kills or whatever a test does as often as there is time for."""
    usual, long = AMOUNTS[what]
    return long if os.environ.get(VARIABLE) == "long" else usual


def is_slow(name: str) -> bool:
    """Whether a file, or the test of an id that begins with it, is left out of the quick tier."""
    return name.startswith(SLOW)

"""Lane hosts make operators of physical plans: they could neither parse nor plan if they wanted."""

from __future__ import annotations

import subprocess
import sys

ELSEWHERE = (
    "sqlglot",
    "penstock.binder",
    "penstock.cql",
    "penstock.pipeline",
    "penstock.planner.optimizing",
    "penstock.planner.physical.lowering",
    "penstock.planner.rules",
    "penstock.session",
    "penstock.spark",
)


def test_a_lane_host_loads_nothing_that_makes_plans() -> None:
    code = "import sys, penstock.lane_host.lane_server; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    assert "penstock.operators.join.join_specs" in loaded
    assert [one for one in loaded if one.startswith(ELSEWHERE)] == []

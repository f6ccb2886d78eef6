"""Imports point one way: each stage knows only the stages before it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "penstock"

MAY_IMPORT = {
    "errors": set[str](),
    "algebra": {"errors"},
    "cql": {"errors", "algebra"},
    "catalog": {"errors", "algebra", "scheduling", "shedding"},
    "binder": {"errors", "algebra", "cql", "catalog", "shedding"},
    "reference": {"errors", "algebra", "catalog"},
    "expected_load": {"errors", "algebra", "catalog", "planner", "files"},
    "session": {
        "errors", "algebra", "cql", "catalog", "binder", "planner", "expected_load",
    },
    "builder": {"errors", "algebra", "cql", "catalog", "binder", "session"},
    "compute": {"errors", "algebra", "catalog"},
    "state": {"errors", "algebra"},
    "scheduling": set[str](),
    "shedding": {"errors", "state"},
    "transactions": {
        "errors", "algebra", "state", "operators", "planner", "runtime", "results", "store",
    },
    "operators": {"errors", "algebra", "compute", "state"},
    "planner": {"errors", "algebra", "compute", "state", "operators", "scheduling"},
    "runtime": {
        "errors", "algebra", "compute", "state", "operators", "planner", "scheduling",
        "shedding",
    },
    "results": {"errors", "algebra", "operators", "state"},
    "store": {"errors", "algebra", "operators", "state", "results"},
    "observe": {"errors", "algebra", "catalog", "session", "planner", "store", "scheduling"},
    "connectors": {"errors", "algebra", "catalog", "compute", "state", "store"},
    "files": {"errors", "algebra", "catalog", "connectors", "runtime", "state", "store"},
    "lane_host": {
        "errors", "algebra", "catalog", "planner", "operators", "runtime", "state", "store",
        "scheduling", "shedding", "connectors", "results",
    },
    "pipeline": {
        "errors", "algebra", "catalog", "session", "planner", "operators", "runtime", "state",
        "store", "lane_host", "connectors", "scheduling", "shedding", "files",
    },
    "connection": {
        "errors", "algebra", "binder", "cql", "catalog", "session", "builder", "compute", "state",
        "operators", "planner", "runtime", "results", "store", "scheduling", "connectors", "files",
        "expected_load", "shedding", "transactions",
    },
    "spark": {
        "errors", "algebra", "cql", "catalog", "session", "state", "operators", "planner",
        "builder", "runtime", "results", "store", "observe", "lane_host", "pipeline", "connection",
        "connectors", "scheduling", "shedding", "files", "expected_load",
    },
    "testing": {
        "errors", "algebra", "cql", "catalog", "reference", "session", "operators", "planner",
        "runtime", "store", "pipeline", "spark",
    },
    "demo": {"errors", "connection", "spark"},
    "cli": {
        "errors", "algebra", "cql", "catalog", "reference", "session", "testing", "spark",
        "planner", "operators", "results", "store", "observe", "connection", "demo", "state",
        "scheduling", "files", "connectors", "expected_load",
    },
}  # fmt: skip
"""Each stage and what it may know; a stage that is not listed here fails the test."""


def stage_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_stages(path: Path) -> set[str]:
    modules = [
        node.module
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
    ]
    return {name.split(".")[1] for name in modules if name.startswith("penstock.")}


FILES = [path for path in sorted(SOURCE.rglob("*.py")) if not stage_of(path).startswith("__")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_stage_imports_only_stages_before_it(path: Path) -> None:
    stage = stage_of(path)
    assert imported_stages(path) <= MAY_IMPORT[stage] | {stage}

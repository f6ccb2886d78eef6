"""Rules about the tree itself: who may import Spark, and what the lock must hold."""

from __future__ import annotations

import ast
import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from house.checkout import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCE = ROOT / "src" / "penstock"
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
ENTRIES = re.split(r"\n(?=\w)", re.sub(r"(?m)^ *#.*\n", "", LOCK).strip())


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_only_the_spark_package_imports_pyspark() -> None:
    others = [path for path in SOURCE.rglob("*.py") if SOURCE / "spark" not in path.parents]
    guilty = [
        str(path.relative_to(ROOT))
        for path in others
        if any(name.split(".")[0] in ("pyspark", "py4j") for name in imported_modules(path))
    ]
    assert guilty == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.split("==")[0])
def test_locked_package_has_an_exact_version_and_hashes(entry: str) -> None:
    assert re.match(r"[\w-]+==[\w.]+ (; .+ )?\\\n( +--hash=sha256:[0-9a-f]{64}( \\\n)?)+$", entry)


def test_lock_holds_every_package_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[<>=]", text)[0] for text in asked}
    assert names <= {entry.split("==")[0] for entry in ENTRIES}


def test_lock_names_no_registry() -> None:
    assert "://" not in LOCK
    assert "--index" not in LOCK


def test_pre_commit_runs_what_the_tests_begin_with() -> None:
    hooks = re.findall(
        r"entry: \.venv/bin/python (.+)", (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    )
    begun = re.findall(r'^ +"\$python" (.+)', (ROOT / "test").read_text("utf-8"), re.MULTILINE)
    assert hooks == begun
    assert len(hooks) == 3

"""`penstock init` writes what runs, `penstock python` has the package, paths go by the script."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from penstock.cli.init import FILES

if TYPE_CHECKING:
    from pathlib import Path


def penstock(*arguments: object, cwd: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "penstock", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, input=given, check=False
    )


def test_a_new_project_runs_and_its_test_passes(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    made = penstock("init", folder, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert {one.name for one in folder.iterdir()} == {*FILES}
    ran = penstock("run", folder / "sensors.cql", cwd=tmp_path)
    judged = penstock("run", folder / "sensors.cql", "--engine", "oracle", cwd=folder)
    assert ran.returncode == judged.returncode == 0
    assert ran.stdout == judged.stdout != ""
    tested = penstock("test", folder, cwd=tmp_path)
    assert tested.returncode == 0, tested.stdout
    again = penstock("init", folder, cwd=tmp_path)
    assert (again.returncode, "there are files in" in again.stderr) == (2, True)


@pytest.mark.parametrize("sink", ["", "CREATE SINK o FROM q USING csv OPTIONS (path 'out');"])
def test_paths_are_seen_from_the_folder_of_the_script(tmp_path: Path, sink: str) -> None:
    inner = tmp_path / "it's"
    inner.mkdir()
    (inner / "rows.csv").write_text("at,k\n1,2\n")
    (inner / "out").mkdir()
    (inner / "out" / "taken").write_text("")
    (inner / "s.cql").write_text(
        "CREATE STREAM s (at BIGINT, k INT, WATERMARK FOR at AS at)"
        f" USING csv OPTIONS (path 'rows.csv'); CREATE QUERY q AS SELECT k FROM s [NOW]; {sink}"
    )
    ran = penstock("run", "--check", inner / "s.cql", cwd=tmp_path)
    if sink:
        assert f"there are files in {inner}/out already" in ran.stderr
    else:
        assert (ran.returncode, ran.stderr) == (0, "")


def test_python_has_the_package(tmp_path: Path) -> None:
    (tmp_path / "ask.py").write_text("import sys, penstock; print(penstock.__name__, sys.argv[1:])")
    ran = penstock("python", tmp_path / "ask.py", "-x", "y", cwd=tmp_path)
    assert ran.stdout == "penstock ['-x', 'y']\n", ran.stderr
    ran = penstock("python", cwd=tmp_path, given="import penstock; print(penstock.__name__)")
    assert ran.stdout == "penstock\n", ran.stderr

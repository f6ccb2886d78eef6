"""`penstock fuzz` on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from fuzz.wrong import LongRanges
from penstock.cli.app import app
from penstock.errors import UnknownName
from penstock_fuzz import engines

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["fuzz", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_it_says_what_it_tried_and_with_which_seed() -> None:
    code, output = run("--engine", "oracle", "--trials", "5", "--seed", "12")
    assert code == 0
    assert output.startswith("seed 12, engine oracle")
    last = output.splitlines()[-1]
    assert last.startswith("seed 12: ")
    assert "plans" in last
    assert "operators" in last
    assert "rows" in last
    for title in ("operators", "windows", "aggregates", "functions", "runs"):
        assert any(line.startswith(title) for line in output.splitlines())


def test_a_failure_is_written_and_can_be_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.CONTENDERS, "wrong", LongRanges)
    folder = tmp_path / "found"
    code, output = run(
        "--engine", "wrong", "--seed", "1", "--trials", "50", "--out", str(folder)
    )  # fmt: skip
    assert code == 1
    (file,) = folder.iterdir()
    assert f"written to {file}" in output
    assert "first difference" in output
    assert run("--engine", "wrong", "--replay", str(file))[0] == 1
    assert run("--engine", "oracle", "--replay", str(file)) == (0, f"{file}: passed\n")


@pytest.mark.parametrize("wrong", [["--strategy", "wild"], ["--engine", "steam"]])
def test_unknown_names_are_refused(wrong: list[str]) -> None:
    with pytest.raises(UnknownName):
        run("--engine", "oracle", *wrong)


def test_one_strategy_alone() -> None:
    _, output = run("--engine", "oracle", "--trials", "3", "--seed", "1", "--strategy", "direct")
    runs = next(line for line in output.splitlines() if line.startswith("runs"))
    assert "direct" in runs
    assert "upa" not in runs

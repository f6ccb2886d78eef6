"""`penstock doctor`: is this machine fit to run Penstock, and if not, what to do."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CHECKOUT = Path(__file__).parents[3]
"""The checkout's folder; meaningless in a package that was installed otherwise."""

NEWEST_PYTHON = (3, 13)

PROBE = (sys.executable, "-P", "-m", "penstock.spark.probe")
PATIENCE = 120
"""Seconds for Spark to start and answer; ten are usual."""

GIGABYTE = 10**9
WARN_BELOW = 5 * GIGABYTE
FAIL_BELOW = GIGABYTE // 2


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `remedy` says what to do unless all is well."""

    level: Literal["ok", "warn", "fail"]
    text: str
    remedy: str = ""


def doctor() -> None:
    """Check Python, Java, packages, disk, loops, Spark; say what to do about what is wrong."""
    checks: dict[str, Callable[[], Finding]] = {
        "python": check_python,
        "java": check_java,
        "packages": check_packages,
        "disk": check_disk,
        "loops": check_loops,
        "spark": check_spark,
    }
    levels = [report(name, check()).level for name, check in checks.items()]
    raise typer.Exit(1 if "fail" in levels else 0)


def report(name: str, finding: Finding) -> Finding:
    """Print one line for a check."""
    colour = {"ok": typer.colors.GREEN, "warn": typer.colors.YELLOW, "fail": typer.colors.RED}
    level = typer.style(f"{finding.level:4}", fg=colour[finding.level])
    remedy = f"; {finding.remedy}" if finding.remedy else ""
    typer.echo(f"{level}  {name:8}  {finding.text}{remedy}")
    return finding


def check_python() -> Finding:
    """The running interpreter is one we test with (older ones do not get this far)."""
    text = f"{sys.version.split()[0]} ({sys.executable})"
    if sys.version_info[:2] <= NEWEST_PYTHON:
        return Finding("ok", text)
    return Finding(
        "warn", text, f"newer than what is tested, {NEWEST_PYTHON[0]}.{NEWEST_PYTHON[1]}"
    )


def check_java() -> Finding:
    """There is a Java that Spark runs on."""
    from penstock.spark.java import find_java

    try:
        java = find_java()
    except ImportError:
        return Finding("fail", "none found", "install Java 21, or set JAVA_HOME to one")
    return Finding("ok", f"{java.version} from {java.origin} ({java.home})")


def check_packages() -> Finding:
    """The installed packages are the locked ones."""
    lock = CHECKOUT / "requirements.lock"
    if not lock.is_file():
        return Finding("warn", "no requirements.lock beside the package", "run from a checkout")
    wanted = locked_versions(lock.read_text("utf-8"))
    differences = version_differences(wanted, installed_versions())
    if differences:
        return Finding("fail", ", ".join(differences), "delete .venv and run ./penstock doctor")
    return Finding("ok", f"{len(wanted)} as locked")


def locked_versions(lock: str) -> dict[str, str]:
    r"""Package and version of each entry that holds on every machine.

    >>> locked_versions("rich==15.0.0 \\\n  --hash=sha256:00\ncolorama==0.4 ; sys_platform == 'x'")
    {'rich': '15.0.0'}
    """
    entries = [line.rstrip("\\ ") for line in lock.splitlines() if line[:1].isalnum()]
    # An entry with a condition may be absent for a good reason.
    pairs = (entry.partition("==") for entry in entries if ";" not in entry)
    return {name: version for name, _, version in pairs}


def installed_versions() -> dict[str, str]:
    """Package and version of everything this Python can import, names as in the lock."""
    from importlib.metadata import distributions

    return {
        found.metadata["Name"].lower().replace("_", "-").replace(".", "-"): found.version
        for found in distributions()
    }


def version_differences(wanted: Mapping[str, str], installed: Mapping[str, str]) -> list[str]:
    """One phrase for each package that is missing or has another version.

    >>> version_differences({"rich": "15.0.0", "typer": "1.0"}, {"rich": "14.1.0"})
    ['rich is 14.1.0 instead of 15.0.0', 'typer is missing']
    """
    return [
        f"{name} is {installed[name]} instead of {version}"
        if name in installed
        else f"{name} is missing"
        for name, version in wanted.items()
        if installed.get(name) != version
    ]


def check_disk() -> Finding:
    """The folders that Spark and Penstock write to have room."""
    folders = {Path(tempfile.gettempdir()), Path.cwd()}
    free, folder = min((shutil.disk_usage(folder).free, folder) for folder in folders)
    text = f"{free / GIGABYTE:.1f} GB free ({folder})"
    if free >= WARN_BELOW:
        return Finding("ok", text)
    level: Literal["warn", "fail"] = "warn" if free >= FAIL_BELOW else "fail"
    return Finding(level, text, f"make room there: {WARN_BELOW // GIGABYTE} GB is comfortable")


def check_loops() -> Finding:
    """The loops of usual queries are compiled: those that are missing are compiled here."""
    from penstock.connection.engines.local.warm_up import warm_up_in_parallel
    from penstock.state.loop_folder import folder, is_empty

    if is_empty():
        typer.echo("compiling the loops of queries, a minute, once ...", err=True)
    if not warm_up_in_parallel(lambda _: None):
        return Finding("fail", "cannot be compiled", "the lines above say why")
    if kept := folder():
        return Finding("ok", f"compiled ({kept})")
    return Finding("warn", "compiled, but not kept", "set NUMBA_CACHE_DIR to a folder for them")


def check_spark() -> Finding:
    """Spark starts here, and a job gets its answer through Python workers."""
    typer.echo("starting Spark, some ten seconds ...", err=True)
    began = time.monotonic()
    code, errors = run_probe()
    if code == 0:
        return Finding("ok", f"started and answered in {time.monotonic() - began:.1f} s")
    reason = errors.strip().splitlines()[-1:] or [f"ended with {code}"]
    return Finding("fail", reason[0], f"to see everything, run: {shlex.join(PROBE)}")


def run_probe() -> tuple[int, str]:
    """The exit code and stderr of the probe, which is given a minute or two.

    It is a process of its own because Spark cannot be interrupted without pages of complaints.
    """
    with subprocess.Popen(
        PROBE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            _, errors = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            return 1, f"no answer in {PATIENCE} seconds"
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    return process.returncode, errors

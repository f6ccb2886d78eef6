"""The commands of the page on clusters, on a cluster that they start themselves."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from docs.pages import ROOT, fences
from penstock.spark.java import find_java
from penstock_bench.standalone import LOOPBACK
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "users" / "cluster.md"
SCRIPT = """
CREATE STREAM cars (ts BIGINT, lane INT, WATERMARK FOR ts AS ts) USING csv OPTIONS (path '{path}');
SELECT lane, COUNT(*) AS n FROM cars [UNBOUNDED] GROUP BY lane;
"""
PROGRAM = """
import penstock
with penstock.connect(home="{home}") as db:
    db.execute("CREATE STREAM cars (ts BIGINT, lane INT, WATERMARK FOR ts AS ts)")
    found = db.query("SELECT lane, COUNT(*) AS n FROM cars [UNBOUNDED] GROUP BY lane")
    db.insert("cars", [(1, 1), (2, 2), (3, 1)])
    db.wait_idle()
    print("answer", sorted((row["lane"], row["n"]) for row in found.snapshot().to_pylist()))
"""


class Page:
    """The commands of the page, in order; each block in the surroundings of a node."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind((LOOPBACK, 0))
            self.port = str(free.getsockname()[1])
        self._shown = [
            "\n".join(line.removeprefix("$ ") for line in one.lines)
            for one in fences(PAGE)
            if one.section == "Standalone"
        ]
        self._variables = {
            **os.environ,
            "HEAD": LOOPBACK,
            "SHARED": str(folder),
            "JAVA_HOME": str(find_java().home),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_HOME": str(_spark_home()),
        }

    def block(self, number: int) -> str:
        """A block, for a port that nobody else has."""
        return self._shown[number].replace("7077", self.port)

    def start(self, number: int, log: Path) -> subprocess.Popen[bytes]:
        """Start what a block lets run on."""
        with log.open("wb") as file:
            return subprocess.Popen(
                ["bash", "-c", f"{self.block(number)}\nwait"],
                env=self._variables,
                stdout=file,
                stderr=file,
                cwd=log.parent,
                start_new_session=True,
            )

    def run(self, number: int, cwd: Path) -> str:
        """Run a block to its end; what it says."""
        done = subprocess.run(
            ["bash", "-ec", self.block(number)],
            env=self._variables,
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
        )
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
        return done.stdout


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A cluster of two workers, started as the page says."""
    _lay_out(tmp_path / "venv")
    made = Page(tmp_path)
    started = []
    try:
        started.append(made.start(0, tmp_path / "master.log"))
        _wait_for(tmp_path / "master.log", "I have been elected leader")
        for name in ("one", "two"):
            own = tmp_path / name
            own.mkdir()
            started.append(made.start(1, own / "worker.log"))
            _wait_for(own / "worker.log", "Successfully registered with master")
        yield made
    finally:
        for one in started:
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()


@only_long
def test_the_commands_for_a_standalone_cluster_give_answers(page: Page, tmp_path: Path) -> None:
    data = tmp_path / "cars"
    data.mkdir()
    (data / "one.csv").write_text("ts,lane\n1,1\n2,2\n3,1\n", "utf-8")
    (tmp_path / "app.cql").write_text(SCRIPT.format(path=data), "utf-8")
    answer = page.run(2, tmp_path)
    assert answer.split()[-4:] == ["+", "1", "|", "2"], answer
    (tmp_path / "app.py").write_text(PROGRAM.format(home=tmp_path / "other"), "utf-8")
    # At the newest instant more rows may come: it is not part of the answer yet.
    assert "answer [(1, 1), (2, 1)]" in page.run(3, tmp_path)


def _lay_out(folder: Path) -> None:
    """An environment like the one the page makes, with the packages of the one that runs this."""
    (folder / "bin").mkdir(parents=True)
    for name in ("pyvenv.cfg", "lib", "bin/python"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    # Packages of a checkout name it by the way to it.
    (folder.parent / "src").symlink_to(ROOT / "src")
    script = folder / "bin" / "penstock"
    script.write_text(f'#!/bin/sh\nexec {folder}/bin/python -m penstock "$@"\n', "utf-8")
    script.chmod(0o755)


def _wait_for(log: Path, text: str) -> None:
    deadline = time.monotonic() + 400
    while text not in log.read_text("utf-8"):
        assert time.monotonic() < deadline, log.read_text("utf-8")
        time.sleep(0.1)


def _spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent

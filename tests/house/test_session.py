"""How Spark is started."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from penstock.spark.child_session import SESSION_SETTINGS
from penstock.spark.probe import squares_add_up
from penstock.spark.spark_session import SETTINGS, launch_environment, start_session

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def started() -> Iterator[tuple[SparkSession, str]]:
    """A session, and what its start wrote to stderr (Java's own stderr included)."""
    other = SparkSession.getActiveSession()
    if other is not None:
        # Left by another file of tests: this one is about a start.
        other.stop()
    before = {name: os.environ.get(name) for name in launch_environment("local")}
    saved = os.dup(2)
    read, write = os.pipe()
    os.dup2(write, 2)
    try:
        session = start_session("test", settings={"spark.sql.shuffle.partitions": "2"})
        right = squares_add_up(session)
    finally:
        os.dup2(saved, 2)
    os.set_blocking(read, False)
    try:
        noise = os.read(read, 10_000).decode()
    except BlockingIOError:
        noise = ""
    assert right
    assert {name: os.environ.get(name) for name in before} == before
    yield session, noise
    session.stop()


def test_start_is_quiet(started: tuple[SparkSession, str]) -> None:
    assert started[1] == ""


def test_settings_are_in_force(started: tuple[SparkSession, str]) -> None:
    configuration = started[0].sparkContext.getConf()
    wanted = {**SETTINGS, "spark.master": "local[*,4]", "spark.sql.shuffle.partitions": "2"}
    # Spark puts options of its own before ours.
    java_options = wanted.pop("spark.driver.extraJavaOptions")
    assert {key: configuration.get(key) for key in wanted} == wanted
    assert {key: started[0].conf.get(key) for key in SESSION_SETTINGS} == SESSION_SETTINGS
    first = SparkSession.builder.getOrCreate()
    assert first is not started[0]
    assert {key for key in SESSION_SETTINGS if key in first.conf.getAll} == set()
    assert (configuration.get("spark.driver.extraJavaOptions") or "").endswith(java_options)


def test_workers_run_this_python(started: tuple[SparkSession, str]) -> None:
    paths = started[0].sparkContext.parallelize([0], 1).map(lambda _: sys.executable).collect()
    assert paths == [sys.executable]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_everything_listens_on_loopback(started: tuple[SparkSession, str]) -> None:
    jvm = started[0].sparkContext._jvm
    assert jvm is not None
    process = Path("/proc", str(jvm.java.lang.ProcessHandle.current().pid()))
    links = [os.readlink(link) for link in (process / "fd").iterdir()]
    inodes = {found[1] for link in links if (found := re.match(r"socket:\[(\d+)\]", link))}
    listening = [
        fields[1].rsplit(":")[0]
        for table in ("tcp", "tcp6")
        for line in (process / "net" / table).read_text().splitlines()[1:]
        if (fields := line.split())[3] == "0A" and fields[9] in inodes
    ]
    assert listening
    assert set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F"}


def test_environment_of_a_local_master(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/another/spark")
    monkeypatch.setenv("PYSPARK_PYTHON", "/another/python")
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    variables = launch_environment("local[2]")
    assert "pyspark" in variables["SPARK_HOME"]
    assert variables["PYSPARK_PYTHON"] == sys.executable
    assert variables["SPARK_LOCAL_IP"] == "127.0.0.1"


def test_environment_of_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/on/every/node/python")
    variables = launch_environment("spark://head:7077")
    assert variables["PYSPARK_PYTHON"] == "/on/every/node/python"
    assert "SPARK_LOCAL_IP" not in variables

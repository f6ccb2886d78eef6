"""Nothing of a running pipeline can be reached from outside of the machine, or by other users."""

from __future__ import annotations

import os
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest

from spark.recovery.listening import addresses, paths, receiving
from spark.recovery.processes import start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spark.recovery.processes import Driver


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    """A pipeline with all its processes, in the midst of its work."""
    scenario = make_scenario(tmp_path / "in", 11, batches=8)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    started = start_driver(tmp_path / "home", plan)
    try:
        assert started.wait_for_record(3)
        yield started
        started.finish()
        check(started.home, scenario)
    finally:
        started.kill_all()


def test_only_this_machine_and_this_user_can_reach_it(driver: Driver) -> None:
    processes = driver.processes()
    hosts = driver.processes("penstock.lane_host.lane_server")
    assert driver.process.pid in processes
    assert len(hosts) == 2
    assert driver.processes("java")
    heard = addresses(processes)
    # The JVM listens for Python, so there is something to be seen.
    assert heard
    assert [one for one in heard if not one[0].is_loopback] == []
    assert [one for one in receiving(processes) if not one[0].is_loopback] == []
    named = paths(processes)
    of_hosts = [one for one in named if one.parent.name == f"penstock-{os.getuid()}"]
    assert len(of_hosts) == 2
    for path in of_hosts:
        assert path.parent.stat().st_mode & 0o777 == 0o700
    for path in named:
        assert _is_private(path), f"others can reach {path}"


def _is_private(path: Path) -> bool:
    """Whether only the owner can connect, for which one has to be able to write."""
    folder, own = path.parent.stat(), path.stat()
    assert own.st_uid == os.getuid()
    return not own.st_mode & 0o022 or (folder.st_uid == os.getuid() and not folder.st_mode & 0o077)


def test_what_listens_is_seen(tmp_path: Path) -> None:
    """So the test above can fail."""
    tmp_path.chmod(0o755)
    path = tmp_path / "open"
    with socket.create_server(("", 0)) as everywhere, socket.socket(socket.AF_UNIX) as file:
        port = everywhere.getsockname()[1]
        file.bind(str(path))
        file.listen()
        path.chmod(0o666)
        heard = addresses([os.getpid()])
        assert path in paths([os.getpid()])
    assert (ip_address("0.0.0.0"), port) in heard
    assert not _is_private(path)
    assert not addresses([])
    assert not paths([])

"""A standalone cluster on this machine: a master, and workers of one core unless it is said."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock.spark.spark_session import launch_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

START_SECONDS = 400.0
"""How long a cluster may take to start; far more than it does on a machine at rest."""
LOOPBACK = "127.0.0.1"
MASTER = "m"
"""The name of the master; workers are called 1, 2, and so on."""


@dataclass(frozen=True)
class ClusterNode:
    """The place of a master or a worker: its address, and what runs commands there."""

    address: str = LOOPBACK
    command: tuple[str, ...] = ()


def on_loopback(_name: str) -> ClusterNode:
    """The place of everybody on a machine without networks of its own."""
    return ClusterNode()


@dataclass
class Standalone:
    """A master and its workers, each in a process group with a folder of its own.

    So processes on this machine find each other as little as those of several machines do.
    """

    folder: Path
    port: int
    variables: Mapping[str, str]
    node: Callable[[str], ClusterNode] = on_loopback
    cores: int = 1
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    workers: int = 0

    @property
    def url(self) -> str:
        """The master's address."""
        return f"spark://{self.node(MASTER).address}:{self.port}"

    @property
    def log(self) -> str:
        """All that master and workers have said."""
        return "".join(one.read_text("utf-8") for one in self.folder.glob("*.log"))

    def own_folder(self, name: str) -> Path:
        """The folder for temporary files of a process and of all that it starts."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def start(self, name: str, kind: str, *arguments: str) -> None:
        """Start a master or a worker."""
        own, node = self.own_folder(name), self.node(name)
        variables = {
            **os.environ,
            **launch_environment(self.url),
            "SPARK_LOCAL_IP": node.address,
            "TMPDIR": str(own),
            # Executors have the variables of their worker, not those of the driver.
            **self.variables,
        }
        spark_class = str(Path(variables["SPARK_HOME"]) / "bin" / "spark-class")
        program = [spark_class, f"org.apache.spark.deploy.{kind}", "--host", node.address]
        with (self.folder / f"{name}.log").open("wb") as log:
            started = subprocess.Popen(
                [*node.command, *program, *arguments, "--webui-port", "0"],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=own,
                start_new_session=True,
            )
        self.processes.append(started)

    def add_workers(self, count: int = 1) -> None:
        """Start more workers, and wait until the master knows them."""
        for _ in range(count):
            self.workers += 1
            name = str(self.workers)
            self.start(
                name, "worker.Worker", "--cores", str(self.cores),
                "--memory", "1g", "--work-dir", str(self.own_folder(name)), self.url,
            )  # fmt: skip
        self.wait_for("Registering worker", self.workers)

    def processes_on(self, name: str, part: str = "") -> list[int]:
        """The processes of a worker and all that it has started, with a text in their command."""
        return processes_in(self.own_folder(name), part)

    def wait_for(self, text: str, times: int) -> None:
        """Wait until something was said so often.

        Raises:
            InternalError: It was not.
        """
        deadline = time.monotonic() + START_SECONDS
        while self.log.count(text) < times:
            if time.monotonic() > deadline:
                raise InternalError(self.log)
            time.sleep(0.1)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process without warning; a worker goes together with its executor."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.processes.remove(process)


def processes_in(folder: Path, part: str) -> list[int]:
    """The processes whose temporary files are in a folder, with a text in their command."""
    mark = f"TMPDIR={folder}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        # It may have ended.
        with suppress(OSError):
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if part in command:
                    found.append(int(entry.name))
    return found


@contextmanager
def standalone(
    folder: Path,
    workers: int,
    variables: Mapping[str, str] | None = None,
    node: Callable[[str], ClusterNode] = on_loopback,
    cores: int = 1,
) -> Iterator[Standalone]:
    """A cluster that runs; its folder is there, and has a short path, as sockets need one."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = free.getsockname()[1]
    made = Standalone(folder, port, variables or {}, node, cores)
    try:
        made.start(MASTER, "master.Master", "--port", str(port))
        made.wait_for("I have been elected leader", 1)
        made.add_workers(workers)
        yield made
    finally:
        for process in list(made.processes):
            made.kill(process)

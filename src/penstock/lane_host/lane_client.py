"""Asking the process that keeps the lanes of a task, which is started if there is none.

A process that hangs is replaced: whoever asks looks for signs of life while it waits. Nothing is
lost by that, as lanes are made again from what is on disk.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from penstock.errors import PenstockError
from penstock.store.processes import LifeWatch, end

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 60.0
"""How long a new process may take until it listens."""
LOOK_SECONDS = 1.0
"""So often it is seen whether a process that was asked goes on."""


_started: list[subprocess.Popen[bytes]] = []
"""The processes that this one has started."""


class TaskRequest(Protocol):
    """The request of a task: for its lanes' work, or for a part of a sink."""

    @property
    def task(self) -> int:
        """The number of the task, which has a process of its own."""

    @property
    def line(self) -> str:
        """As it is sent."""


class LaneHostFailed(PenstockError):
    """The process that keeps the lanes of a task could not do its work."""


class LaneHostRefused(PenstockError):
    """The work cannot be done, and trying again will not help."""


def ask(application: str, work: TaskRequest, watched: int, nice: int = 0) -> dict[str, Any]:
    """Let the process of a task do its work; what `Done` or `WrittenPart` understands.

    Args:
        application: The Spark application that the task belongs to.
        work: What to do.
        watched: A process with whose end the one that keeps the lanes ends, too.
        nice: By how much that one stands back behind others, if it has to be started.

    Raises:
        LaneHostRefused: The work cannot be done: a file is damaged, say.
        LaneHostFailed: Something else went wrong, or the process ended in the middle of it.
    """
    address = _address(application, work.task)
    line = work.line.encode() + b"\n"
    answer, notes = _answer(address, watched, line, nice), []
    if not answer:
        # It hung, or was killed. Its lanes are on disk, so another one does the same work.
        notes = [f"the process that keeps the lanes of task {work.task} ended, and was replaced"]
        answer = _answer(address, watched, line, nice)
    if not answer:
        msg = f"the process that keeps the lanes of task {work.task} ended while it worked"
        raise LaneHostFailed(msg)
    found = json.loads(answer)
    if "refused" in found:
        raise LaneHostRefused(found["refused"])
    if "error" in found:
        raise LaneHostFailed(found["error"])
    done: dict[str, Any] = found["done"]
    done["notes"] += notes
    return done


def _answer(address: Path, watched: int, line: bytes, nice: int) -> bytes:
    """The answer to a request, one line; nothing, if the process has ended or hung."""
    with _connection(address, watched, nice) as connection, suppress(ConnectionError):
        process, _, _ = struct.unpack(
            "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        )
        watch = LifeWatch(process)
        connection.settimeout(LOOK_SECONDS)
        left, pieces = memoryview(line), list[bytes]()
        while not pieces or not pieces[-1].endswith(b"\n"):
            try:
                if left:
                    left = left[connection.send(left) :]
                    continue
                pieces.append(connection.recv(1 << 20))
                if not pieces[-1]:
                    return b""
            except TimeoutError:
                if watch.is_hung:
                    end(process)
                    return b""
        return b"".join(pieces)
    return b""


def _address(application: str, task: int) -> Path:
    """A socket that only this user can reach."""
    folder = Path(tempfile.gettempdir()) / f"penstock-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o077:
        msg = f"{folder} belongs to somebody else, or others can read it"
        raise LaneHostFailed(msg, hint="Remove it, or set TMPDIR to a folder of your own.")
    name = hashlib.sha256(application.encode()).hexdigest()[:16]
    return folder / f"{name}.{task}"


@contextmanager
def _connection(address: Path, watched: int, nice: int) -> Iterator[socket.socket]:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with connection:
        if not _connects(connection, address):
            with address.with_suffix(f"{address.suffix}.lock").open("w") as lock:
                # Another attempt of the same task may start the process at the same time.
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not _connects(connection, address):
                    _start(address, watched, nice)
                    _wait(connection, address)
        yield connection


def _connects(connection: socket.socket, address: Path) -> bool:
    try:
        connection.connect(str(address))
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    return True


def _start(address: Path, watched: int, nice: int) -> None:
    address.unlink(missing_ok=True)
    module = "penstock.lane_host.lane_server"
    # Those that have ended are not kept waiting for it to be noticed.
    _started[:] = [one for one in _started if one.poll() is None]
    process = subprocess.Popen(
        [sys.executable, "-m", module, address, str(watched), str(nice)],
        stdin=subprocess.DEVNULL,
        # Away from the worker's channels to Spark, and from its end.
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    _started.append(process)


def _wait(connection: socket.socket, address: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _connects(connection, address):
        if time.monotonic() > deadline:
            msg = f"no process for lanes listens on {address} after {START_SECONDS:.0f} seconds"
            raise LaneHostFailed(msg, hint="See the log of Spark's workers.")
        time.sleep(0.02)

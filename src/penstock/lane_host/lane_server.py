"""The process that keeps the lanes of a task: it listens on a socket of this machine, and works.

Where tasks write sinks, it keeps what a part of a sink remembers, too.

Spark gives a task to any Python worker that is free, and lets idle workers die. The lanes live
here instead, one process for each task of a Spark application on a host. `asking` starts it.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

from penstock.errors import PenstockError
from penstock.lane_host.lane_host import LEFT_SECONDS, LaneHost
from penstock.lane_host.sink_parts import SinkParts
from penstock.lane_host.sink_work import SinkWork, WrittenPart
from penstock.lane_host.work import Done, Work
from penstock.store.layout import Home
from penstock.store.processes import is_alive

IDLE_SECONDS = 900.0
"""A process that nobody has asked for so long ends."""
MOST_HOMES = 8
"""Of so many homes the lanes are kept in memory."""
ASK_SECONDS = 5.0
"""Who connects has so long to ask."""
_LOOK_AROUND = 1.0


class LaneHosts:
    """A lane host for each home that was asked for lately."""

    def __init__(self) -> None:
        self._by_home: dict[str, LaneHost] = {}
        self._sinks = SinkParts()
        self._asked = self._looked = time.monotonic()

    @property
    def are_needed(self) -> bool:
        """Somebody has asked lately, and the lanes are not kept by another process by now."""
        now = time.monotonic()
        if now - max(self._asked, self._looked) < LEFT_SECONDS:
            return True
        self._looked = now
        is_left = self._by_home and all(one.is_left for one in self._by_home.values())
        return now - self._asked < IDLE_SECONDS and not is_left

    def do(self, work: Work) -> Done:
        """Let the host of a home do its work."""
        host = self._by_home.pop(work.home, None) or LaneHost(Home(Path(work.home)))
        self._by_home[work.home] = host
        if len(self._by_home) > MOST_HOMES:
            del self._by_home[next(iter(self._by_home))]
        try:
            return host.do(work)
        finally:
            self._asked = time.monotonic()

    def write(self, work: SinkWork) -> WrittenPart:
        """Write a part of a sink."""
        try:
            return self._sinks.write(work)
        finally:
            self._asked = time.monotonic()


def serve(address: Path, watched: int) -> None:
    """Answer requests until nobody asks any more, or the process that is watched has ended."""
    hosts = LaneHosts()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    address.unlink(missing_ok=True)
    server.bind(str(address))
    server.listen(8)
    with selectors.DefaultSelector() as waiting:
        waiting.register(server, selectors.EVENT_READ)
        while hosts.are_needed and is_alive(watched):
            if not waiting.select(_LOOK_AROUND):
                continue
            connection, _ = server.accept()
            # Who has connected and asks nothing was stopped: others wait behind it.
            connection.settimeout(ASK_SECONDS)
            # Who asked may be gone before the answer is there; the next one need not suffer.
            with suppress(OSError), connection, connection.makefile("rwb") as channel:
                for line in channel:
                    channel.write(_answer(hosts, line) + b"\n")
                    channel.flush()
    address.unlink(missing_ok=True)


def _answer(hosts: LaneHosts, line: bytes) -> bytes:
    """The answer to one request: what was done, or what went wrong."""
    try:
        values = json.loads(line)
        if "sink" in values:
            done: Done | WrittenPart = hosts.write(SinkWork.from_json(values["sink"]))
        else:
            done = hosts.do(Work.from_json(values))
        return f'{{"done": {done.line}}}'.encode()
    except PenstockError as error:
        return json.dumps({"refused": str(error)}).encode()
    except Exception:  # Whatever it is, the task that asked has to know.
        return json.dumps({"error": traceback.format_exc()}).encode()


if __name__ == "__main__":
    os.nice(int(sys.argv[3]))
    serve(Path(sys.argv[1]), int(sys.argv[2]))

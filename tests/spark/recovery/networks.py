"""A network of a test's own: a namespace for each worker, with a cable that can be cut.

The master and the driver are in the middle, at the bridge; nothing of it reaches the machine's own
network. Only root may lay it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from penstock_bench.standalone import MASTER, ClusterNode

if TYPE_CHECKING:
    from collections.abc import Iterator

_BRIDGE = "bridge"


@dataclass
class Cables:
    """Namespaces, and what connects them."""

    mark: str = field(default_factory=lambda: f"pen{uuid4().hex[:6]}")
    laid: list[str] = field(default_factory=list)

    def node(self, name: str) -> ClusterNode:
        """The place of the master, or of a worker; its namespace is made when it is needed."""
        if name not in self.laid:
            self.laid.append(name)
            self._lay(name)
        address = f"10.98.0.{1 if name == MASTER else 10 + int(name)}"
        return ClusterNode(address, ("ip", "netns", "exec", self._space(name)))

    def cut(self, name: str) -> None:
        """Let nothing pass between a worker and the others; nobody is told."""
        _ip("-n", self._space(MASTER), "link", "set", f"w{name}", "nomaster")

    def mend(self, name: str) -> None:
        """Let all pass again."""
        _ip("-n", self._space(MASTER), "link", "set", f"w{name}", "master", _BRIDGE)

    def remove(self) -> None:
        """Take everything away; what runs there has ended."""
        for name in self.laid:
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", self._space(name))

    def _space(self, name: str) -> str:
        return f"{self.mark}-{name}"

    def _lay(self, name: str) -> None:
        own, middle = self._space(name), self._space(MASTER)
        _ip("netns", "add", own)
        _ip("-n", own, "link", "set", "lo", "up")
        if name == MASTER:
            device = _BRIDGE
            _ip("-n", middle, "link", "add", device, "type", "bridge")
        else:
            device = "eth0"
            ends = ("type", "veth", "peer", "name", device, "netns", own)
            _ip("-n", middle, "link", "add", f"w{name}", *ends)
            _ip("-n", middle, "link", "set", f"w{name}", "master", _BRIDGE, "up")
        _ip("-n", own, "addr", "add", f"{self.node(name).address}/24", "dev", device)
        _ip("-n", own, "link", "set", device, "up")


@contextmanager
def cables() -> Iterator[Cables]:
    """A network that is there for a while; the test is skipped where it cannot be laid."""
    if shutil.which("ip") is None:
        pytest.skip("a network of its own is laid with the command ip, of iproute2")
    if os.geteuid() != 0:
        pytest.skip("only root may lay a network of its own")
    made = Cables()
    try:
        try:
            made.node(MASTER)
        except subprocess.CalledProcessError as fault:
            pytest.skip(f"no network can be laid here: {fault.stderr}")
        yield made
    finally:
        made.remove()


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

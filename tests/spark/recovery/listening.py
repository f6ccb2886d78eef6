"""Which sockets processes listen on, from what Linux says of them."""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LISTENS = "0A"
_ACCEPTS = 0x10000


def sockets_of(processes: Iterable[int]) -> set[str]:
    """The numbers (inodes) of all sockets that processes hold open."""
    found = set()
    for process in processes:
        with suppress(OSError):  # It has ended.
            for entry in Path(f"/proc/{process}/fd").iterdir():
                with suppress(OSError):
                    target = os.readlink(entry)
                    if target.startswith("socket:["):
                        found.add(target[8:-1])
    return found


def addresses(processes: Iterable[int]) -> set[tuple[IPv4Address | IPv6Address, int]]:
    """The addresses and ports that processes listen on for TCP."""
    own = sockets_of(processes)
    return {
        (_address(local.partition(":")[0]), int(local.partition(":")[2], 16))
        for table in ("tcp", "tcp6")
        for _, local, _, state, *rest in _lines(f"/proc/net/{table}")
        if state == _LISTENS and rest[5] in own
    }


def receiving(processes: Iterable[int]) -> set[tuple[IPv4Address | IPv6Address, int]]:
    """The addresses and ports that processes take datagrams on."""
    own = sockets_of(processes)
    return {
        (_address(local.partition(":")[0]), int(local.partition(":")[2], 16))
        for table in ("udp", "udp6")
        for _, local, _, _, *rest in _lines(f"/proc/net/{table}")
        if rest[5] in own
    }


def paths(processes: Iterable[int]) -> set[Path]:
    """The UNIX sockets that processes listen on; those without a name cannot be found by others."""
    own = sockets_of(processes)
    return {
        Path(line[7])
        for line in _lines("/proc/net/unix")
        if len(line) > 7 and int(line[3], 16) & _ACCEPTS and line[6] in own
    }


def _lines(path: str) -> Iterator[list[str]]:
    for line in Path(path).read_text("utf-8").splitlines()[1:]:
        yield line.split()


def _address(text: str) -> IPv4Address | IPv6Address:
    """An address as the kernel writes it: words of 32 bits in the order of this machine."""
    words = [int(text[place : place + 8], 16) for place in range(0, len(text), 8)]
    packed = b"".join(struct.pack("=I", word) for word in words)
    if len(words) == 1:
        return IPv4Address(socket.inet_ntop(socket.AF_INET, packed))
    found = IPv6Address(socket.inet_ntop(socket.AF_INET6, packed))
    return found.ipv4_mapped or found

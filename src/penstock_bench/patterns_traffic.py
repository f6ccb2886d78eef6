"""Packets on three links, like the trace of the thesis: few addresses and protocols are most of it.

Addresses follow Zipf's law: the n-th most frequent one has a share in proportion to 1 / n ** skew.
Destinations are dealt to links so that all links are equally busy, one packet in a step of time.
A source sends to any destination, so that all links see the same sources, unless they are told to
have others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock_bench.data import SEED, BenchInputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.state.arrays import Ints, Values

LINKS = ("link1", "link2", "link3")
RATE = 1.0
"""Packets of a link in a step of time, about."""
SOURCES, SOURCE_SKEW = 2_000, 1.0
"""About the addresses of two hours of the traces of the time."""
DESTINATIONS, DESTINATION_SKEW = 2_000, 1.0
PROTOCOLS: Mapping[str, float] = {
    "nntp": 0.40,
    "smtp": 0.20,
    "telnet": 0.19,
    "http": 0.15,
    "ftp": 0.06,
}
"""Shares of packets. A join needs the protocol twice: telnet has ten times the pairs of ftp."""
BYTES = 1500
"""Of the longest packet."""

DECLARATIONS = "".join(
    f"CREATE STREAM {link} (ts BIGINT, source STRING, destination STRING, protocol STRING, "
    "bytes INT, WATERMARK FOR ts AS ts);\n"
    for link in LINKS
)


@dataclass(frozen=True)
class PacketTraffic:
    """A description of packets.

    Args:
        sources: How many addresses send on a link.
        skew: Of the sources: 0 for equal shares.
        common: The share of sources that send on all links. Each of the others is another address
            on each link.
    """

    sources: int = SOURCES
    skew: float = SOURCE_SKEW
    common: float = 1.0

    def packets(self, steps: int, links: Sequence[str]) -> BenchInputs:
        """The packets of some of the links in so many steps of time."""
        random = np.random.default_rng(SEED)
        rows = steps * len(LINKS)
        source = drawn(zipf(self.sources, self.skew), rows, random)
        destination = drawn(zipf(DESTINATIONS, DESTINATION_SKEW), rows, random)
        protocol = drawn(np.array(list(PROTOCOLS.values())), rows, random)
        size = random.integers(40, BYTES, rows, dtype=np.int32)
        link = link_of_destinations()[destination]
        made = {}
        for name in links:
            here = np.flatnonzero(link == LINKS.index(name))
            made[name] = pa.table(
                {
                    "ts": here // len(LINKS),
                    "source": _named(self.names(name), source[here]),
                    "destination": _named(addresses("192.168", DESTINATIONS), destination[here]),
                    "protocol": _named(list(PROTOCOLS), protocol[here]),
                    "bytes": size[here],
                }
            )
        return BenchInputs(made)

    def names(self, link: str) -> list[str]:
        """The addresses of sources on a link: its own, but for those that all have in common.

        The common ones are spread evenly over frequent and rare sources.

        >>> PacketTraffic(4, common=0.5).names("link1")
        ['10.1.0.0', '10.0.0.1', '10.1.0.2', '10.0.0.3']
        """
        own = addresses(f"10.{LINKS.index(link) + 1}", self.sources)
        everywhere = addresses("10.0", self.sources)
        return [
            everywhere[n] if int((n + 1) * self.common) > int(n * self.common) else own[n]
            for n in range(self.sources)
        ]


def zipf(values: int, skew: float) -> Values:
    """The shares of so many values, the most frequent first.

    >>> zipf(3, 1.0).round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    weights = 1.0 / np.arange(1, values + 1) ** skew
    shares: Values = weights / weights.sum()
    return shares


def drawn(shares: Values, rows: int, random: np.random.Generator) -> Ints:
    """Values drawn by their shares."""
    bounds = np.cumsum(shares)
    found: Ints = np.searchsorted(bounds / bounds[-1], random.random(rows), side="right")
    return found


@cache
def link_of_destinations() -> Ints:
    """The link of each destination: the one with the least packets so far, frequent ones first."""
    load = np.zeros(len(LINKS))
    links = np.zeros(DESTINATIONS, np.int64)
    for destination, share in enumerate(zipf(DESTINATIONS, DESTINATION_SKEW)):
        links[destination] = least = int(load.argmin())
        load[least] += share
    return links


def addresses(network: str, count: int) -> list[str]:
    """Addresses of a network.

    >>> addresses("10.0", 258)[-2:]
    ['10.0.1.0', '10.0.1.1']
    """
    return [f"{network}.{number >> 8}.{number & 255}" for number in range(count)]


def _named(names: Sequence[str], numbers: Ints) -> pa.Array:
    return pc.take(pa.array(names), pa.array(numbers))

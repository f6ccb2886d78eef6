"""The cases that each strategy is measured by: queries Q1 to Q4 of the thesis, their traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.session import Session
from penstock_bench.patterns_traffic import DECLARATIONS, LINKS, PacketTraffic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.algebra.plan import Plan

JOIN = """
SELECT link1.source
FROM link1 [RANGE {window}], link2 [RANGE {window}]
WHERE link1.source = link2.source AND link1.protocol = '%s' AND link2.protocol = '%s'"""
DISTINCT = "SELECT DISTINCT %s FROM link1 [RANGE {window}]"
NEGATION = """
SELECT source FROM link1 [RANGE {window}]
WHERE NOT EXISTS (SELECT * FROM link2 [RANGE {shorter}] WHERE link2.source = link1.source)"""
PUSHED_DOWN = """
SELECT quiet.source, link3.destination
FROM (
  SELECT source FROM link1 [RANGE {window}]
  WHERE NOT EXISTS (SELECT * FROM link2 [RANGE {window}] WHERE link2.source = link1.source)
) AS quiet
JOIN link3 [RANGE {window}] ON quiet.source = link3.source"""
PULLED_UP = """
SELECT link1.source, link3.destination
FROM link1 [RANGE {window}] JOIN link3 [RANGE {window}] ON link1.source = link3.source
WHERE NOT EXISTS (SELECT * FROM link2 [RANGE {window}] WHERE link2.source = link1.source)"""

SENT, KEPT = "sent", "kept"
"""The answer is sent out as elements with their ends; it is kept until they leave, besides."""
DOWN, UP = "pushed down", "pulled up"


@dataclass(frozen=True, eq=False)
class PatternCase:
    """A query in some forms, over windows of a length, with the traffic that it is asked of.

    Args:
        name: What `--only` calls it.
        title: What it is, for people.
        forms: CQL by the name of the form; {window} is the length, {shorter} that over link 2.
        traffic: The packets, for windows of a length.
        largest: The longest window that is measured in reasonable time.
        part: How much shorter windows over link 2 are.
        distinct: The columns of a DISTINCT, whose output is counted.
        optimized: Whether the planner may rewrite the forms.
    """

    name: str
    title: str
    forms: Mapping[str, str]
    traffic: Callable[[int], PacketTraffic]
    largest: int
    part: int = 1
    distinct: tuple[str, ...] = ()
    optimized: bool = True

    @property
    def links(self) -> tuple[str, ...]:
        """The links that it reads."""
        return tuple(link for link in LINKS if any(link in text for text in self.forms.values()))

    def query(self, form: str, window: int) -> str:
        """A form over windows of a length."""
        return self.forms[form].format(window=window, shorter=max(window // self.part, 1)).strip()

    def plan(self, form: str, window: int) -> Plan:
        """The plan of the query."""
        session = Session()
        session.execute(DECLARATIONS)
        return session.bind(self.query(form, window)).plan


def _answers(query: str) -> dict[str, str]:
    """A query whose answer is sent, and with DSTREAM, which has to keep it until rows leave."""
    return {SENT: query, KEPT: f"DSTREAM({query})"}


def _traced(window: int) -> PacketTraffic:
    """The same addresses at all lengths."""
    del window
    return PacketTraffic()


def _apart(window: int) -> PacketTraffic:
    """No source sends on two links."""
    del window
    return PacketTraffic(common=0.0)


def _even(share: float) -> Callable[[int], PacketTraffic]:
    """All sources are equally frequent, as many as packets in that share of the window."""
    return lambda window: PacketTraffic(max(int(window * share), 2), skew=0.0)


TEN, HUNDRED = 10, 100

CASES = (
    PatternCase("q1_ftp", "Q1: join, ftp", _answers(JOIN % ("ftp", "ftp")), _traced, 100_000),
    PatternCase(
        "q1_telnet", "Q1: join, telnet", _answers(JOIN % ("telnet", "telnet")), _traced, 100_000
    ),
    PatternCase(
        "q2_sources",
        "Q2: distinct sources",
        _answers(DISTINCT % "source"),
        _traced,
        1_000_000,
        distinct=("source",),
    ),
    PatternCase(
        "q2_pairs",
        "Q2: distinct pairs",
        _answers(DISTINCT % "source, destination"),
        _traced,
        1_000_000,
        distinct=("source", "destination"),
    ),
    PatternCase(
        "q3_apart", "Q3: negation, no source in common", _answers(NEGATION), _apart, 100_000
    ),
    PatternCase("q3", "Q3: negation", _answers(NEGATION), _traced, 1_000_000),
    PatternCase(
        "q3_often",
        "Q3: negation, link 2 over a tenth of the window",
        _answers(NEGATION),
        _even(1 / TEN),
        100_000,
        part=TEN,
    ),
    PatternCase(
        "q3_very_often",
        "Q3: negation, link 2 over a hundredth of the window",
        _answers(NEGATION),
        _even(1 / HUNDRED),
        100_000,
        part=HUNDRED,
    ),
    PatternCase(
        "q4_few",
        "Q4: few sources, so a productive join and a selective negation",
        {DOWN: PUSHED_DOWN, UP: PULLED_UP},
        _traced,
        1_000,
        optimized=False,
    ),
    PatternCase(
        "q4_many",
        "Q4: ten times as many sources as packets in a window",
        {DOWN: PUSHED_DOWN, UP: PULLED_UP},
        _even(TEN),
        100_000,
        optimized=False,
    ),
)
"""All cases, in the order in which they are shown."""

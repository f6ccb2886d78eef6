"""Reports: the work of each operator of a lane, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StreamReport:
    """The rows of a stream that came into a lane.

    Args:
        name: The stream.
        rows: How many of its rows, late ones left out.
        first: The earliest instant of them.
        latest: The latest.
        is_whole: Whether other lanes of the same operators get the same rows; else each gets some.
        columns: Of each column a sketch of its values (`penstock.state.sketches`).
    """

    name: str
    rows: int
    first: int
    latest: int
    is_whole: bool
    columns: dict[str, dict[str, int | str]]


@dataclass(frozen=True, slots=True)
class ValidityReport:
    """Rows that came to an operator, or that it sent, and how long they are valid.

    Args:
        rows: How many, those that withdraw others included.
        ending: Those of them that have an end, and withdraw nothing.
        lasting: For how many steps of time these are valid, in all; less what is withdrawn of it.
        endless: Rows without an end, less those that are withdrawn.
        since: Their instants, added up.
        always: Rows without an end that have been there from the beginning.
        first: The earliest instant of them all.
        latest: The latest.
        is_whole: Whether other lanes of the same operators get the same rows; else each gets some.
    """

    rows: int
    ending: int
    lasting: float
    endless: int
    since: float
    always: int
    first: int
    latest: int
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class MatchReport:
    """The number of times that rows of two inputs have met.

    Args:
        condition: What they meet by: equal keys, or [NOT] EXISTS.
        came: The rows of both inputs; of [NOT] EXISTS those of the left one.
        met: Pairs of rows with equal keys, or rows that were sent.
        sent: How long those that were sent are valid; None: pairs were counted.
    """

    condition: str
    came: tuple[ValidityReport, ...]
    met: int
    sent: ValidityReport | None = None


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """A probe of a join of many inputs, since it last changed their order.

    Args:
        origin: The input whose new rows lead to it.
        target: The input that is probed.
        probes: How often; once for new rows that look for others together.
        found: Rows that were found.
    """

    origin: str
    target: str
    probes: int
    found: int


@dataclass(frozen=True, slots=True)
class OperatorReport:
    """An operator: rows in and out so far, what it remembers, and the time it spent.

    `withdrawn` of the rows out are negative; `waiting` of the rows in have not been looked at. A
    filter says which `predicate` it measures and, if that has `parts`, of how many rows of a sample
    how many each lets pass. So does a join that asks for more than equal keys; `pairs` says of how
    many pairs it asked it, and how many satisfied it. Where a stream enters, `stream` tells of it;
    `reads` are the streams that it depends on. An aggregate and DISTINCT say what they are made of.
    A join by equal keys, a semi-join and an anti-join tell of the `meeting` of their inputs.

    A join says in which `structures` it keeps its inputs now, and what counts rows that may be
    withdrawn, where their ends wait. A join of many inputs tells of its `probes`, for the rows of
    each input in the order in which they are made, and how often it has `reordered` them.
    """

    label: str
    rows_in: int
    rows_out: int
    state_rows: int
    state_bytes: int
    seconds: float
    withdrawn: int = 0
    waiting: int = 0
    predicate: str | None = None
    parts: dict[str, tuple[int, int]] = field(default_factory=dict)
    stream: StreamReport | None = None
    reads: tuple[str, ...] = ()
    pairs: tuple[int, int] | None = None
    made_of: str | None = None
    meeting: MatchReport | None = None
    structures: tuple[str, ...] = ()
    probes: tuple[ProbeReport, ...] = ()
    reordered: int = 0

"""What each operator of a lane has done, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StreamReport:
    """What came into a lane of a stream.

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
class OperatorReport:
    """An operator: rows in and out so far, what it remembers, and the time it spent.

    `withdrawn` of the rows out are negative; `waiting` of the rows in have not been looked at. A
    filter says which `predicate` it measures and, if that has `parts`, of how many rows of a sample
    how many each lets pass. So does a join that asks for more than equal keys; `pairs` says of how
    many pairs it asked it, and how many satisfied it. Where a stream enters, `stream` tells of it;
    `reads` are the streams that it depends on. An aggregate and DISTINCT say what they are made of.
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

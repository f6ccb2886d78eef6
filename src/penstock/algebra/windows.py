"""Window specifications: how long a row of a stream stays valid.

What interval each gives to a row is defined in `penstock.reference.windows`. Lengths are in
steps of the stream's time unit, counts in rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from penstock.algebra.time import INFINITY, TimeUnit
from penstock.errors import Refused

LONGEST_WINDOW = 2**61
MOST_WINDOWS = 10_000
"""A row is written once for each of the windows [start, end) that it is in."""


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """One kind of window, with its parameters, and the facts that others need to know of it.

    Attributes:
        counts_rows: Whether the end of a row depends on the rows that come after it.
        added: The columns that rows get from the window, behind their own.
    """

    counts_rows: ClassVar[bool] = False
    added: ClassVar[tuple[str, ...]] = ()

    def describe(self, unit: TimeUnit) -> str:
        """The window as written in a query, without brackets."""
        raise NotImplementedError

    @property
    def span(self) -> int | None:
        """The longest time that a row stays; None: for ever, or nobody knows before other rows."""
        raise NotImplementedError

    @property
    def mean_stay(self) -> float | None:
        """The time that rows stay on average, if they come evenly; None where `span` is."""
        return self.span

    @property
    def copies(self) -> float:
        """The number of windows that a row is in, on average."""
        return 1.0

    @property
    def ends_in_order(self) -> bool:
        """Rows end in the order in which they begin, if it is over time."""
        return True

    @property
    def never_ends(self) -> bool:
        """Rows stay to the end of time."""
        return self.span is None and not self.counts_rows

    @property
    def time_slide(self) -> int | None:
        """The step of time by which the window moves on; None: it moves at every instant or row."""
        return None

    def without_slide(self) -> WindowSpec:
        """The window that moves on with every instant or row."""
        return self


def length_text(length: int, unit: TimeUnit) -> str:
    """A length of time with the largest unit that divides it; a plain number for ticks.

    >>> length_text(90_000, TimeUnit.MILLISECONDS), length_text(7, TimeUnit.TICK)
    ('90 SECONDS', '7')
    """
    from penstock.algebra.time import MICROS_PER

    if unit.micros is None:
        return str(length)
    micros = length * unit.micros
    name, size = max(
        ((name, size) for name, size in MICROS_PER.items() if micros % size == 0),
        key=lambda pair: pair[1],
    )
    count = micros // size
    return f"{count} {name}" if count == 1 else f"{count} {name}S"


def _positive(what: str, value: int | None) -> None:
    if value is not None and value <= 0:
        msg = f"{what} must be more than 0, not {value}"
        hint = "[NOW] holds one instant." if what in ("RANGE", "FIXED") else None
        raise Refused(msg, hint=hint)


@dataclass(frozen=True, slots=True)
class Range(WindowSpec):
    """The rows of the last `length` time steps, moving on every `slide` (None: at every step)."""

    length: int
    slide: int | None = None

    def __post_init__(self) -> None:
        """Refuse empty windows."""
        _positive("RANGE", self.length)
        _positive("SLIDE", self.slide)

    def describe(self, unit: TimeUnit) -> str:
        """As in CQL."""
        slide = f" SLIDE {length_text(self.slide, unit)}" if self.slide else ""
        return f"RANGE {length_text(self.length, unit)}{slide}"

    @property
    def span(self) -> int:
        """The length, and with a slide what the end is moved by."""
        return min(self.length + (self.slide or 0), INFINITY)

    @property
    def mean_stay(self) -> float:
        """The length: a slide moves both ends."""
        return self.length

    @property
    def time_slide(self) -> int | None:
        """The slide."""
        return self.slide

    def without_slide(self) -> Range:
        """The same length."""
        return Range(self.length)


@dataclass(frozen=True, slots=True)
class Fixed(WindowSpec):
    """A row is valid until the next multiple of `length` (tumbling validity)."""

    length: int

    def __post_init__(self) -> None:
        """Refuse empty windows."""
        _positive("FIXED", self.length)

    def describe(self, unit: TimeUnit) -> str:
        """As in CQL."""
        return f"FIXED {length_text(self.length, unit)}"

    @property
    def span(self) -> int:
        """The length, for rows that come at a multiple of it."""
        return min(self.length, INFINITY)

    @property
    def mean_stay(self) -> float:
        """Half of the length."""
        return (self.length + 1) / 2


@dataclass(frozen=True, slots=True)
class Hopping(WindowSpec):
    """Windows [start, start + length) that begin at every `step`, `offset` behind its multiples.

    A row is in each window that contains its ts, with the window's start and end as columns: for
    the instant of its end, when the window is complete; if `open`, from ts up to its end.
    """

    added: ClassVar[tuple[str, ...]] = ("window_start", "window_end")

    length: int
    step: int
    offset: int = 0
    open: bool = False

    def __post_init__(self) -> None:
        """Refuse empty windows, and rows that are in very many of them."""
        _positive("TUMBLE" if self.length == self.step else "HOP", self.length)
        _positive("BY", self.step)
        if self.length > LONGEST_WINDOW:
            msg = f"the windows are longer than {LONGEST_WINDOW} steps of time"
            raise Refused(msg, hint="Write [UNBOUNDED] to keep all rows.")
        if self.most > MOST_WINDOWS:
            msg = f"each row would be in {self.most} windows, more than {MOST_WINDOWS}"
            hint = "Write a longer step behind BY, or [RANGE ... SLIDE ...], which keeps rows once."
            raise Refused(msg, hint=hint)

    @property
    def most(self) -> int:
        """The number of windows that a row is in, at most."""
        return -(-self.length // self.step)

    def describe(self, unit: TimeUnit) -> str:
        """As in CQL."""
        step = f" BY {length_text(self.step, unit)}"
        kind, by = ("TUMBLE", "") if self.length == self.step else ("HOP", step)
        offset = f" OFFSET {length_text(self.offset, unit)}" if self.offset else ""
        return f"{kind} {length_text(self.length, unit)}{by}{offset}"

    @property
    def span(self) -> int:
        """Up to the end of the last window that a row is in, and its instant."""
        return self.length + (0 if self.open else 1)

    @property
    def mean_stay(self) -> float:
        """An instant; up to the end of an open window, half of its length."""
        return (self.length + 1) / 2 if self.open else 1.0

    @property
    def copies(self) -> float:
        """The number of windows that a row is in, on average."""
        return self.length / self.step

    @property
    def ends_in_order(self) -> bool:
        """A row that is in several open windows ends at each of their ends."""
        return not self.open or self.most == 1


@dataclass(frozen=True, slots=True)
class Now(WindowSpec):
    """A row is valid for the instant of its arrival."""

    def describe(self, unit: TimeUnit) -> str:
        """As in CQL."""
        del unit
        return "NOW"

    @property
    def span(self) -> int:
        """One instant."""
        return 1


@dataclass(frozen=True, slots=True)
class Unbounded(WindowSpec):
    """A row stays valid for ever."""

    def describe(self, unit: TimeUnit) -> str:
        """As in CQL."""
        del unit
        return "UNBOUNDED"

    @property
    def span(self) -> None:
        """For ever."""


@dataclass(frozen=True, slots=True)
class Since(WindowSpec):
    """Rows from a landmark on, valid for ever."""

    start: int

    def describe(self, unit: TimeUnit) -> str:
        """As in CQL."""
        return f"SINCE {_instant_text(self.start, unit)}"

    @property
    def span(self) -> None:
        """For ever."""


@dataclass(frozen=True, slots=True)
class Between(WindowSpec):
    """Rows of a fixed stretch of time, both ends included, valid for ever."""

    start: int
    end: int

    def __post_init__(self) -> None:
        """Refuse a stretch that ends before it begins."""
        if self.start > self.end:
            msg = f"BETWEEN {self.start} AND {self.end} holds no instant"
            raise Refused(msg, hint="Write the earlier instant first.")

    def describe(self, unit: TimeUnit) -> str:
        """As in CQL."""
        return f"BETWEEN {_instant_text(self.start, unit)} AND {_instant_text(self.end, unit)}"

    @property
    def span(self) -> None:
        """For ever."""


@dataclass(frozen=True, slots=True)
class Rows(WindowSpec):
    """The last `count` rows, per value of the partition columns, moving on every `slide` rows."""

    counts_rows: ClassVar[bool] = True

    count: int
    slide: int | None = None
    partition_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse empty windows."""
        _positive("ROWS", self.count)
        _positive("SLIDE", self.slide)

    def describe(self, unit: TimeUnit) -> str:
        """As in CQL."""
        del unit
        partition = f"PARTITION BY {', '.join(self.partition_by)} " if self.partition_by else ""
        slide = f" SLIDE {self.slide}" if self.slide else ""
        return f"{partition}ROWS {self.count}{slide}"

    @property
    def span(self) -> None:
        """Until enough rows have come."""

    def without_slide(self) -> Rows:
        """The same count of the same partitions."""
        return replace(self, slide=None)


def _instant_text(instant: int, unit: TimeUnit) -> str:
    text = unit.format(instant)
    return f"TIMESTAMP '{text}'" if unit is TimeUnit.TIMESTAMP else text

"""Settings of the work of lanes: how long, in which order, and how much may wait."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.catalog.durations import seconds_of
from penstock.errors import QueryError, did_you_mean
from penstock.scheduling.scheduler_list import SCHEDULERS
from penstock.scheduling.work_rules import WorkRules
from penstock.shedding.intake_rules import KINDS, IntakeRules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Value = float | str | bool | None

NONE = "none"
_SIZES = {"kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


@dataclass(frozen=True)
class WorkSettings:
    """The settings that statements make for the work of lanes.

    Attributes:
        lane_budget: Seconds that a lane works in a micro-batch; None: until all is done.
        scheduler: Who says which operator runs next.
        quantum: Seconds of a turn of round-robin.
        threshold: The slope below which Mixed takes the end of a chart as one chain.
        latency: Seconds that queries created from now on allow to their results; None: any.
        queue_limit: Bytes that may wait in all lanes before fewer rows are taken in; None: any.
        shedding: The way to choose rows that are left out when too much waits; None: none are.
        shedding_bound: Bytes that may wait in all lanes before rows are left out; None: any.
        keep_shed: Whether rows that are left out are kept aside.
        sink_lag: Results that a sink may be behind before no more rows are taken in; None: any.
        batch_rows: Rows of a stream that a micro-batch takes at most; None: any number.
        ahead_rows: Rows of a stream that may wait for another one in event time before no more of
            them are taken in; None: any number.
        incoming_limit: Bytes of a stream's rows from Python that may wait on disk before who brings
            more waits, too; None: any.
    """

    lane_budget: float | None = None
    scheduler: str = "fifo"
    quantum: float = 0.01
    threshold: float = 0.0
    latency: float | None = None
    queue_limit: int | None = None
    shedding: str | None = None
    shedding_bound: int | None = None
    keep_shed: bool = False
    sink_lag: int | None = 2_000_000
    batch_rows: int | None = 4_000_000
    ahead_rows: int | None = 8_000_000
    incoming_limit: int | None = 1 << 30

    @property
    def intake(self) -> IntakeRules:
        """The rules of intake."""
        return IntakeRules(self.queue_limit, self.shedding, self.shedding_bound, self.keep_shed)

    def rules(self, latency: Mapping[str, float]) -> WorkRules:
        """The rules of lanes, with the latencies that queries allow."""
        options = {"quantum": self.quantum, "threshold": self.threshold}
        return WorkRules(self.lane_budget, self.scheduler, options=options, latency=dict(latency))


@dataclass(frozen=True)
class Measure:
    """A setting that is no choice of a few words: how it is read, and how it is shown."""

    read: Callable[[str, str], Any]
    show: Callable[[Any], str]


def _time(key: str, text: str) -> float | None:
    if text.strip().lower() == NONE:
        return None
    return _some_time(key, text, or_none=", or none")


def _some_time(key: str, text: str, or_none: str = "") -> float:
    try:
        seconds = seconds_of(key, text)
    except QueryError:
        seconds = 0.0
    if not seconds:
        msg = f"setting \"{key}\" takes a length of time, not '{text}'"
        raise QueryError(msg, hint=f"Write SET {key} = '200 ms', or '2 s'{or_none}.")
    return seconds


def _count(key: str, text: str) -> int | None:
    if text.strip().lower() == NONE:
        return None
    digits = text.strip()
    if not digits.isdigit() or not int(digits):
        msg = f"setting \"{key}\" takes a number, not '{text}'"
        raise QueryError(msg, hint=f"Write SET {key} = 2000000, or none.")
    return int(digits)


def _shown_count(value: Value) -> str:
    return NONE if value is None else str(value)


def read_size(key: str, text: str) -> int | None:
    """The bytes that a setting gives; None for `none`.

    Raises:
        QueryError: It is no size.
    """
    if text.strip().lower() == NONE:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *(kb|mb|gb)", text.strip().lower())
    sizes = {unit.lower(): size for unit, size in _SIZES.items()}
    if found is None or not float(found[1]):
        msg = f"setting \"{key}\" takes a size, not '{text}'"
        raise QueryError(msg, hint=f"Write SET {key} = '64 MB', or kB, or GB, or none.")
    return int(float(found[1]) * sizes[found[2]])


def shown_size(value: Any) -> str:
    """A size as a setting is written."""
    if value is None:
        return NONE
    unit = next((one for one in ("GB", "MB") if float(value) >= _SIZES[one]), "kB")
    return f"{float(value) / _SIZES[unit]:g} {unit}"


def _slope(key: str, text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?: */ *s)?", text.strip().lower())
    if found is None or (not text.rstrip().endswith("s") and float(found[1])):
        msg = f"setting \"{key}\" takes a slope with its unit, not '{text}'"
        hint = f"Write SET {key} = '20 / s': a second of work frees 20 blocks. Status shows slopes."
        raise QueryError(msg, hint=hint)
    return float(found[1])


def _scheduler(key: str, text: str) -> str:
    names = [one.name for one in SCHEDULERS]
    if text.lower() not in names:
        msg = f'there is no scheduler called "{text}"'
        hint = did_you_mean(text, names, otherwise=f"Schedulers: {', '.join(names)}.")
        raise QueryError(msg, hint=hint)
    del key
    return text.lower()


def _shedding(key: str, text: str) -> str | None:
    if text.lower() not in (NONE, *KINDS):
        msg = f'there is no shedding called "{text}"'
        hint = did_you_mean(text, KINDS, otherwise=f"Write none, {' or '.join(KINDS)}.")
        raise QueryError(msg, hint=hint)
    del key
    return None if text.lower() == NONE else text.lower()


def _shown_word(value: Value) -> str:
    return NONE if value is None else str(value)


def _flag(key: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        msg = f'setting "{key}" does not take the value "{text}"'
        raise QueryError(msg, hint="It takes true or false.")
    return text.lower() == "true"


def _shown_flag(value: Value) -> str:
    return str(value).lower()


def _shown_time(value: Value) -> str:
    if value is None:
        return NONE
    seconds = float(value)
    return f"{seconds * 1000:g} ms" if seconds < 1 else f"{seconds:g} s"


def _shown_slope(value: Value) -> str:
    return f"{value:g} / s" if isinstance(value, float) and value else "0"


MEASURES: dict[str, Measure] = {
    "lane_budget": Measure(_time, _shown_time),
    "scheduler": Measure(_scheduler, str),
    "quantum": Measure(_some_time, _shown_time),
    "threshold": Measure(_slope, _shown_slope),
    "latency": Measure(_time, _shown_time),
    "queue_limit": Measure(read_size, shown_size),
    "shedding": Measure(_shedding, _shown_word),
    "shedding_bound": Measure(read_size, shown_size),
    "keep_shed": Measure(_flag, _shown_flag),
    "sink_lag": Measure(_count, _shown_count),
    "batch_rows": Measure(_count, _shown_count),
    "ahead_rows": Measure(_count, _shown_count),
    "incoming_limit": Measure(read_size, shown_size),
}
"""Each setting of `WorkSettings`."""

"""What each operator of a lane has done, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OperatorReport:
    """An operator: rows in and out so far, what it remembers, and the time it spent."""

    label: str
    rows_in: int
    rows_out: int
    state_rows: int
    state_bytes: int
    seconds: float

"""Settings of the store: how long streams keep their rows, and how much a question may read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.catalog.retain_rules import read_setting
from penstock.catalog.work_settings import Measure, read_size, shown_size
from penstock.errors import QueryError

if TYPE_CHECKING:
    from penstock.catalog.retain_rules import RetainSetting


@dataclass(frozen=True)
class StoreSettings:
    """The settings that statements make for the store.

    Attributes:
        retain: The rule for streams that declare none; None: the longest window of their queries.
        retain_parts: The retention of a stream is divided into so many sub-windows.
        ask_limit: Bytes that a question may read; None: any number.
        ask_job_rows: From so many rows on, a question is a job of Spark's; None: it never is.
    """

    retain: RetainSetting | None = None
    retain_parts: int = 60
    ask_limit: int | None = None
    ask_job_rows: int | None = 20_000_000


def _parts(key: str, text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= 10_000:
        msg = f"setting \"{key}\" takes a number of sub-windows from 1 to 10000, not '{text}'"
        raise QueryError(msg, hint=f"Write SET {key} = 60.")
    return int(text)


def _rows(key: str, text: str) -> int | None:
    if text.strip().lower() == "none":
        return None
    if not text.strip().isdecimal():
        msg = f"setting \"{key}\" takes a number of rows, or none, not '{text}'"
        raise QueryError(msg, hint=f"Write SET {key} = 20000000.")
    return int(text)


STORE_MEASURES: dict[str, Measure] = {
    "retain": Measure(
        lambda _, text: read_setting(text), lambda value: getattr(value, "text", "auto")
    ),
    "retain_parts": Measure(_parts, str),
    "ask_limit": Measure(read_size, shown_size),
    "ask_job_rows": Measure(_rows, lambda value: "none" if value is None else str(value)),
}
"""Each setting of `StoreSettings`."""

"""Pins: records that somebody reads, who may be in another process; their files stay until then."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from penstock.store.processes import is_alive

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from penstock.store.layout import Home


@dataclass(frozen=True)
class RecordPin:
    """A record that a process reads."""

    path: Path
    record: int

    def keep(self, files: Collection[str]) -> None:
        """Keep some more files of the home, instead of those that were named before."""
        draft = self.path.with_suffix(".draft")
        draft.write_text(json.dumps({"record": self.record, "files": sorted(files)}), "utf-8")
        # Who reads it meanwhile sees the one or the other.
        draft.replace(self.path)

    def release(self) -> None:
        """Let go of it; more often does no harm."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def pin_record(home: Home, number: int) -> RecordPin:
    """Keep the files of a record until the pin is released, or this process has ended."""
    folder = home.path / "pins"
    folder.mkdir(exist_ok=True)
    path = folder / f"{os.getpid()}.{uuid4().hex[:12]}.json"
    pin = RecordPin(path, number)
    pin.keep(())
    return pin


def oldest_pin(home: Home) -> float | None:
    """The time at which the oldest pin was set that is still there, in seconds since 1970."""
    pinned_records(home)
    folder = home.path / "pins"
    found = []
    for path in folder.glob("[0-9]*.json") if folder.is_dir() else ():
        with suppress(OSError):
            found.append(path.stat().st_mtime)
    return min(found, default=None)


def pinned_records(home: Home) -> list[int]:
    """The records that are pinned; pins of processes that have ended are removed."""
    return sorted(int(one["record"]) for one in _pins(home))


def kept_by_pins(home: Home) -> set[str]:
    """The files that pins name beside those of their records."""
    return {file for one in _pins(home) for file in one.get("files", ())}


def _pins(home: Home) -> Iterator[dict[str, Any]]:
    folder = home.path / "pins"
    for path in folder.glob("[0-9]*.json") if folder.is_dir() else ():
        if not is_alive(int(path.name.partition(".")[0])):
            path.unlink(missing_ok=True)
            continue
        with suppress(OSError, ValueError, KeyError):
            yield json.loads(path.read_text("utf-8"))

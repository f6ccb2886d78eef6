"""The statements that a home has run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.lane_host.plan_files import read_plan_file
from penstock.store.layout import Home

if TYPE_CHECKING:
    from pathlib import Path


def declared_in(home: Path) -> tuple[str, ...]:
    """The statements that a home has run, if it is there.

    Raises:
        DataError: It is damaged.
    """
    if not (home / "records").is_dir():
        return ()
    folder = Home(home)
    last = folder.chain.last()
    return () if last is None else tuple(read_plan_file(folder, last.plan)["statements"])

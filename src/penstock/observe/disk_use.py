"""Files of a home on disk, by kind."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from penstock.observe.facts import DiskUse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.store.layout import Home

_FOLDERS = ("records", "plans", "incoming", "checkpoint")


def disk_use(home: Home) -> dict[str, DiskUse]:
    """The files of the home by kind; those of segments have it as their ending."""
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path, size in _sized(home.segments):
        kind = path.rpartition(".")[2]
        files[kind] += 1
        sizes[kind] += size
    for name in _FOLDERS:
        for _, size in _sized(home.path / name):
            files[name] += 1
            sizes[name] += size
    return {kind: DiskUse(files[kind], sizes[kind]) for kind in files}


def _sized(folder: Path) -> Iterator[tuple[str, int]]:
    """The files below a folder and their sizes; the pipeline may remove some meanwhile."""
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                yield name, os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue

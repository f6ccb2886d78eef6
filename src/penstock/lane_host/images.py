"""Images: the state of lanes as it was after some batch, those of one task in one file.

Each file waits for the disk; a hundred lanes, each with a file of its own, would wait a hundred
times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.store.bundles import Bundle, bundle_writer
from penstock.store.records import LaneState
from penstock.store.whole_files import sync_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from penstock.store.layout import Home

    Failed = Mapping[str, Mapping[str, int]]
    """What failed so far, by query and function."""


def write_images(
    home: Home, record: int, task: int, lanes: Iterable[tuple[str, Mapping[str, pa.Table], Failed]]
) -> dict[str, LaneState]:
    """Write the state of lanes down, each with what failed in it; how it is made from there."""
    segment = home.new_segment(record, task, "image")
    path = home.segments / segment
    failures: dict[str, Failed] = {}
    with bundle_writer(path, packed=True) as writer:
        for lane, tables, failed in lanes:
            failures[lane] = failed
            for name, table in tables.items():
                writer.add_table(f"{lane} {name}", table)
        writer.about = {"failures": failures}
    sync_file(path)
    # Of the whole file: logs are those of all lanes, too, and it is written when they outgrow it.
    size = path.stat().st_size
    return {lane: LaneState(segment, size) for lane in failures}


def read_image(home: Home, image: str, lane: str) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """The state of a lane, and what failed in it.

    Raises:
        DataError: The file is missing or damaged.
    """
    bundle = Bundle(home.segments / image)
    start = f"{lane} "
    own = [name for name in bundle.names if name.startswith(start)]
    tables = {name.removeprefix(start): bundle.table(name) for name in own}
    return tables, bundle.about["failures"][lane]

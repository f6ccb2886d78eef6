"""The rows of logs that are not in sub-windows yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.lane_host.logs import Log
from penstock.operators.block import concatenated
from penstock.store.made_of_files import MadeOfFiles
from penstock.store.sub_windows.piece import table_of
from penstock.store.sub_windows.retained_rows import pieces_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from penstock.algebra.types import Schema
    from penstock.operators.block import Block
    from penstock.store.sub_windows.piece import MemoryPiece


def unsealed_pieces(
    folder: Path, logs: Sequence[str], stream: str, length: int
) -> dict[int, tuple[MemoryPiece, ...]]:
    """The rows of a stream in some logs, divided among sub-windows of a length.

    Raises:
        DataError: A log is missing or damaged.
    """
    found: dict[int, tuple[MemoryPiece, ...]] = {}
    for log in logs:
        table = rows_of_log(folder / log).get(stream)
        if table is not None and len(table):
            for number, piece in pieces_of(table, length):
                found[number] = (*found.get(number, ()), piece)
    return found


def rows_of_log(path: Path) -> dict[str, pa.Table]:
    """The rows of each stream in a log that were taken in, as they came.

    Raises:
        DataError: It is missing or damaged.
    """
    return _LOGS.of(path)


def _read(path: Path) -> dict[str, pa.Table]:
    blocks: dict[str, tuple[Schema, list[Block]]] = {}
    log = Log(path)
    for stream, arrived in log.counted():
        schema, known = log.slots.streams[stream].definition.schema, blocks.get(stream)
        blocks[stream] = (schema, [*(known[1] if known else []), arrived.block])
    return {
        stream: table_of(concatenated(several), schema)
        for stream, (schema, several) in blocks.items()
    }


_LOGS = MadeOfFiles(_read)


def forget_logs(folder: Path, logs: Sequence[str]) -> None:
    """Logs whose rows are in sub-windows now: hardly anybody will ask for them again."""
    _LOGS.forget(folder / one for one in logs)

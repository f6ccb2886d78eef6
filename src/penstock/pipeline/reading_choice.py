"""The choice of who reads the files of a micro-batch: each task all of them, or each a part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connectors.generate import is_generated
from penstock.errors import QueryError, did_you_mean
from penstock.pipeline.pieces import (
    ALL_ROWS,
    ROW_BYTES,
    cost_of,
    pieces_between,
    pieces_of,
    pieces_of_rows,
    whole_piece,
)
from penstock.pipeline.reading import FileReading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.catalog.definitions import StreamDefinition
    from penstock.pipeline.file_cuts import FilesShare
    from penstock.pipeline.pieces import FilePiece
    from penstock.pipeline.reading import Way

SETTING = "spark.penstock.reading"
"""The setting of Spark's that says who reads files."""
WANTED: dict[str, Way | None] = {
    "auto": None,
    "whole": "whole",
    "divided": "divided",
    "job": "job",
}
JOB_BYTES = 1 << 20
"""A Spark job takes as long, for each task, as reading so many bytes does."""


def wanted_way(text: str) -> Way | None:
    """The way that the setting asks for; None: the one that takes least.

    Raises:
        QueryError: It asks for none that there is.
    """
    known = text.strip().lower()
    if known not in WANTED:
        msg = f'{SETTING} is "{text}": files are not read so'
        otherwise = f"One of {', '.join(WANTED)}."
        raise QueryError(msg, hint=did_you_mean(known, WANTED, otherwise=otherwise))
    return WANTED[known]


def chosen_way(cost: int, tasks: int, *, is_local: bool) -> tuple[Way, str]:
    """The way that takes least, for files that cost so much to be read once, and why."""
    if tasks == 1:
        return "whole", "by the only task"
    if is_local:
        return "divided", "each by one task, as all run on this machine and find what others read"
    if cost <= JOB_BYTES:
        return "whole", "by every task, as they are so small that another job would take longer"
    return "job", (
        "each by one task, in a job before that of the lanes, as a shared folder may show late"
        " what other machines write"
    )


def begun_reading(
    record: int,
    files: Mapping[str, FilesShare],
    definitions: Mapping[str, StreamDefinition],
    tasks: int,
    *,
    is_local: bool,
    wanted: Way | None,
) -> tuple[FileReading, str]:
    """The reading of the files of a batch in the wanted way, or the best; and why in that."""
    paths = {stream: str(one.folder.path) for stream, one in files.items()}
    costs = {
        stream: {name: _cost(definitions[stream], one, name) for name in one.names}
        for stream, one in files.items()
    }
    total = sum(sum(one.values()) for one in costs.values())
    way, why = chosen_way(total, tasks, is_local=is_local)
    if wanted is not None and wanted != way:
        way, why = wanted, f'as {SETTING} is "{wanted}"'
    if way == "whole":
        pieces = [_whole(stream, one) for stream, one in files.items()]
    else:
        pieces = [
            piece
            for stream, one in files.items()
            for piece in _pieces(definitions[stream], one, costs[stream], tasks)
        ]
    return FileReading.begin(record, way, paths, pieces), f"{way}, {why}"


def _cost(definition: StreamDefinition, share: FilesShare, name: str) -> int:
    if is_generated(definition) and share.stop is not None:
        return (share.stop - share.start) * ROW_BYTES
    return cost_of(share.folder, name)


def _whole(stream: str, share: FilesShare) -> FilePiece:
    return whole_piece(stream, share.names, (share.start, share.stop))


def _pieces(
    definition: StreamDefinition, share: FilesShare, costs: Mapping[str, int], tasks: int
) -> list[FilePiece]:
    whole = _whole(definition.name, share)
    if is_generated(definition):
        return pieces_of_rows(definition.name, share.names[0], whole.rows, tasks)
    if share.folder.is_inserted:
        # Which rows are late follows from the order in which they were brought.
        return [whole]
    if whole.rows != ALL_ROWS:
        return pieces_between(definition, share.folder, share.names[0], whole.rows, tasks)
    return pieces_of(definition, share.folder, costs, tasks)

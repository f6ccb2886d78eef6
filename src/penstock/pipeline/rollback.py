"""A home whose last micro-batch is damaged: its record is taken back, and the batch run again.

All that a batch reads is still where it was: files, Spark's offsets, rows from Python, which are
removed one batch later. So a damaged file that came with the newest record costs a batch, and no
answer. What older records brought cannot be made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import DataError
from penstock.pipeline.sweeping import newest_in_sinks, state_of
from penstock.store.bundles import Bundle
from penstock.store.layout import number_of

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.store.layout import Home
    from penstock.store.records import Record


def step_back(home: Home) -> str | None:
    """Take the newest record back if a file that came with it is damaged; if so, what was done.

    It stays if that would not help: the state before it is gone, or a sink has its results. Then
    the file is refused by name when it is read. Nobody else may use the home.
    """
    record = home.chain.last()
    if record is None or record.kind != "batch":
        return None
    own = [one for one in _files_of(record) if number_of(one) == record.number]
    damaged = _first_damaged(home, own)
    if damaged is None or newest_in_sinks(home) >= record.number:
        return None
    try:
        before = home.chain.read(record.number - 1)
    except DataError:
        return None
    if _first_damaged(home, _files_of(before), whole=False) is not None:
        return None
    by_spark = _batch_of_spark(home, record, before)
    if by_spark is not None and not _spark_steps_back(*by_spark):
        return None
    home.chain.mark_damaged(record.number)
    return f"{damaged}; its micro-batch, record {record.number}, is run again"


def _batch_of_spark(home: Home, record: Record, before: Record) -> tuple[Path, int] | None:
    """The checkpoint and the micro-batch that a record's rows came by, if Spark brought them."""
    if record.batch is not None and record.batch != before.batch:
        return home.checkpoint, record.batch[1]
    for stream, one in record.frames.items():
        if one != before.frames.get(stream):
            return home.frame_checkpoint(stream), one[1]
    return None


def _files_of(record: Record) -> list[str]:
    """The files that a record needs, but for the rows that questions are asked of."""
    own = {one.file for one in record.unsealed if number_of(one.file) == record.number}
    return sorted(state_of(record) | set(record.results) | own)


def _first_damaged(home: Home, names: list[str], *, whole: bool = True) -> str | None:
    """The fault of the first file that cannot be read; not all of it is, unless asked."""
    for name in names:
        try:
            bundle = Bundle(home.segments / name)
            for part in bundle.names if whole else ():
                bundle.table(part)
        except DataError as fault:
            return fault.message
    return None


def _spark_steps_back(checkpoint: Path, batch: int) -> bool:
    """Let Spark run a micro-batch again, with the same offsets; False if it cannot."""
    offsets, commits = checkpoint / "offsets", checkpoint / "commits"
    is_known = (offsets / str(batch)).exists() and (
        batch == 0 or (commits / str(batch - 1)).exists()
    )
    if not is_known or (commits / str(batch + 1)).exists():
        return False
    # What it was about to read behind that, it plans anew.
    for path in (offsets / str(batch + 1), commits / str(batch)):
        path.unlink(missing_ok=True)
        (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
    return True

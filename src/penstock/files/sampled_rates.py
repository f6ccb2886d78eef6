"""The rate of a stream as the first rows of its files have it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.connectors.connector_list import source_format
from penstock.connectors.memory import is_inserted
from penstock.files.earliest_rows import event_times
from penstock.files.folders import declared_folder, is_folder

if TYPE_CHECKING:
    from penstock.catalog.definitions import StreamDefinition
    from penstock.state.arrays import Ints

SOME_FILES = 5
"""So many files are looked at, if the first have hardly a row."""
SOME_ROWS = 100
"""With so many rows no further file is looked at."""
SOME_BYTES = 256 << 10
"""The part of a text file that is looked at."""


def rate_of_first_rows(definition: StreamDefinition) -> float | None:
    """Rows in a step of event time, None if there are no two of different times.

    Raises:
        DataError: The path is not there, or a file is not as declared.
        BrokenFileError: A file is not of its format.
        OSError: A file cannot be read.
    """
    if is_inserted(definition.format) or not is_folder(definition):
        return None
    folder = declared_folder(definition)
    count, low, high = 0, 0, 0
    for one in folder.new_files(())[:SOME_FILES]:
        times = _first_times(definition, folder.path_of(one.name))
        if len(times) == 0:
            continue
        least, most = int(times.min()), int(times.max())
        low, high = (min(low, least), max(high, most)) if count else (least, most)
        count += len(times)
        if count >= SOME_ROWS:
            break
    # So many rows have one space less between them.
    return (count - 1) / (high - low) if high > low else None


def _first_times(definition: StreamDefinition, path: Path) -> Ints:
    """The event times in the first part of a file."""
    if not source_format(definition.format).keeps_unreadable:
        return event_times(definition, path)
    with tempfile.NamedTemporaryFile(suffix=".txt") as part:
        with pa.input_stream(str(path)) as file:
            content = bytes(file.read(SOME_BYTES))
        whole = len(content) < SOME_BYTES
        part.write(content if whole else content[: content.rfind(b"\n") + 1])
        part.flush()
        return event_times(definition, Path(part.name))

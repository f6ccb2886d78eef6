"""The rows of files as they are handed to lanes: read as declared, and divided."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.types import BIGINT, TIMESTAMP, Field, Schema, to_arrow
from penstock.connectors.connector_list import source_format
from penstock.connectors.file_content import BrokenFileError
from penstock.connectors.generate import is_generated
from penstock.connectors.generated_rows import Generator
from penstock.connectors.memory import is_inserted
from penstock.connectors.parquet import PARQUET
from penstock.errors import DataError
from penstock.files.declared_table import declared_table
from penstock.lane_host.logs import rows_part
from penstock.lane_host.row_slots import INSTANT, OPENING, RAW, raw_of, slots_for
from penstock.pipeline.pieces import ALL_ROWS, whole_piece
from penstock.pipeline.row_division import DeliveryDivision
from penstock.runtime.arriving_columns import read_columns
from penstock.runtime.lateness import latest_of, watermark_after

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from penstock.algebra.types import Type
    from penstock.catalog.definitions import StreamDefinition
    from penstock.connectors.file_content import FileContent
    from penstock.files.folders import Folder
    from penstock.lane_host.deliveries import Deliveries
    from penstock.pipeline.pieces import FilePiece
    from penstock.state.arrays import Ints

UNFINISHED_SECONDS = 4.0
"""A file that cannot be read, and was changed less than so long ago, may be being written. Feeds
start again after a failure, so often that it is older then."""


@dataclass(frozen=True)
class ReadRows:
    """The rows of a piece.

    Args:
        columns: The declared columns.
        rows: The rows in the common format.
        latest: The latest instant among them; BEGINNING if none has one.
        is_broken: Whether the only file of the piece cannot be read: one row says why.
    """

    columns: Mapping[str, pa.Array]
    rows: pa.Table
    latest: int
    is_broken: bool


@dataclass(frozen=True)
class FileRows:
    """The facts that a task has of a stream whose files it reads.

    Args:
        definition: The stream.
        divisions: How its rows are divided, for each delivery.
        tasks: How many tasks there are.
    """

    definition: StreamDefinition
    divisions: tuple[DeliveryDivision, ...]
    tasks: int

    def read(self, folder: Folder, piece: FilePiece) -> ReadRows:
        """The rows of a piece.

        Raises:
            DataError: A file of rows that were brought is damaged.
            BrokenFileError: A file cannot be read, but may be complete in a moment.
        """
        if is_generated(self.definition):
            return self._generated(piece)
        piece = self._narrowed(folder, piece)
        columns, raw, lengths, broken = self._columns(folder, piece)
        rows = in_slots(self.definition, columns)
        if raw.null_count < len(raw):
            rows = rows.append_column(RAW, raw)
        if is_inserted(self.definition.format) and len(lengths) > 1:
            opening = _openings(rows[INSTANT], lengths, self.definition.slack)
            rows = rows.append_column(OPENING, opening)
        if piece.rows != ALL_ROWS:
            chosen = slice(*piece.rows)
            columns = {name: one[chosen] for name, one in columns.items()}
            rows = rows[chosen]
        latest = latest_of(rows[INSTANT])
        return ReadRows(columns, rows, latest, broken and len(piece.names) == 1)

    def _generated(self, piece: FilePiece) -> ReadRows:
        """The rows of a piece that are made up."""
        start, stop = piece.rows
        assert stop is not None
        columns = Generator(self.definition).rows(start, stop)
        rows = in_slots(self.definition, columns)
        return ReadRows(columns, rows, latest_of(rows[INSTANT]), is_broken=False)

    def shares(self, read: ReadRows, task: int | None = None) -> Iterator[tuple[str, pa.Table]]:
        """The rows of each lane, by the names that they have in a log; only those of a task's."""
        for division in self.divisions:
            codes = division.codes
            own = None if task is None else _codes_of(codes, task, self.tasks)
            for code, share in division.shares(read.columns, read.rows, own):
                yield rows_part(code, self.definition.name), share

    def event_times(self, folder: Folder, name: str) -> Ints:
        """The event times of the rows of a file, as tasks take them; INFINITY where there is none.

        A file that cannot be read counts as one row: tasks say what is wrong with it.

        Raises:
            DataError: A file of rows that were brought is damaged.
        """
        try:
            columns = self._timed_columns(folder, name)
        except BrokenFileError:
            return np.full(1, INFINITY, np.int64)
        times = _number(columns[self.definition.time_column]).fill_null(INFINITY)
        found: Ints = times.to_numpy(zero_copy_only=False)
        return found

    def group_rows(self, folder: Folder, name: str) -> list[int]:
        """The rows of each group of rows in a file, where it says so; none, if nobody knows."""
        counting = source_format(self._format).row_groups
        return counting(folder.path_of(name)) if counting else []

    def _timed_columns(self, folder: Folder, name: str) -> dict[str, pa.Array]:
        """The columns of a file; of one whose rows can all be read only that with event times."""
        if source_format(self._format).read_groups is None:
            return self._columns(folder, whole_piece(self.definition.name, [name]))[0]
        kept = [one for one in _kept(self.definition) if one.name == self.definition.time_column]
        path = folder.path_of(name)
        try:
            columns = self._rows(path, name, Schema(tuple(kept)), None)
        except DataError as fault:
            # One row, which says why.
            columns = self._reason(path, Schema(tuple(kept)), fault)
        return {self.definition.time_column: columns[0]}

    @property
    def _format(self) -> str:
        """The format of the files, also of those with rows that were brought."""
        inserted = is_inserted(self.definition.format)
        return PARQUET.name if inserted else self.definition.format or ""

    def _narrowed(self, folder: Folder, piece: FilePiece) -> FilePiece:
        """Of a file that is cut, only the groups of rows that have some of those taken in."""
        if piece.rows == ALL_ROWS or piece.groups is not None:
            return piece
        start, stop = piece.rows
        ends = np.cumsum([0, *self.group_rows(folder, piece.names[0])])
        if len(ends) < 3:
            return piece
        first = int(ends.searchsorted(start, "right")) - 1
        last = len(ends) - 1 if stop is None else int(ends.searchsorted(stop, "left"))
        before = int(ends[first])
        rows = (start - before, None if stop is None else stop - before)
        return replace(piece, groups=(first, last), rows=rows)

    def _columns(
        self, folder: Folder, piece: FilePiece
    ) -> tuple[dict[str, pa.Array], pa.Array, list[int], bool]:
        """The declared columns, of some rows the place; the rows of each file; if one is broken."""
        schema = _kept(self.definition)
        groups = None if piece.groups is None else range(*piece.groups)
        read, broken = [], False
        for name in piece.names:
            try:
                read.append(self._rows(folder.path_of(name), name, schema, groups))
            except (BrokenFileError, DataError) as fault:
                read.append(self._reason(folder.path_of(name), schema, fault))
                broken = True
        *whole, raw = [pa.concat_arrays(pieces) for pieces in zip(*read, strict=True)]
        lengths = [len(one[-1]) for one in read]
        return dict(zip(schema.names, whole, strict=True)), raw, lengths, broken

    def _rows(
        self, path: Path, name: str, schema: Schema, groups: range | None
    ) -> tuple[pa.Array, ...]:
        """The columns of a file, and the place of rows without time; rows that cannot be read last.

        Raises:
            BrokenFileError: It is broken.
            DataError: It is not as declared.
        """
        content = self._read(path, schema, groups)
        source = f'stream "{self.definition.name}", file {path}'
        columns = read_columns(source, schema, declared_table(source, content, name, schema))
        places = self._places(path, content, dict(zip(schema.names, columns, strict=True)))
        if not content.unreadable:
            return (*columns, places)
        raw = [raw_of(f"{path}, {one.place}", one.text, one.why) for one in content.unreadable]
        whole = [pa.concat_arrays([one, pa.nulls(len(raw), one.type)]) for one in columns]
        return (*whole, pa.concat_arrays([places, pa.array(raw, pa.string())]))

    def _reason(
        self, path: Path, schema: Schema, fault: BrokenFileError | DataError
    ) -> tuple[pa.Array, ...]:
        """One row without values for a file that is broken, or not as declared; its text says why.

        So it is kept with what else cannot be read, and the others go on.
        """
        # What was brought was written by us: if it cannot be read, the home is damaged.
        if is_inserted(self.definition.format):
            raise DataError(fault.message) from fault
        age = time.time() - path.stat().st_mtime
        if isinstance(fault, BrokenFileError) and age < UNFINISHED_SECONDS:
            raise fault
        nulls = [pa.nulls(1, to_arrow(one)) for one in schema.types]
        return (*nulls, pa.array([raw_of(str(path), fault.message)], pa.string()))

    def _places(
        self, path: Path, content: FileContent, columns: Mapping[str, pa.Array]
    ) -> pa.Array:
        """The positions of rows that have no event time; they are not taken in."""
        times = columns[self.definition.time_column]
        if not times.null_count:
            return pa.nulls(len(times), pa.string())
        numbers = np.flatnonzero(times.is_null().to_numpy(zero_copy_only=False))
        file = "insert" if is_inserted(self.definition.format) else str(path)
        places = [f"{file}, {content.place_of(number)}" for number in numbers.tolist()]
        texts = pa.array(places, pa.string())
        return pc.replace_with_mask(pa.nulls(len(times), pa.string()), times.is_null(), texts)

    def _read(self, path: Path, schema: Schema, groups: range | None) -> FileContent:
        known = source_format(self._format)
        source, options = f'stream "{self.definition.name}"', self.definition.options
        if groups is not None and known.read_groups is not None:
            return known.read_groups(source, path, schema, options, groups)
        assert known.read is not None
        return known.read(source, path, schema, options)


def in_slots(definition: StreamDefinition, columns: Mapping[str, pa.Array]) -> pa.Table:
    """Columns of a stream as a log has them."""
    own = slots_for([definition]).streams[definition.name]
    made = {INSTANT: _number(columns[definition.time_column])}
    for column, slot in zip(columns.values(), own.slots, strict=True):
        if slot is not None:
            made[slot.name] = _number(column) if slot.type == TIMESTAMP else column
    return pa.table(made)


def file_rows(deliveries: Deliveries, definition: StreamDefinition) -> FileRows:
    """The facts that tasks need of a stream whose files they read."""
    divisions = tuple(
        DeliveryDivision.of(one, number * deliveries.width)
        for number, one in enumerate(deliveries.of_stream[definition.name])
    )
    return FileRows(definition, divisions, deliveries.tasks)


def _codes_of(codes: range, task: int, tasks: int) -> range:
    """Those of some codes that are for a task."""
    return range(codes.start + (task - codes.start) % tasks, codes.stop, tasks)


def _openings(times: pa.ChunkedArray, lengths: Sequence[int], slack: int) -> pa.Array:
    """The watermark that the files before its own lead to, for each row."""
    found, start, latest = [], 0, BEGINNING
    for length in lengths:
        found.append(np.full(length, watermark_after(latest, slack)))
        latest = max(latest, latest_of(times[start : start + length]))
        start += length
    return pa.array(np.concatenate(found))


def _kept(definition: StreamDefinition) -> Schema:
    """The columns as files have them: in rows that were brought, timestamps are numbers."""
    if not is_inserted(definition.format):
        return definition.schema
    return Schema(tuple(Field(one.name, inserted_type(one.type)) for one in definition.schema))


def inserted_type(type_: Type) -> Type:
    """The type of a column in files of inserted rows: timestamps as microseconds."""
    return BIGINT if type_ == TIMESTAMP else type_


def _number(column: pa.Array) -> pa.Array:
    """Instants as numbers, as queries count them."""
    if pa.types.is_timestamp(column.type):
        return column.view(pa.int64())
    return (column.cast(pa.int32()) if pa.types.is_date(column.type) else column).cast(pa.int64())

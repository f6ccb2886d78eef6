"""The rows of files as a task writes them into its log: those of its own lanes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.time import INFINITY
from penstock.algebra.types import BIGINT, TIMESTAMP, Field, Schema, to_arrow
from penstock.connectors.connector_list import source_format
from penstock.connectors.file_content import BrokenFileError
from penstock.connectors.memory import is_inserted
from penstock.connectors.parquet import PARQUET
from penstock.errors import DataError
from penstock.files.declared_table import declared_table
from penstock.lane_host.logs import rows_part
from penstock.lane_host.routable_keys import key_columns
from penstock.lane_host.row_slots import INSTANT, RAW, raw_of, slots_for
from penstock.runtime.arriving_columns import read_columns
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from penstock.algebra.expressions import Expression
    from penstock.algebra.types import Type
    from penstock.catalog.definitions import StreamDefinition
    from penstock.connectors.file_content import FileContent
    from penstock.files.folders import Folder
    from penstock.lane_host.deliveries import Deliveries
    from penstock.state.arrays import Ints

UNFINISHED_SECONDS = 4.0
"""A file that cannot be read, and was changed less than so long ago, may be being written. Feeds
start again after a failure, so often that it is older then."""


@dataclass(frozen=True)
class DeliveryDivision:
    """The division of rows by a delivery.

    Args:
        first: The code of its first lane.
        lanes: How many lanes there are; a single one is `first`.
        keys: What divides the rows; None if each goes to all lanes.
    """

    first: int
    lanes: int
    keys: tuple[Expression, ...] | None


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

    def parts(
        self,
        folder: Folder,
        names: Sequence[str],
        task: int,
        start: int = 0,
        stop: int | None = None,
    ) -> Iterator[tuple[str, pa.Table]]:
        """The rows of files that a task's lanes read, by the names that they have in a log.

        Of all rows, those from `start` on to before `stop`.

        Raises:
            DataError: A file of rows that were brought is damaged.
            BrokenFileError: A file cannot be read, but may be complete in a moment.
        """
        columns, raw = self._columns(folder, names)
        if start or stop is not None:
            rows_read = slice(start, stop)
            columns = {name: one[rows_read] for name, one in columns.items()}
            raw = raw[rows_read]
        rows = in_slots(self.definition, columns)
        if raw.null_count < len(raw):
            rows = rows.append_column(RAW, raw)
        for division in self.divisions:
            for code, chosen in _shares(division, columns, len(rows), self.tasks, task):
                share = rows if chosen is None else rows.take(pa.array(chosen))
                if len(share):
                    yield rows_part(code, self.definition.name), share

    def event_times(self, folder: Folder, name: str) -> Ints:
        """The event times of the rows of a file, as tasks take them; INFINITY where there is none.

        A file that cannot be read counts as one row: tasks say what is wrong with it.

        Raises:
            DataError: A file of rows that were brought is damaged.
        """
        try:
            columns, _ = self._columns(folder, [name])
        except BrokenFileError:
            return np.full(1, INFINITY, np.int64)
        times = _number(columns[self.definition.time_column]).fill_null(INFINITY)
        found: Ints = times.to_numpy(zero_copy_only=False)
        return found

    def _columns(
        self, folder: Folder, names: Sequence[str]
    ) -> tuple[dict[str, pa.Array], pa.Array]:
        """The declared columns of all files, one after the other, and of some rows the place."""
        schema = _kept(self.definition)
        read = [self._rows_or_reason(folder.path_of(name), name, schema) for name in names]
        *whole, raw = [pa.concat_arrays(pieces) for pieces in zip(*read, strict=True)]
        return dict(zip(schema.names, whole, strict=True)), raw

    def _rows_or_reason(self, path: Path, name: str, schema: Schema) -> tuple[pa.Array, ...]:
        """The columns of a file, and the place of rows without time; rows that cannot be read last.

        A file that is broken, or not as declared, becomes one row without values, whose text says
        why: so it is kept with what else cannot be read, and the others go on. All tasks read it,
        and find the same.
        """
        try:
            content = self._read(path, schema)
            source = f'stream "{self.definition.name}", file {path}'
            columns = read_columns(source, schema, declared_table(source, content, name, schema))
        except (BrokenFileError, DataError) as fault:
            # What was brought was written by us: if it cannot be read, the home is damaged.
            if is_inserted(self.definition.format):
                raise DataError(fault.message) from fault
            age = time.time() - path.stat().st_mtime
            if isinstance(fault, BrokenFileError) and age < UNFINISHED_SECONDS:
                raise
            nulls = [pa.nulls(1, to_arrow(one)) for one in schema.types]
            return (*nulls, pa.array([raw_of(str(path), fault.message)], pa.string()))
        places = self._places(path, content, dict(zip(schema.names, columns, strict=True)))
        if not content.unreadable:
            return (*columns, places)
        raw = [raw_of(f"{path}, {one.place}", one.text, one.why) for one in content.unreadable]
        whole = [pa.concat_arrays([one, pa.nulls(len(raw), one.type)]) for one in columns]
        return (*whole, pa.concat_arrays([places, pa.array(raw, pa.string())]))

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

    def _read(self, path: Path, schema: Schema) -> FileContent:
        format_ = PARQUET.name if is_inserted(self.definition.format) else self.definition.format
        read = source_format(format_).read
        assert read is not None
        source = f'stream "{self.definition.name}"'
        return read(source, path, schema, self.definition.options)


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
    found = []
    for number, one in enumerate(deliveries.of_stream[definition.name]):
        first = number * deliveries.width
        if one.route is None:
            found.append(DeliveryDivision(first + one.task, 1, None))
        else:
            found.append(DeliveryDivision(first, one.lanes, one.keys))
    return FileRows(definition, tuple(found), deliveries.tasks)


def _shares(
    division: DeliveryDivision, columns: Mapping[str, pa.Array], rows: int, tasks: int, task: int
) -> Iterator[tuple[int, np.ndarray[tuple[int], np.dtype[np.int64]] | None]]:
    """The codes that are a task's own, and the places of their rows; None: of all rows."""
    codes = range(division.first, division.first + division.lanes)
    own = [code for code in codes if code % tasks == task]
    if division.keys is None or division.lanes == 1:
        yield from ((code, None) for code in own)
        return
    lanes = lanes_of(key_columns(division.keys, columns), rows, division.lanes)
    for code in own:
        yield code, np.flatnonzero(lanes == code - division.first)


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

"""The rows of Parquet files as a task writes them into its log: those of its own lanes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.algebra.types import BIGINT, TIMESTAMP, Field, Schema, to_arrow
from penstock.connectors.memory import is_inserted
from penstock.errors import DataError, PenstockError
from penstock.lane_host.logs import rows_part
from penstock.lane_host.routable_keys import key_columns
from penstock.lane_host.row_slots import BREAK, INSTANT, RAW, slots_for
from penstock.runtime.arriving_columns import read_columns
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from penstock.algebra.expressions import Expression
    from penstock.algebra.types import Type
    from penstock.catalog.definitions import StreamDefinition
    from penstock.lane_host.deliveries import Deliveries
    from penstock.pipeline.folders import Folder

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is called whose rows have NULL."""

UNFINISHED_SECONDS = 4.0
"""A file that cannot be read, and was changed less than so long ago, may be being written. Feeds
start again after a failure, so often that it is older then."""


class BrokenFileError(PenstockError):
    """A file is no Parquet file, or not yet."""


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
        self, folder: Folder, names: Sequence[str], task: int
    ) -> Iterator[tuple[str, pa.Table]]:
        """The rows of files that a task's lanes read, by the names that they have in a log.

        Raises:
            DataError: A file of rows that were brought is damaged.
            BrokenFileError: A file cannot be read, but may be complete in a moment.
        """
        columns, raw = self._columns(folder, names)
        rows = self._in_slots(columns)
        if raw.null_count < len(raw):
            rows = rows.append_column(RAW, raw)
        for division in self.divisions:
            for code, chosen in _shares(division, columns, len(rows), self.tasks, task):
                share = rows if chosen is None else rows.take(pa.array(chosen))
                if len(share):
                    yield rows_part(code, self.definition.name), share

    def _columns(
        self, folder: Folder, names: Sequence[str]
    ) -> tuple[dict[str, pa.Array], pa.Array]:
        """The declared columns of all files, one after the other, and of some rows the place."""
        schema = _kept(self.definition)
        read = [self._rows_or_reason(folder.path_of(name), name, schema) for name in names]
        *whole, raw = [pa.concat_arrays(pieces) for pieces in zip(*read, strict=True)]
        return dict(zip(schema.names, whole, strict=True)), raw

    def _rows_or_reason(self, path: Path, name: str, schema: Schema) -> tuple[pa.Array, ...]:
        """The columns of a file, and the place of rows without time.

        A file that is broken, or not as declared, becomes one row without values, whose text says
        why: so it is kept with what else cannot be read, and the others go on. All tasks read it,
        and find the same.
        """
        try:
            columns = self._read(path, name, schema)
        except (BrokenFileError, DataError) as fault:
            # What was brought was written by us: if it cannot be read, the home is damaged.
            if is_inserted(self.definition.format):
                raise DataError(fault.message) from fault
            age = time.time() - path.stat().st_mtime
            if isinstance(fault, BrokenFileError) and age < UNFINISHED_SECONDS:
                raise
            nulls = [pa.nulls(1, to_arrow(one)) for one in schema.types]
            return (*nulls, pa.array([f"{path}{BREAK}{fault.message}"], pa.string()))
        return (*columns, self._places(path, dict(zip(schema.names, columns, strict=True))))

    def _places(self, path: Path, columns: Mapping[str, pa.Array]) -> pa.Array:
        """The positions of rows that have no event time; they are not taken in."""
        times = columns[self.definition.time_column]
        if not times.null_count:
            return pa.nulls(len(times), pa.string())
        numbers = np.flatnonzero(times.is_null().to_numpy(zero_copy_only=False))
        file = "insert" if is_inserted(self.definition.format) else str(path)
        texts = pa.array([f"{file}, row {number + 1}" for number in numbers.tolist()], pa.string())
        return pc.replace_with_mask(pa.nulls(len(times), pa.string()), times.is_null(), texts)

    def _read(self, path: Path, name: str, schema: Schema) -> tuple[pa.Array, ...]:
        source = f'stream "{self.definition.name}", file {path}'
        try:
            # Threads would take the cores of other tasks.
            with pq.ParquetFile(path, memory_map=True, coerce_int96_timestamp_unit="us") as file:
                spelled = _spelled(file.schema_arrow.names, schema)
                table = file.read(columns=list(spelled.values()), use_threads=False)
        except (pa.ArrowException, OSError) as fault:
            if isinstance(fault, OSError) and fault.errno is not None:
                # The disk's, not the file's: it may pass.
                raise
            msg = f"{source} cannot be read as Parquet: {str(fault).splitlines()[0]}"
            raise BrokenFileError(msg) from fault
        by_name = {one: table[there] for one, there in spelled.items()}
        values = _values_of(name)
        for one in schema:
            if one.name.lower() in values:
                by_name[one.name] = _repeated(source, values[one.name.lower()], one, len(table))
            elif one.name not in by_name:
                # As Spark reads it: older files may not have a column yet.
                by_name[one.name] = pa.chunked_array([pa.nulls(len(table), to_arrow(one.type))])
        return read_columns(source, schema, pa.table(by_name))

    def _in_slots(self, columns: Mapping[str, pa.Array]) -> pa.Table:
        own = slots_for([self.definition]).streams[self.definition.name]
        time = columns[self.definition.time_column]
        made = {INSTANT: _number(time)}
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


def _spelled(there: Sequence[str], schema: Schema) -> dict[str, str]:
    """The spelling of each column in a file; letters may differ in their case."""
    by_case = {name.lower(): name for name in there} | {name: name for name in there}
    spelled = {one: by_case.get(one, by_case.get(one.lower())) for one in schema.names}
    return {one: name for one, name in spelled.items() if name is not None}


def _values_of(name: str) -> dict[str, str]:
    """The columns that the folders of a file say, as in `day=2026-01-31/part-0.parquet`."""
    pairs = [folder.partition("=") for folder in name.split("/")[:-1]]
    return {unquote(column).lower(): unquote(value) for column, _, value in pairs}


def _repeated(source: str, text: str, field: Field, rows: int) -> pa.ChunkedArray:
    value = pa.scalar(None if text == _NO_VALUE else text, pa.string())
    try:
        return pa.chunked_array([pa.repeat(value.cast(to_arrow(field.type)), rows)])
    except pa.ArrowException as fault:
        msg = f'{source}: "{field.name}" is declared {field.type}, but its folder says "{text}"'
        raise DataError(msg) from fault


def _number(column: pa.Array) -> pa.Array:
    """Instants as numbers, as queries count them."""
    if pa.types.is_timestamp(column.type):
        return column.view(pa.int64())
    return (column.cast(pa.int32()) if pa.types.is_date(column.type) else column).cast(pa.int64())

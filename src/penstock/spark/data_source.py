"""The data source `penstock`: results of a home for any Spark program that registers it.

Spark calls it in processes of Python that it starts: what is planned in one is read in others, so
all that a reading needs travels with it.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema

from penstock.errors import DataError, QueryError
from penstock.results.answer_kind import is_relation
from penstock.spark.published_query import NOTHING_YET, PublishedQuery
from penstock.spark.source_options import SourceOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType

    from penstock.store.result_reader import ResultsReader

MOST_READERS = 8
"""So many readings are remembered by a process, to go on where they ended."""
MOST_ROWS = 65_536
"""Rows of a batch of Arrow that is handed to Spark."""
FEW_RECORDS = 3
_READERS: OrderedDict[tuple[object, ...], tuple[int, ResultsReader]] = OrderedDict()


class PenstockSource(DataSource):
    """Results of a query of a home.

    Register it with `spark.dataSource.register(penstock.PenstockSource)`. Then
    `spark.read.format("penstock")` gives the content, at an instant with the option `at`, and
    `spark.readStream.format("penstock")` the changes, or the rows that are sent out, exactly once.
    """

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "penstock"

    def schema(self) -> StructType:
        """The columns: those of the query, and what marks them."""
        return from_arrow_schema(SourceOptions.of(self.options).opened().schema)

    def reader(self, schema: StructType) -> ContentReader:
        """A reader of the content."""
        del schema
        return ContentReader(SourceOptions.of(self.options))

    def streamReader(self, schema: StructType) -> ChangesReader:
        """A reader of what each record says."""
        del schema
        return ChangesReader(SourceOptions.of(self.options))


class ContentReader(DataSourceReader):
    """Reads the content at an instant that is chosen once; of what is sent out, all of it."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """The instant, or the records, that all attempts read."""
        query = self._options.opened()
        if is_relation(query.plan) and self._options.results == "content":
            return [InputPartition(query.instant(self._options.at))]
        if self._options.at is not None:
            msg = f'query "{query.name}" has no content at an instant to be read here'
            raise QueryError(msg, hint="Leave at out, or results 'changes'.")
        last = query.newest(to_the_end=True)
        return _shares(self._options, NOTHING_YET, last)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        query = self._options.opened()
        if isinstance(partition.value, int):
            yield from _batches(query.content(partition.value))
        else:
            yield from _read_share(self._options, query, partition.value)


class ChangesReader(DataSourceStreamReader):
    """Reads what records say; an offset is the number of the last record that was read."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        # Here it goes on for long, so what has been understood is kept.
        self._opened: PublishedQuery | None = None

    def initialOffset(self) -> dict[str, Any]:
        """Before all results that are kept, or behind those that there are."""
        record = NOTHING_YET
        if self._options.since == "now":
            record = self._query.newest(to_the_end=self._options.to_the_end)
        return self._offset(record)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """The newest record.

        Raises:
            DataError: The checkpoint has read more than there is.
        """
        del limit
        newest = self._query.newest(to_the_end=self._options.to_the_end)
        after = int(start["record"])
        # A record that was damaged may be made again, and the end of an input taken back.
        if newest < after - FEW_RECORDS:
            msg = f"the home {self._options.home} has {newest} records, {after} have been read"
            raise DataError(msg, hint="It is another one now: begin anew, by a new checkpoint.")
        return self._offset(max(newest, after))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The records between two offsets, once for each share of the rows."""
        after, last = int(start["record"]), int(end["record"])
        if after == last:
            return []
        query = self._query
        if query.group != int(start["group"]):
            msg = f'query "{query.name}" was registered anew since the checkpoint began'
            raise DataError(msg, hint="Begin anew with what it says now, by a new checkpoint.")
        if self._options.to_the_end and after != NOTHING_YET and query.is_end(after):
            msg = f"the input of {self._options.home} has gone on after what was taken for its end"
            raise DataError(msg, hint="Begin anew, by a new checkpoint, without end_of_input.")
        query.require_kept(after)
        return _shares(self._options, after, last)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a share of some records."""
        yield from _read_share(self._options, self._options.opened(), partition.value)

    def _offset(self, record: int) -> dict[str, Any]:
        return {"record": record, "group": self._query.group}

    @property
    def _query(self) -> PublishedQuery:
        if self._opened is None or not self._opened.is_current():
            self._opened = self._options.opened()
        return self._opened


def _shares(options: SourceOptions, after: int, last: int) -> list[InputPartition]:
    return [InputPartition((after, last, number)) for number in range(options.partitions)]


def _read_share(
    options: SourceOptions, query: PublishedQuery, part: tuple[int, int, int]
) -> Iterator[pa.RecordBatch]:
    """The results of the records after one, up to another, of a share of the rows.

    What was folded for a reading before is used again if this process has it.
    """
    after, last, number = part
    key = (options.home, query.name, query.group, number, options.partitions)
    position, reader = _READERS.pop(key, (NOTHING_YET, None))
    if reader is None or position > after or not query.is_kept(position):
        query.require_kept(after)
        reader = query.reader((number, options.partitions))
    for table in query.tables(reader, after, last):
        yield from _batches(table)
    if not query.is_end(last):
        _READERS[key] = (last, reader)
        while len(_READERS) > MOST_READERS:
            _READERS.popitem(last=False)


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    return [one for one in table.to_batches(max_chunksize=MOST_ROWS) if len(one)]

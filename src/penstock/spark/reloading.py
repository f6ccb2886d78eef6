"""Relations that are declared with a source: read when queries begin, and again now and then."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.catalog.definitions import RelationDefinition
from penstock.connectors.connector_list import source_format
from penstock.connectors.memory import is_inserted
from penstock.errors import DataError
from penstock.files.folders import is_folder
from penstock.files.relation_rows import relation_rows
from penstock.lane_host.logs import CHANGES
from penstock.operators.block import from_table
from penstock.operators.saved_tables import arrays_of
from penstock.runtime.arriving_columns import read_columns
from penstock.spark.causes import cause_of
from penstock.spark.formats import require_allowed
from penstock.spark.given_frames import is_frame
from penstock.spark.sources import columns_ddl, is_table, source_options, table_rows
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.store.bundles import Bundle
from penstock.store.records import RelationProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from penstock.pipeline.ledger import Ledger
    from penstock.spark.given_frames import GivenFrames

RELOAD = "reload"
"""The option that says how often a relation is read again; Spark need not know it."""
NOTHING = RelationProgress()


class Reloading:
    """Keeps the relations of a pipeline as their sources are; a change is dated when it is seen.

    Args:
        spark: What reads them.
        ledger: Where changes are written down.
        given: The DataFrames that relations are.
        report: Told, in a sentence, that a relation could not be read again: it stays as it was.
    """

    def __init__(
        self,
        spark: SparkSession,
        ledger: Ledger,
        given: GivenFrames,
        report: Callable[[str], None],
    ) -> None:
        self._spark = spark
        self._ledger = ledger
        self._given = given
        self._report = report
        # When each was last read, or tried, and as it was declared then.
        self._read_at: dict[str, tuple[RelationDefinition, float]] = {}

    def refresh(self) -> bool:
        """Read the relations whose time has come; whether one of them has changed.

        Raises:
            DataError: A relation cannot be read, or not as declared, and it never was.
            QueryError: Its format is not allowed.
        """
        changed = False
        for definition in self._declared():
            interval = definition.reload_seconds
            known, last = self._read_at.get(definition.name, (None, 0.0))
            now = time.monotonic()
            if known != definition:
                changed = self._first(definition) or changed
            elif interval is None or now - last < interval:
                continue
            else:
                changed = self._again(definition) or changed
            self._read_at[definition.name] = (definition, now)
        return changed

    def read_anew(self, name: str) -> None:
        """Have a relation read at the next look: it is another DataFrame."""
        self._read_at.pop(name, None)

    def _first(self, definition: RelationDefinition) -> bool:
        """Read a relation for the first time since the home was opened; whether it has changed."""
        # What the home knows of it is better than nothing.
        is_known = bool(self._ledger.record.relations.get(definition.name, NOTHING).changes)
        return self._again(definition) if is_known else self._reload(definition)

    def _again(self, definition: RelationDefinition) -> bool:
        """Read a relation that is known; whether it has changed."""
        try:
            return self._reload(definition)
        except DataError as fault:
            self._report(f"{fault.message}; it stays as it was")
            return False

    def _declared(self) -> Sequence[RelationDefinition]:
        """The relations that running queries read and that have a source."""
        plan = self._ledger.plan
        read = {name for group in plan.groups.values() for name in group.relations}
        found = [one for one in plan.session.catalog if isinstance(one, RelationDefinition)]
        return [one for one in found if one.name in read and not is_inserted(one.format)]

    def _reload(self, definition: RelationDefinition) -> bool:
        columns = self._read(definition)
        before = self._ledger.record.relations.get(definition.name, NOTHING)
        parts = [
            from_table(Bundle(self._ledger.home.segments / file).table(CHANGES))
            for file in before.changes
        ]
        known = [(part.columns, part.signs.astype(np.int64)) for part in parts]
        found = (columns, np.full(len(columns[0]), -1, np.int64))
        names = [str(number) for number in range(len(columns))]
        whole = pa.concat_tables([pa.table(list(one), names) for one, _ in [*known, found]])
        signs = np.concatenate([sign for _, sign in [*known, found]])
        table = _difference(arrays_of(whole), -signs, definition)
        if len(table):
            self._ledger.change_relation(definition.name, table)
        return bool(len(table))

    def _read(self, definition: RelationDefinition) -> tuple[pa.Array, ...]:
        """The rows of a relation as its source has them now."""
        require_allowed(self._spark, f'relation "{definition.name}"', definition.format)
        if is_folder(definition):
            return tuple(arrays_of(relation_rows(definition)))
        try:
            table = self._frame(definition).toArrow()
        except DataError:
            raise
        except Exception as fault:
            msg = f'relation "{definition.name}" cannot be read: {cause_of(fault).text}'
            raise DataError(msg, hint="See USING and OPTIONS of its declaration.") from None
        return read_columns(f'relation "{definition.name}"', definition.schema, table)

    def _frame(self, definition: RelationDefinition) -> DataFrame:
        """The rows of a relation that only Spark can read."""
        if is_frame(definition):
            return self._given.of(definition)
        options = source_options(definition.format, definition.options)
        options.pop(RELOAD, None)
        if is_table(definition):
            return table_rows(self._spark.read, definition, options)
        reader = self._spark.read.format(str(definition.format)).options(**options)
        if source_format(definition.format).is_files:
            reader = reader.schema(columns_ddl(definition.schema))
            reader = reader.option("mode", "FAILFAST")
        return reader.load()


def _difference(
    columns: Sequence[pa.Array], signs: np.ndarray[tuple[int], np.dtype[np.int64]],
    definition: RelationDefinition,
) -> pa.Table:  # fmt: skip
    """The rows that have to enter and leave so that the signs of each add up to nothing."""
    slots, first = KeyIndex().find_or_add(fingerprints(columns, len(signs)))
    total = np.bincount(slots, weights=signs, minlength=len(first)).astype(np.int64)
    rows = pa.array(np.repeat(first, np.abs(total)))
    sign = np.repeat(np.sign(total), np.abs(total)).astype(np.int8)
    names = [*definition.schema.names, "_sign"]
    return pa.table([*(column.take(rows) for column in columns), pa.array(sign)], names)

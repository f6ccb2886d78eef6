"""Requests of a task that writes a part of a sink, and the replies; both are JSON."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra.time import TimeUnit
from penstock.results.result_tables import table_of
from penstock.results.settling import fold_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.block import Block
    from penstock.results.answer_kind import Kind
    from penstock.results.settling import Elements


@dataclass(frozen=True)
class ResultForm:
    """The form of a query's results: all that folding and showing them needs of its plan.

    Args:
        kind: The kind of answer.
        unit: What one step of its time is called.
        columns: Names and types of its columns, as Arrow writes a schema, in base 64.
        span: How long its rows live, about.
        partitions: Into how many parts a calendar queue divides that time.
    """

    kind: Kind
    unit: str
    columns: str
    span: int
    partitions: int

    @staticmethod
    def of(
        kind: Kind,
        unit: TimeUnit,
        names: Sequence[str],
        types: Sequence[pa.DataType],
        span: int,
        partitions: int,
    ) -> ResultForm:
        """The form of results with columns."""
        schema = pa.schema([(str(place), one) for place, one in enumerate(types)])
        schema = schema.with_metadata({"names": json.dumps(list(names))})
        columns = base64.b64encode(schema.serialize()).decode()
        return ResultForm(kind, unit.name, columns, span, partitions)

    @cached_property
    def _schema(self) -> pa.Schema:
        return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self.columns)))

    def fold(self) -> Elements:
        """An empty fold."""
        return fold_of(self.kind, self._schema.types, self.span, self.partitions)

    def table(self, block: Block) -> pa.Table:
        """The rows that were folded, as sinks write them."""
        names = json.loads(self._schema.metadata[b"names"])
        return table_of(self.kind, names, TimeUnit[self.unit], block)


@dataclass(frozen=True)
class SinkWork:
    """The commits of a query of which a task writes its part.

    Args:
        home: The path of the home.
        key: Tells the writing apart from any other, also of this sink: what was read for that one
            is of no use.
        query: Whose results.
        group: The number of the group in which its results began,
        first: and the record by which that was registered.
        form: What its results are.
        folder: Where files go,
        format: in which format,
        options: and with which options.
        parts: Into how many parts its rows are divided.
        written: All up to this record has been published,
        end: and the record of an end of input besides.
        last: Up to this record is written now,
        is_end: which is an end of the input.
        is_new: Whether the sink had nothing written when this writing began.
        task: Which part.
    """

    home: str
    key: str
    query: str
    group: int
    first: int
    form: ResultForm
    folder: str
    format: str
    options: dict[str, str]
    parts: int
    written: int
    end: int | None
    last: int
    is_end: bool = False
    is_new: bool = False
    task: int = 0

    @property
    def line(self) -> str:
        """As it is sent: one line."""
        told = {**vars(self), "form": _told(self.form)}
        return json.dumps({"sink": told})

    @staticmethod
    def from_json(values: dict[str, Any]) -> SinkWork:
        """As it was sent."""
        return SinkWork(form=ResultForm(**values.pop("form")), **values)

    def has(self, number: int) -> bool:
        """The results of a record have been published."""
        return number <= self.written or number == self.end


def _told(form: ResultForm) -> dict[str, Any]:
    return {name: getattr(form, name) for name in form.__dataclass_fields__}


@dataclass(frozen=True)
class WrittenPart:
    """The drafts of a part: those of each commit in which it has rows."""

    drafts: dict[int, str]
    notes: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """As it is sent: one line."""
        return json.dumps(vars(self))

    @staticmethod
    def from_json(values: dict[str, Any]) -> WrittenPart:
        """As it was sent."""
        drafts = {int(number): name for number, name in values["drafts"].items()}
        return WrittenPart(drafts, values["notes"])

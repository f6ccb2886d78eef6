"""Results as a person gets them: tables of Arrow, one after the other or all together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.results.preview import as_html, as_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator


class Results:
    """Rows of a result.

    Going through it, also with `async for`, gives tables of Arrow: one for each commit that says
    something. `to_arrow`, `to_pandas`, `to_polars` and `to_pylist` give all rows together, and so
    does anything that takes tables of Arrow (`__arrow_c_stream__`). What else can be asked of a
    table of Arrow can be asked of it.

    Args:
        empty: A table without rows that has the columns.
        tables: Opens the tables; None among them says that nothing came for a while.
        waits: Of results that are still to come: what they are. They cannot be shown.
    """

    def __init__(
        self,
        empty: pa.Table,
        tables: Callable[[], Iterator[pa.Table | None]],
        waits: str | None = None,
    ) -> None:
        self._empty = empty
        self._tables = tables
        self._waits = waits

    @staticmethod
    def of(*tables: pa.Table) -> Results:
        """Tables that are there; at least one, and all with the same columns."""
        return Results(tables[0].slice(0, 0), lambda: iter(tables))

    def __iter__(self) -> Iterator[pa.Table]:
        """The tables; if they are still to come, this waits for them."""
        return (table for table in self._tables() if table is not None)

    async def __aiter__(self) -> AsyncIterator[pa.Table]:
        """The same for coroutines: others run while this waits."""
        tables = self._tables()
        ended = object()
        while (table := await asyncio.to_thread(next, tables, ended)) is not ended:
            if table is not None:
                yield table

    def to_arrow(self) -> pa.Table:
        """All rows as one table of Arrow."""
        return pa.concat_tables([self._empty, *self])

    def to_pylist(self) -> list[dict[str, Any]]:
        """All rows as dicts."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def to_pandas(self) -> Any:
        """All rows as a DataFrame of pandas."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """All rows as a DataFrame of Polars, which must be installed."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows, for whatever reads Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, those that mark rows included."""
        return list(self._empty.column_names)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self)

    def __len__(self) -> int:
        """The number of rows."""
        return sum(len(table) for table in self)

    def __getitem__(self, column: str) -> pa.ChunkedArray:
        """The values of a column."""
        return self.to_arrow()[column]

    def equals(self, other: Results | pa.Table) -> bool:
        """Equality: the same columns and rows, in the same order."""
        table = other.to_arrow() if isinstance(other, Results) else other
        return bool(self.to_arrow().equals(table))

    def __getattr__(self, name: str) -> Any:
        """Anything else that a table of Arrow has."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.to_arrow(), name)

    def __repr__(self) -> str:
        """The first rows in columns."""
        return self._waits or as_text(self.to_arrow())

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return f"<p>{self._waits}</p>" if self._waits else as_html(self.to_arrow())

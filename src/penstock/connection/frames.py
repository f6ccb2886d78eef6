"""Results as the tables that people work with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from penstock.errors import QueryError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

Format = Literal["arrow", "pandas", "polars", "spark"]
"""Which library a table is for."""


def converted(table: pa.Table, wanted: Format, to_spark: Callable[[pa.Table], Any]) -> Any:
    """A table for a library.

    Raises:
        QueryError: There is no such format.
    """
    match wanted:
        case "arrow":
            return table
        case "pandas":
            return table.to_pandas()
        case "polars":
            # Here, because few need it.
            import polars

            return polars.from_arrow(table)
        case "spark":
            return to_spark(table)
    known = get_args(Format)
    msg = f'there is no format called "{wanted}"'
    hint = did_you_mean(str(wanted), known, otherwise=f"Formats: {', '.join(known)}.")
    raise QueryError(msg, hint=hint)

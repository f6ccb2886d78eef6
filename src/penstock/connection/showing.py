"""The overview of a connection: what is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.catalog.definitions import Definition


def overview(catalog: Iterable[Definition]) -> pa.Table:
    """All declarations but sinks."""
    declared = [one for one in catalog if one.kind != "sink"]
    return pa.table(
        {
            "kind": pa.array([one.kind for one in declared], pa.string()),
            "name": pa.array([one.name for one in declared], pa.string()),
        }
    )

"""Weights that would divide rows among lanes: refused, as they change after that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import columns_of
from penstock.catalog.definitions import StreamDefinition
from penstock.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.catalog.definitions import Catalog
    from penstock.pipeline.plans import QueryGroup


def refuse_weights_as_keys(groups: Iterable[QueryGroup], catalog: Catalog) -> None:
    """See that no query divides its rows by a weight: rows are weighed in their lane.

    Raises:
        Refused: One does.
    """
    weights = {
        one.name: one.schema.names[one.shedding_columns.weight]
        for one in catalog
        if isinstance(one, StreamDefinition) and one.shedding_columns.weight is not None
    }
    for group in groups:
        if not weights or group.lanes == 1:
            continue
        for fragment in group.physical.fragments:
            for source, route in fragment.partitioning.routes.items():
                keys = route.keys or ()
                if weights.get(source) in {name for key in keys for name in columns_of(key)}:
                    names = " and ".join(f'"{one}"' for one in group.queries)
                    msg = (
                        f"query {names} divides rows of {source} among lanes by"
                        f' "{weights[source]}", and shedding changes weights'
                    )
                    hint = (
                        "Leave the weight out of GROUP BY, DISTINCT and joins, or open the home"
                        " with lanes=1."
                    )
                    raise Refused(msg, hint=hint)

"""Weights that would divide rows among lanes: refused, as they change after that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import columns_of
from penstock.catalog.definitions import StreamDefinition
from penstock.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    for group in groups if weights else ():
        for source, column in _divided_by(group):
            if weights.get(source) == column:
                raise _refusal(group, source, column)


def _divided_by(group: QueryGroup) -> Iterator[tuple[str, str]]:
    """The sources that a group divides among lanes, with columns that have to be keys."""
    parts = [one.partitioning for one in group.physical.fragments if one.is_divided]
    for one in parts if group.lanes > 1 else ():
        for source, route in one.routes.items():
            if not one.is_free:
                yield from ((source, name) for key in route.keys or () for name in columns_of(key))


def _refusal(group: QueryGroup, source: str, column: str) -> Refused:
    names = " and ".join(f'"{one}"' for one in group.queries)
    msg = (
        f'query {names} divides rows of {source} among lanes by "{column}", and shedding changes'
        " weights"
    )
    hint = "Leave the weight out of GROUP BY, DISTINCT and joins, or open the home with lanes=1."
    return Refused(msg, hint=hint)

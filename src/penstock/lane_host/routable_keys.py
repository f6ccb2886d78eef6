"""Keys that Spark computes as we do, so that rows come to the same lane whoever sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import Cast, Column
from penstock.algebra.types import BIGINT, DOUBLE, INT, to_arrow
from penstock.state.lane_hash import LONG_DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from penstock.algebra.expressions import Expression
    from penstock.planner.partition.partitioning import Partitioning

_WIDENING = {(INT, BIGINT), (INT, DOUBLE), (BIGINT, DOUBLE)}
"""Casts that mean the same in Spark, and never fail."""


def is_routable(partitioning: Partitioning) -> bool:
    """A plan that Spark can divide among lanes."""
    routes = partitioning.routes.values()
    keys = [key for route in routes if route.keys is not None for key in route.keys]
    return partitioning.is_partitioned and all(map(_is_computable, keys))


def _is_computable(key: Expression) -> bool:
    """Columns, and casts of them that cannot go wrong."""
    if key.type.is_decimal and key.type.precision > LONG_DIGITS:
        return False
    if isinstance(key, Cast):
        return (key.arg.type, key.to) in _WIDENING and _is_computable(key.arg)
    return isinstance(key, Column)


def key_columns(keys: Sequence[Expression], columns: Mapping[str, pa.Array]) -> list[pa.Array]:
    """The keys of rows, from the columns that they are made of."""
    return [_computed(key, columns) for key in keys]


def _computed(key: Expression, columns: Mapping[str, pa.Array]) -> pa.Array:
    if isinstance(key, Cast):
        # Every BIGINT has a DOUBLE nearest to it, as in Spark.
        return _computed(key.arg, columns).cast(to_arrow(key.to), safe=False)
    assert isinstance(key, Column)
    return columns[key.name]

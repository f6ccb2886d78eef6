"""What runs inside a connection, for tests that look at operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connection.engines.local.local_engine import LocalEngine

if TYPE_CHECKING:
    from penstock.connection.connection import Connection
    from penstock.connection.engines.local.batch import Batch
    from penstock.connection.query import Query


def local_engine(db: Connection) -> LocalEngine:
    assert isinstance(db.engine, LocalEngine)
    return db.engine


def batch_of(query: Query) -> Batch:
    """The operators that compute a query in this process."""
    found = local_engine(query.connection).registry.batch_of(query.name)
    assert found is not None
    return found

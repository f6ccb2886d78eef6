"""What runs inside a connection, for tests that look at operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.connection.engines.local.local_engine import LocalEngine

if TYPE_CHECKING:
    from penstock.connection.connection import Connection
    from penstock.connection.engines.local.batch import Batch
    from penstock.connection.query import Query

TRADES = "CREATE STREAM trades (ts BIGINT, sym STRING, price DOUBLE, WATERMARK FOR ts AS ts - 5);"
NAMES = "CREATE RELATION names (sym STRING, name STRING);"


def local_engine(db: Connection) -> LocalEngine:
    assert isinstance(db.engine, LocalEngine)
    return db.engine


def batch_of(query: Query) -> Batch:
    """The operators that compute a query in this process."""
    found = local_engine(query.connection).registry.batch_of(query.name)
    assert found is not None
    return found


def trading() -> Connection:
    """A connection in this process, with a stream of trades and a relation of names."""
    db = penstock.connect_inline()
    db.execute(TRADES + NAMES)
    return db

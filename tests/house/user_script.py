"""A program of somebody who uses the connection, with types; mypy checks it strictly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import penstock

if TYPE_CHECKING:
    from penstock.connection.connection import Connection
    from penstock.connection.query import Query


def declared(db: Connection) -> Query:
    db.execute("CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    db.execute("CREATE RELATION r (k INT)")
    built = db.source("s").range(10).aggregate(by=["k"], n="COUNT(*)")
    db.query(built, name="built")
    return db.query("SELECT k, COUNT(*) AS n FROM s [RANGE 10] GROUP BY k", name="counted")


async def first(query: Query) -> int:
    async for change in query:
        return len(change)
    return 0


def main() -> None:
    with penstock.connect_inline(lanes=2) as db:
        query = declared(db)
        brought: int = db.insert("s", [(1, 1), (2, 1), (5, 2)])
        db.update("r", insert=[{"k": 1}], at=3)
        db.advance("s", 6)
        db.wait_idle()
        held: list[dict[str, object]] = query.snapshot(at=2).to_pylist()
        frame = db["built"].snapshot(format="pandas")
        clock: int | None = query.clock
        for change in query.changes(timeout=0.1, follow=True, since="last"):
            print(change.num_rows)
        print(brought, held, len(frame), clock, db.late("s").num_rows, db.progress()["state"])
        print(asyncio.run(first(query)), db.failure, query.failures, query.warnings)
        shown = db.execute("SHOW QUERIES")
        print("" if shown is None else shown["query"].to_pylist())
        subscription = query.on_change(lambda table: print(table.num_rows))
        db.finish()
        subscription.wait(60)


if __name__ == "__main__":
    main()

"""Saving a connection and making it again: its statements are run anew, its state is taken back."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from penstock.connection.engines.local.batch import Batch, within
from penstock.connection.engines.local.saved_folder import write_folder
from penstock.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from penstock.connection.connection import Connection


def save_connection(db: Connection, path: Path) -> None:
    """Write a connection into a folder."""
    options, registry = db.engine.options, db.registry
    places = {entry: place for place, entry in enumerate(registry.history.entries)}
    page = {
        "lanes": options.lanes,
        "strategy": options.choices.strategy,
        "partitions": options.choices.partitions,
        "keep": options.keep,
        "finished": db.is_finished,
        "statements": [[entry.text, entry.query] for entry in registry.history.entries],
        "batches": [
            {
                "queries": [places[one.entry] for one in started.queries.values()],
                "running": list(started.batch.outcomes),
                "shape": started.batch.shape,
            }
            for started in registry.started
        ],
        "streams": db.engine.counts(),
        "aside": [[*key, rows] for key, rows in db.engine.aside.counts.items()],
        "failures": {name: query.failures for name, query in registry.queries.items()},
    }
    write_folder(path, page, db.engine.segments())


def restore_into(db: Connection, page: dict[str, Any], tables: dict[str, pa.Table]) -> None:
    """Make a new connection what the saved one was; its options are the saved ones."""
    made = db.registry.replay([(text, name) for text, name in page["statements"]])
    for saved in page["batches"]:
        queries = [one for place in saved["queries"] if (one := made[place]) is not None]
        # All queries of a batch were registered under the same tactics.
        options = db.engine.options.under(queries[0].tactics)
        batch = Batch({one.name: one.plan for one in queries}, options)
        if batch.shape != saved.get("shape"):
            names = ", ".join(f'"{one.name}"' for one in queries)
            msg = f"this version of Penstock plans {names} otherwise than the one that saved it"
            raise DataError(msg, hint="Go on with that version, or begin anew.")
        for name in set(batch.outcomes) - set(saved["running"]):
            del batch.outcomes[name]
        db.engine.batches.append(batch)
        db.registry.adopt(batch, queries)
    db.engine.restore(tables, page["streams"])
    db.engine.aside.restore(within(tables, "aside"), page["aside"])
    for name, failures in page["failures"].items():
        db.registry.queries[name].failed_before = Counter(failures)
    db.is_finished = page["finished"]

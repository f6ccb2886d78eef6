"""Saving the engine of this process and making it again.

Its statements are run anew, and its state is taken back.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from penstock.connection.engines.local.batch import Batch, within
from penstock.connection.engines.local.saved_folder import write_folder
from penstock.errors import DataError
from penstock.expected_load import stated_of

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from penstock.connection.engines.local.local_engine import LocalEngine


def save_engine(engine: LocalEngine, path: Path) -> None:
    """Write an engine into a folder.

    Raises:
        DataError: There is something else at the path.
    """
    options, registry = engine.feeding.options, engine.registry
    places = {entry: place for place, entry in enumerate(registry.history.entries)}
    page = {
        "lanes": options.lanes,
        "strategy": options.choices.strategy,
        "partitions": options.choices.partitions,
        "keep": options.keep,
        "finished": engine.is_finished,
        "statements": [entry.text for entry in registry.history.entries],
        "batches": [
            {
                "queries": [places[one] for one in started.queries.values()],
                "running": list(started.batch.outcomes),
                "shape": started.batch.shape,
                "exact": started.batch.exact,
            }
            for started in registry.started
        ],
        "streams": engine.feeding.counts(),
        "now": engine.feeding.now,
        "aside": [[*key, rows] for key, rows in engine.feeding.aside.counts.items()],
        "shed": {
            name: counts for one in engine.feeding.batches for name, counts in one.shed.items()
        },
        "failures": {
            name: engine.failures(name)
            for started in registry.started
            for name in started.batch.outcomes
        },
    }
    write_folder(path, page, engine.feeding.segments())


def restore_into(engine: LocalEngine, page: dict[str, Any], tables: dict[str, pa.Table]) -> None:
    """Make a new engine what the saved one was; its options are the saved ones."""
    made = engine.registry.replay(page["statements"])
    for saved in page["batches"]:
        entries = [made[place] for place in saved["queries"]]
        queries = [one.query for one in entries if one.query is not None]
        # All queries of a batch were registered under the same tactics.
        options = engine.feeding.options.under(queries[0].tactics)
        batch = Batch({one.name: one.plan for one in queries}, options, stated_of(queries))
        if batch.shape != saved.get("shape"):
            names = ", ".join(f'"{one.name}"' for one in queries)
            msg = f"this version of Penstock plans {names} otherwise than the one that saved it"
            raise DataError(msg, hint="Go on with that version, or begin anew.")
        for name in set(batch.outcomes) - set(saved["running"]):
            del batch.outcomes[name]
        batch.exact = saved.get("exact", {})
        engine.feeding.batches.append(batch)
        engine.registry.adopt(batch, entries)
    engine.registry.retain()
    engine.feeding.restore(tables, page["streams"])
    engine.feeding.now = page["now"]
    engine.feeding.aside.restore(within(tables, "aside"), page["aside"])
    for batch in engine.feeding.batches:
        own = {name: Counter(page["shed"][name]) for name in batch.outcomes if name in page["shed"]}
        batch.shed = own
    engine.failed_before = {name: Counter(one) for name, one in page["failures"].items()}
    engine.is_finished = page["finished"]

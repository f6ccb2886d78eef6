"""Running a script in this process: its files are read, its queries answered, without Spark."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import typer

import penstock
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.cli.answers import ScriptAnswers
from penstock.cli.inline_sinks import inline_sinks
from penstock.cli.run_warnings import warn
from penstock.connection.engines.local.file_feeding import feed_relations, feed_streams
from penstock.connection.engines.local.local_engine import LocalEngine
from penstock.results.paragraphs import Paragraphs
from penstock.results.settling import timed_fold_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from penstock.cli.answers import OutputOptions
    from penstock.connection.connection import Connection
    from penstock.connection.engines.local.local_engine import LocalAnswer
    from penstock.spark.script import Script
    from penstock.store.result_reader import Commit


class InlineResults:
    """The results of the queries of a script, as the engine of this process has them."""

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine

    def results(self, query: str) -> Callable[[int], Iterator[Commit]]:
        """A reader of all results of a query, in time order; it reads what there is."""
        answer = self._answer(query)
        reader = answer.reader(partial(timed_fold_for, answer.plan, *answer.shape))

        def read(last: int) -> Iterator[Commit]:
            del last
            return reader.read()

        return read

    def rows_at(self, query: str, instant: int, last: int) -> tuple[pa.Array, ...]:
        """The rows of a query that hold at an instant."""
        del last
        return self._answer(query).content_at(instant)

    def _answer(self, query: str) -> LocalAnswer:
        answer = self._engine.answer(query)
        assert answer is not None
        return answer


def run_inline(
    script: Script, lanes: int | None, options: OutputOptions, most_unreadable: float
) -> None:
    """Take in all input that is there, and print the answers.

    Raises:
        PenstockError: A file is at fault.
        typer.Exit: Too much could not be read.
    """
    with penstock.connect_inline(lanes=lanes or 1, keep=sys.maxsize) as db:
        unread = _run(db, script, options, most_unreadable)
    if unread:
        raise typer.Exit(1)


def _run(db: Connection, script: Script, options: OutputOptions, most_unreadable: float) -> bool:
    """Feed the sources, print and write what is final; whether too much could not be read."""
    engine = db.engine
    assert isinstance(engine, LocalEngine)
    if script.text_without_sinks:
        db.execute(script.text_without_sinks)
    sources, results = script.sources(), InlineResults(engine)
    paragraphs = Paragraphs(typer.echo)
    answers, sinks = (
        ScriptAnswers(script, options, paragraphs),
        inline_sinks(script, engine, paragraphs),
    )
    feed_relations(engine, [one for one in sources if isinstance(one, RelationDefinition)])
    for _ in feed_streams(engine, [one for one in sources if isinstance(one, StreamDefinition)]):
        answers.follow(results, engine.position)
        for sink in sinks:
            sink.follow()
    db.finish()
    for sink in sinks:
        sink.follow()
    unread = warn(db, script, most_unreadable)
    answers.end(results, engine.position)
    return unread

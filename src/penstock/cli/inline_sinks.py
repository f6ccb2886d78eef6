"""The sinks of a script that runs in this process: files, and the console."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from penstock.results.result_tables import results_table
from penstock.results.settling import fold_for, timed_fold_for
from penstock.spark.sink_declarations import place_of
from penstock.spark.sink_targets import ConsoleSink, refuse_columns, target_for

if TYPE_CHECKING:
    from penstock.catalog.definitions import SinkDefinition
    from penstock.connection.engines.local.local_engine import LocalEngine
    from penstock.results.paragraphs import Paragraphs
    from penstock.spark.script import Script


class InlineSink:
    """Writes the results of a query as they become final: a file for each part of the input.

    Raises:
        DataError: There are files in its folder, or it cannot be written.
        QueryError: A column has the name of one that sinks add.
    """

    def __init__(self, sink: SinkDefinition, engine: LocalEngine, paragraphs: Paragraphs) -> None:
        answer = engine.answer(sink.query)
        assert answer is not None
        refuse_columns(sink, answer.plan.schema.names)
        self._plan = answer.plan
        self._target = target_for(None, sink, place_of(sink), "", paragraphs)
        self._target.begin()
        fold = timed_fold_for if isinstance(self._target, ConsoleSink) else fold_for
        self._reader = answer.reader(partial(fold, answer.plan, *answer.shape))
        self._written = 0

    def follow(self) -> None:
        """Write what is new.

        Raises:
            DataError: It cannot be written.
        """
        for commit in self._reader.read():
            if commit.block is None:
                continue
            if isinstance(self._target, ConsoleSink):
                self._target.print(self._plan, commit.block)
            else:
                self._target.write(self._written, results_table(self._plan, commit.block))
                self._written += 1


def inline_sinks(script: Script, engine: LocalEngine, paragraphs: Paragraphs) -> list[InlineSink]:
    """The sinks of a script, whose queries run."""
    return [InlineSink(one, engine, paragraphs) for one in script.sinks]

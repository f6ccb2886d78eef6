"""Printing what statements say and queries answer, in the order of a script, as it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.errors import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa

    from penstock.results.paragraphs import Paragraphs
    from penstock.session import Outcome
    from penstock.spark.script import Script, ScriptQuery
    from penstock.store.result_reader import Commit


@dataclass(frozen=True)
class OutputOptions:
    """Options of printing: every change, or what holds at an instant, or rows with intervals."""

    at: str = ""
    intervals: bool = False

    @property
    def is_timed(self) -> bool:
        """A query whose rows hold for some time."""
        return bool(self.at or self.intervals)


class AnswerSource(Protocol):
    """The engine that has computed the answers."""

    def results(self, query: str) -> Callable[[int], Iterator[Commit]]:
        """A reader of the results of a query in time order, up to a position of the engine."""

    def rows_at(self, query: str, instant: int, last: int) -> tuple[pa.Array, ...]:
        """The rows of a query that hold at an instant which is final, as of a position."""


def failure_warning(failures: Mapping[str, int]) -> str:
    """The warning about expressions that failed."""
    kinds = ", ".join(name.upper() for name in failures)
    return f"warning: {count(sum(failures.values()), 'expression')} failed and gave NULL ({kinds})"


def said(outcome: Outcome) -> list[str]:
    """The text that SHOW, DESCRIBE and EXPLAIN answer; other statements say nothing."""
    from penstock.cql import syntax
    from penstock.session import tabulated

    if isinstance(outcome.statement, syntax.Show | syntax.Describe):
        return ["\n".join(tabulated(outcome))]
    return [outcome.message or ""] if isinstance(outcome.statement, syntax.Explain) else []


def say(script: Script, paragraphs: Paragraphs) -> None:
    """Print what the statements of a script say, without the answers of queries."""
    from penstock.session import Outcome

    for step in script.steps:
        if isinstance(step, Outcome):
            paragraphs.say(said(step))


class ScriptAnswers:
    """The answers of a script's queries, one after the other, each as it becomes known.

    Args:
        script: The statements.
        options: What is to be shown of answers.
        paragraphs: Prints them.
    """

    def __init__(self, script: Script, options: OutputOptions, paragraphs: Paragraphs) -> None:
        self._steps = list(script.steps)
        self._printed = {one.query for one in script.without_sinks()}
        self._options = options
        self._paragraphs = paragraphs
        self._current: _Answer | None = None

    def follow(self, source: AnswerSource, last: int) -> None:
        """Print what is known up to a record, which is not the last one."""
        if self._to_next_query(source):
            self._print(last, is_end=False)

    def end(self, source: AnswerSource, last: int) -> None:
        """Print all that is left, up to the last record."""
        while self._to_next_query(source):
            self._print(last, is_end=True)
            self._current = None
            self._steps.pop(0)

    def _to_next_query(self, source: AnswerSource) -> bool:
        """Say what comes before the next query; whether there is one."""
        from penstock.session import Outcome

        while self._steps and self._current is None:
            step = self._steps[0]
            if not isinstance(step, Outcome) and step.query in self._printed:
                self._current = _Answer(source, step, self._options)
                break
            if isinstance(step, Outcome):
                self._paragraphs.say(said(step))
            self._steps.pop(0)
        return self._current is not None

    def _print(self, last: int, *, is_end: bool) -> None:
        answer = self._current
        assert answer is not None
        self._paragraphs.go_on(answer.text, answer.texts(last, is_end=is_end))


class _Answer:
    """The answer of one query, as text.

    Attributes:
        text: Makes the text.
    """

    def __init__(self, source: AnswerSource, asked: ScriptQuery, options: OutputOptions) -> None:
        from penstock.results.answer_text import AnswerText

        self._source = source
        self._asked = asked
        self._at = asked.at or options.at
        self.text = AnswerText(asked.plan, asked.title, intervals=options.intervals)
        self._results = source.results(asked.query)

    def texts(self, last: int, *, is_end: bool) -> Iterable[str]:
        """The texts to print, up to a record."""
        if self._at:
            if is_end:
                yield from self._snapshot(last)
            return
        for commit in self._results(last):
            if commit.block is not None:
                yield from self.text.add(commit.block)
        if is_end:
            yield from self.text.end()

    def _snapshot(self, last: int) -> Iterable[str]:
        from penstock.algebra.instants import read_instant
        from penstock.results.answer_kind import unit_of
        from penstock.results.answer_text import snapshot_text

        plan, query = self._asked.plan, self._asked.query
        instant = read_instant(self._at, unit_of(plan))
        columns = self._source.rows_at(query, instant, last)
        return snapshot_text(plan, self._asked.title, instant, columns)

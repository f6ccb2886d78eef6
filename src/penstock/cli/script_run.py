"""Running a script on Spark until its input is at its end, or until somebody stops it."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import threading
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import typer

import penstock
from penstock.cli.answers import ScriptAnswers, say
from penstock.cli.live_display import REFRESH, Display
from penstock.cli.run_warnings import warn
from penstock.cli.starting import StartDisplay, started
from penstock.errors import PenstockError, PipelineFailed
from penstock.results.paragraphs import Paragraphs
from penstock.spark.spark_session import default_master, java_end, when_java_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

    from penstock.cli.answers import OutputOptions
    from penstock.connection.connection import Connection
    from penstock.connection.following import Since
    from penstock.spark.script import Script, ScriptQuery
    from penstock.spark.script_results import ScriptResults

GIVE_UP_SECONDS = 20.0
"""So long after Java's end the process may take to end by itself."""


class Interrupts:
    """Notes that somebody wants an end, and leaves the calls to Java alone that run meanwhile.

    A second Ctrl-C ends the process at once.
    """

    def __init__(self) -> None:
        self.came = threading.Event()
        self.number: signal.Signals = signal.SIGINT
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.number = signal.Signals(number)
        self.came.set()
        signal.signal(number, signal.SIG_DFL)

    @property
    def exit_code(self) -> int:
        """The exit code that shells report for a process that a signal ended."""
        return 128 + self.number


class ScriptRun:
    """A script on a pipeline of its own.

    Args:
        script: The statements.
        master: Spark's master URL; None: the one that the surroundings give.
        home: The folder of the pipeline; None: one for this run only.
        lanes: How many lanes share the work of a query.
        settings: Spark's configuration.
        every: Seconds between lines of progress.
        most_unreadable: The share of a stream's rows that may be unreadable.
    """

    def __init__(
        self,
        script: Script,
        master: str | None,
        home: Path | None,
        lanes: int | None,
        settings: dict[str, str],
        every: float,
        most_unreadable: float,
    ) -> None:
        self._script = script
        self._most_unreadable = most_unreadable
        self._home = home
        began = time.monotonic()
        # Where nobody listens, py4j would write tracebacks on stderr.
        logging.getLogger().addHandler(logging.NullHandler())
        # Until then there is nothing to be put in order, and a signal ends all at once.
        self._db: Connection = started(
            partial(penstock.connect, master, home, lanes, settings=settings),
            StartDisplay(f"starting Spark ({master or default_master()})", every),
            _load,
        )
        from penstock.spark.spark_engine import spark_engine

        self._interrupts = Interrupts()
        when_java_ends(_give_up)
        self._display = Display(self._db, every, began)
        self._running = spark_engine(self._db).running
        self._sinks = spark_engine(self._db).sinks
        self._paragraphs = self._sinks.paragraphs = Paragraphs(self._show)

    def run(self, options: OutputOptions, *, is_finite: bool) -> None:
        """Take in input: all that is there, or as it comes until somebody stops it.

        Raises:
            typer.Exit: A sink has not taken all, or somebody stopped it.
        """
        if is_finite:
            self._run_to_end(options)
        else:
            self._run_until_stopped(intervals=options.intervals)

    def _run_to_end(self, options: OutputOptions) -> None:
        """Take in all input that is there, and print the answers of queries that no sink takes.

        Args:
            options: What is to be shown of answers.

        Raises:
            typer.Exit: A sink has not taken all.
        """
        answers = ScriptAnswers(self._script, options, self._paragraphs)
        try:
            with self._display, _plain_end():
                self._wait(self._begin, lambda: None)
                for one in self._script.without_sinks():
                    self._sinks.hold(_printing(one), one.query)
                self._wait(self._db.finish, lambda: self._follow_answers(answers))
            unread = warn(self._db, self._script, self._most_unreadable)
            answers.end(self._results(), self._running.record.number)
            errors = self._sinks.errors
        finally:
            self._close()
        for name, why in errors.items():
            typer.echo(f'sink "{name}" has not taken all: {why}', err=True)
        if errors or unread:
            raise typer.Exit(1)

    def _run_until_stopped(self, *, intervals: bool) -> NoReturn:
        """Take in input as it comes, and print what queries say that no sink takes.

        Args:
            intervals: Whether rows are printed with the time in which they hold.

        Raises:
            typer.Exit: Somebody stopped it.
        """
        try:
            with self._display, _plain_end():
                say(self._script, self._paragraphs)
                self._wait(self._begin, lambda: None)
                for one in self._script.without_sinks():
                    since: Since = "beginning" if one.is_new else "now"
                    self._sinks.print_answer(
                        _printing(one), one.query, one.title, since, intervals=intervals
                    )
                self._wait(self._follow, lambda: None)
        finally:
            self._close()
        self._stopped()

    def _results(self) -> ScriptResults:
        from penstock.spark.script_results import ScriptResults

        return ScriptResults(self._db)

    def _begin(self) -> None:
        """Let the statements take effect."""
        if self._script.text:
            self._db.execute(self._script.text)
        for text in self._script.replans:
            said = self._db.execute(text)
            assert said is not None
            typer.echo(f"{text}: {said['plan'][0]}", err=True)

    def _show(self, text: str) -> None:
        """Print a part of an answer, unless somebody wants an end.

        Raises:
            typer.Exit: Somebody stopped it.
        """
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and self._interrupts.came.is_set():
            self._stopped()
        # The thread of the sinks still prints what is committed.
        self._display.show(text)

    def _follow_answers(self, answers: ScriptAnswers) -> None:
        """Print what is known of answers already."""
        record = self._running.record
        # What is said at the end of the input counts when it has come to its end.
        if record.kind != "flush":
            answers.follow(self._results(), record.number)

    def _follow(self) -> None:
        """Go along with the pipeline; without rows, clocks get on as far as they can."""
        while not self._interrupts.came.is_set():
            self._running.wait_for_news(self._running.record.number, REFRESH)

    def _wait(self, work: Callable[[], None], meanwhile: Callable[[], None]) -> None:
        """Let a thread work; this one shows how it goes, and takes the interrupts.

        Raises:
            typer.Exit: Somebody stopped it.
            PenstockError: It cannot go on.
        """
        failures: list[Exception] = []

        def guarded() -> None:
            try:
                work()
            except Exception as failure:
                failures.append(failure)

        thread = threading.Thread(target=guarded, name="penstock run", daemon=True)
        thread.start()
        while thread.is_alive() and not self._interrupts.came.is_set():
            thread.join(REFRESH / 5)
            self._display.update(self._sinks.errors)
            meanwhile()
        if failures:
            raise self._for_users(failures[0])
        if self._interrupts.came.is_set():
            self._close()
            self._stopped()

    def _for_users(self, failure: Exception) -> Exception:
        if isinstance(failure, PenstockError):
            failure.hint = "Mend the cause, and run it again with the same --home: it goes on."
            if self._home is None:
                failure.hint = "Mend the cause, and run it again."
        return failure

    def _stopped(self) -> NoReturn:
        where = f" --home {self._home} goes on from here." if self._home is not None else ""
        typer.echo(f"stopped.{where}", err=True)
        raise typer.Exit(self._interrupts.exit_code)

    def _close(self) -> None:
        try:
            if not self._db.is_closed:
                self._sinks.close()
                for one in self._script.asked:
                    self._sinks.forget(_printing(one))
        finally:
            self._db.close()


def _load() -> None:
    """Load what a pipeline needs, which takes as long as a fifth of Java's start."""
    importlib.import_module("penstock.spark.script_results")


@contextmanager
def _plain_end() -> Iterator[None]:
    """If Java ended within, that is said, and not what it led to."""
    try:
        yield
    except Exception as fault:
        ended = java_end(fault)
        if ended is None or isinstance(fault, typer.Exit):
            raise
        hint = "What was committed is kept: run it again with the same --home, if it had one."
        raise PipelineFailed(ended, hint=hint) from None


def _give_up(reason: str) -> None:
    """End the process: without Java nothing goes on, and who waits for it may wait for ever."""
    time.sleep(GIVE_UP_SECONDS)
    typer.echo(reason, err=True)
    os._exit(2)


def _printing(asked: ScriptQuery) -> str:
    """The name under which the results of a query are printed."""
    return f"run: {asked.query}"

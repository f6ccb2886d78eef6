"""From a trial at which an engine fails to a small one at which it fails the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock_fuzz.check import TrialFailure, check
from penstock_fuzz.programs import FuzzProgram
from penstock_fuzz.simpler import fewer_rows, simpler_feeding, simpler_tables, simpler_values
from penstock_fuzz.text import smaller
from penstock_fuzz.trial import only_read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock_fuzz.trial import Contender, Trial


@dataclass(frozen=True)
class FailedTrial:
    """A trial and how the engine fails at it."""

    trial: Trial
    failure: TrialFailure


def shrink(found: FailedTrial, engine: Contender, tries: int) -> FailedTrial:
    """Simpler feeding, fewer rows, less query, as long as the failure stays of its kind.

    Every step is tried on the engine, so many at most; what is no valid trial any more is left
    out. No clock decides, so that a trial shrinks alike on every machine.
    """
    search = _Search(found, engine, tries)
    passes: list[Callable[[Trial], Iterator[Trial]]] = [
        simpler_feeding, fewer_rows, _simpler_program, simpler_tables, simpler_values,
    ]  # fmt: skip
    while not search.is_over:
        changed = [search.exhaust(one) for one in passes]
        if not any(changed):
            break
    return search.found


class _Search:
    """The smallest failing trial so far."""

    def __init__(self, found: FailedTrial, engine: Contender, tries: int) -> None:
        self.found = found
        self._engine = engine
        self._left = tries

    @property
    def is_over(self) -> bool:
        return self._left <= 0

    def exhaust(self, candidates: Callable[[Trial], Iterator[Trial]]) -> bool:
        """Take the first candidate that still fails, again and again; whether any did."""
        changed = False
        while not self.is_over and self._improved(candidates):
            changed = True
        return changed

    def _improved(self, candidates: Callable[[Trial], Iterator[Trial]]) -> bool:
        for candidate in candidates(self.found.trial):
            if self.is_over:
                return False
            found = self._tried(candidate)
            if found is not None:
                self.found = found
                return True
        return False

    def _tried(self, trial: Trial) -> FailedTrial | None:
        try:
            plan = trial.plan()
            trial = only_read(trial, plan)
            self._left -= 1
            failure = check(trial, self._engine, plan)
        except PenstockError:
            return None
        if failure is None or failure.kind != self.found.failure.kind:
            return None
        return FailedTrial(trial, failure)


def _simpler_program(trial: Trial) -> Iterator[Trial]:
    """Less text: of the query first, then of views and settings."""
    program = trial.program
    assert isinstance(program, FuzzProgram)
    for text in smaller(program.query):
        yield replace(trial, program=replace(program, query=text))
    for index, view in enumerate(program.views):
        before, after = program.views[:index], program.views[index + 1 :]
        yield replace(trial, program=replace(program, views=before + after))
        for text in smaller(view):
            yield replace(trial, program=replace(program, views=(*before, text, *after)))
    for index in range(len(program.settings)):
        settings = program.settings[:index] + program.settings[index + 1 :]
        yield replace(trial, program=replace(program, settings=settings))

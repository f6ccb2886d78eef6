"""Engines that are asked questions in the middle of a trial: a connection, and a home."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

import penstock
from penstock.catalog.definitions import RelationDefinition
from penstock.connection.engines.local.local_engine import LocalEngine
from penstock.connection.engines.local.local_view import LocalView
from penstock.errors import InternalError
from penstock.pipeline.housekeeping import Housekeeping
from penstock.pipeline.sweeping import Retention
from penstock.reference.arrow_rows import stream_table
from penstock.reference.inputs import RelationHistory
from penstock.spark.home_view import view_of
from penstock.store.layout import Home
from penstock.testing.inline import QUERY, changes_table
from penstock_fuzz.asking import Asking
from penstock_fuzz.engines import OracleContender
from penstock_fuzz.lane_hosts import HomeLooker, LaneHostContender

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.connection.connection import Connection
    from penstock.pipeline.ledger import Ledger
    from penstock_fuzz.trial import Feed, Trial, TrialResult

SEALING = Retention(seal_bytes=0, grace=0.0)
"""Rows are sealed, and files swept, each time."""


class QuestionedConnection(OracleContender):
    """A connection in this process; only answers to questions are judged.

    Attributes:
        counts: What came of questions.
    """

    takes_edits = False

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        """Feed a trial to the end, and ask on the way."""
        asking = Asking(trial, plan, self.counts)
        if trial.shedding is None:
            db = _connected(trial, asking)
            _feed(db, trial, None)
            for number, feed in enumerate(trial.feeds):
                _feed(db, trial, feed)
                _ask(db, asking, number)
            db.finish()
            _ask(db, asking, "last")
        return super().run_trial(trial, plan)


def _connected(trial: Trial, asking: Asking) -> Connection:
    db: Connection = penstock.connect_inline(lanes=trial.lanes, strategy=trial.tactics.strategy)
    for text in (*asking.retaining.settings, trial.script):
        db.execute(text)
    db.execute(f"CREATE QUERY {QUERY} AS {trial.query}")
    return db


def _ask(db: Connection, asking: Asking, turn: object) -> None:
    assert isinstance(db.engine, LocalEngine)
    view = LocalView(db.engine)
    asking.ask(view, db.engine.session, view.tables, turn)


def _feed(db: Connection, trial: Trial, feed: Feed | None) -> None:
    """The rows and changes of a feed; None: what relations hold at first."""
    assert isinstance(db.engine, LocalEngine)
    feeding = db.engine.feeding
    for name, given in trial.relations.items():
        found = db.engine.catalog.find(name, "relation")
        assert isinstance(found, RelationDefinition)
        history = RelationHistory(given.initial)
        if feed is not None:
            history = RelationHistory((), given.changes[feed[name]])
        feeding.update(name, changes_table(found.schema, history))
    for name, stream in trial.streams.items():
        if feed is not None and stream.rows[feed[name]]:
            feeding.insert(
                name, stream_table(feeding.intakes[name].schema, stream.rows[feed[name]])
            )


class QuestionedPipeline(LaneHostContender):
    """A home whose rows are sealed at times, and which is asked as from another process.

    Attributes:
        counts: What came of questions.
    """

    replans = False

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def looker(self, trial: Trial, plan: Plan) -> HomeLooker:
        """Somebody who asks between feeds."""
        return _AskingLooker(trial, plan, self.counts)


class _AskingLooker(HomeLooker):
    """Seals at times, and asks."""

    def __init__(self, trial: Trial, plan: Plan, counts: Counter[str]) -> None:
        self._asking = Asking(trial, plan, counts)
        self._is_shed = trial.shedding is not None
        self._seals = trial.partitions
        self.settings = self._asking.retaining.settings

    def at(self, home: Home, ledger: Ledger, feed: int | None) -> None:
        """Seal, mostly, and ask."""
        if self._is_shed:
            return
        if feed is not None and feed % 4 != self._seals % 4:
            faults: list[str] = []
            Housekeeping(ledger, threading.RLock(), faults.append).clean(SEALING)
            if faults:
                raise InternalError(faults[0])
        view = view_of(Home(home.path))
        try:
            self._asking.ask(view, view.plan.session, view.tables, feed)
        finally:
            view.release()

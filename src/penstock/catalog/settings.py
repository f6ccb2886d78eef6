"""The settings of a session, changed by `SET key = value`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from penstock.algebra.tactics import Tactics
from penstock.catalog.store_settings import STORE_MEASURES, StoreSettings
from penstock.catalog.work_settings import MEASURES, WorkSettings
from penstock.errors import QueryError, UnknownName, did_you_mean

if TYPE_CHECKING:
    from penstock.algebra.patterns import Strategy
    from penstock.algebra.tactics import Evaluation, Expiration, Joins

CHOICES: dict[str, dict[str, object]] = {
    "integer_division": {"true": True, "false": False},
    "empty_aggregates": {"row": True, "none": False},
    "strategy": {"upa": "upa", "direct": "direct", "negative": "negative"},
    "joins": {"auto": "auto", "tree": "tree", "multiway": "multiway"},
    "join_evaluation": {"eager": "eager", "lazy": "lazy"},
    "join_expiration": {"eager": "eager", "lazy": "lazy"},
    "isolation": {"window": "window", "latest": "latest"},
}
"""Each setting's values as written, and what they stand for."""


@dataclass(frozen=True)
class Settings:
    """The settings that a session's queries are bound under, and run by.

    `integer_division`: `/` of two integers is DIV. `empty_aggregates`: an aggregate without
    GROUP BY over nothing has SQL's single row (`row`), or none (`none`).

    Answers do not depend on the others. `strategy`: how operators learn that rows have left a
    window. `joins`: whether joins of three inputs or more run two by two or in one operator;
    `join_evaluation` and `join_expiration`: how that operator probes, and when it drops rows.
    `isolation`: whether a question is answered for the state at its beginning, or for the latest.
    `work`: how long lanes work in a micro-batch, and in which order. `store`: how long streams
    keep their rows, and how much a question may read.
    """

    integer_division: bool = False
    empty_aggregates: bool = True
    strategy: Strategy = "upa"
    joins: Joins = "auto"
    join_evaluation: Evaluation = "lazy"
    join_expiration: Expiration = "lazy"
    isolation: Literal["window", "latest"] = "window"
    work: WorkSettings = field(default_factory=WorkSettings)
    store: StoreSettings = field(default_factory=StoreSettings)

    @property
    def tactics(self) -> Tactics:
        """The tactics of queries that are created now."""
        return Tactics(self.strategy, self.joins, self.join_evaluation, self.join_expiration)

    def changed(self, key: str, value: str) -> Settings:
        """These settings with one changed.

        Raises:
            UnknownName: There is no such setting.
            QueryError: The setting does not take that value.
        """
        name = key.lower()
        if name in MEASURES:
            changed = {name: MEASURES[name].read(name, value)}
            return replace(self, work=replace(self.work, **changed))
        if name in STORE_MEASURES:
            changed = {name: STORE_MEASURES[name].read(name, value)}
            return replace(self, store=replace(self.store, **changed))
        choices = CHOICES.get(key.lower())
        if choices is None:
            known = [*CHOICES, *MEASURES, *STORE_MEASURES]
            otherwise = f"Settings: {', '.join(known)}."
            msg = f'there is no setting called "{key}"'
            raise UnknownName(msg, hint=did_you_mean(key, known, otherwise=otherwise))
        if value.lower() not in choices:
            msg = f'setting "{key}" does not take the value "{value}"'
            raise QueryError(msg, hint=f"It takes {' or '.join(choices)}.")
        return replace(self, **{key.lower(): choices[value.lower()]})  # type: ignore[arg-type]  # CHOICES holds what the field takes

    def shown(self) -> dict[str, str]:
        """Every setting with its value as written."""
        chosen = {
            key: next(text for text, meant in choices.items() if meant == getattr(self, key))
            for key, choices in CHOICES.items()
        }
        shown = {key: one.show(getattr(self.work, key)) for key, one in MEASURES.items()}
        shown |= {key: one.show(getattr(self.store, key)) for key, one in STORE_MEASURES.items()}
        return chosen | shown

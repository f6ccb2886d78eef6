"""What a pipeline runs: statements, and groups of queries that share lanes.

A plan is written down as text; whoever runs a part of it makes the operators from that again, so
nothing but text and Arrow ever travels.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING
from penstock.errors import DataError
from penstock.planner.physical.building import Choices
from penstock.planner.statistics.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.store.layout import Home

_LEFTOVER = re.compile(r" \(left group \d+\)$")
_SUCCESSOR = " (new plan)"


def is_leftover(query: str) -> bool:
    """Whether a query has left its group, in which others run on."""
    return _LEFTOVER.search(query) is not None


def without_mark(query: str) -> str:
    """What a query that has left its group was called before."""
    return _LEFTOVER.sub("", query)


def successor(query: str) -> str:
    """What a query is called in a group that is to replace its own."""
    return query + _SUCCESSOR


@dataclass(frozen=True)
class Group:
    """Queries that were registered together and are divided by the same key.

    They share their operators; `lanes` instances of these share the keys. `number` is never given
    to another group of the same home.

    `statistics` are those by which its plan was chosen, as text; empty if nothing was known. A
    group that `replaces` another runs the same queries by another plan, beside it. Its windows
    began empty, so what it says holds from the instant `since` on.
    """

    number: int
    queries: tuple[str, ...]
    lanes: int
    statistics: str = ""
    replaces: int | None = None
    since: int = BEGINNING

    @property
    def known(self) -> Statistics:
        """What was known when its plan was chosen."""
        return (
            Statistics.from_json(json.loads(self.statistics)) if self.statistics else Statistics()
        )

    @property
    def runs(self) -> dict[str, str]:
        """What it runs, by the names of results: queries, under a name of its own or theirs."""
        if self.replaces is None:
            return {name: name for name in self.queries}
        return {name: name.removesuffix(_SUCCESSOR) for name in self.queries}


@dataclass(frozen=True)
class PipelinePlan:
    """The statements that declare streams and queries, and the groups that run.

    `shapes` says, for each group, what operators the planner made of its queries: state belongs
    to these, and another version of the planner may make others.
    """

    statements: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    partitions: int = Choices().partitions
    shapes: Mapping[str, str] = field(default_factory=dict, compare=False)

    def to_json(self) -> str:
        """As it is written down."""
        return json.dumps(asdict(self), indent=1)

    @staticmethod
    def from_json(text: str) -> PipelinePlan:
        """The plan that was written down."""
        values: dict[str, Any] = json.loads(text)
        groups = tuple(
            Group(**{**one, "queries": tuple(one["queries"])}) for one in values.pop("groups")
        )
        return PipelinePlan(groups=groups, statements=tuple(values.pop("statements")), **values)


def read_plan(home: Home, name: str) -> PipelinePlan:
    """A plan that was written down.

    Raises:
        DataError: The file is missing or damaged.
    """
    path = home.plans / name
    try:
        content = path.read_bytes()
        if plan_check(content) != name.split(".")[1]:
            msg = "it is not what was written"
            raise ValueError(msg)
        return PipelinePlan.from_json(content.decode())
    except (OSError, ValueError, KeyError, TypeError) as fault:
        msg = f"the plan {path} cannot be read: {fault}"
        raise DataError(msg, hint="Restore the home from a backup.") from fault


def plan_check(content: bytes) -> str:
    """What a plan's name says of its content."""
    return hashlib.sha256(content).hexdigest()[:16]

"""The facts of a record that stay when another plan runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.algebra.time import BEGINNING
from penstock.pipeline.retaining import retained_after
from penstock.store.records import RelationProgress, StreamProgress

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from penstock.pipeline.bound import BoundPlan
    from penstock.store.records import Record

Fact = TypeVar("Fact")
Pending = dict[str, dict[str, list[str]]]
"""By group and relation, the files of changes that its lanes have not looked at."""


def kept_facts(
    before: Record, now: BoundPlan, made: BoundPlan, queries: Collection[str]
) -> dict[str, Any]:
    """Facts of a record under a plan of some queries, of those under the plan of now.

    Groups that stay keep their state. A new group begins with empty windows, and is told what the
    relations it reads have been so far. What is not declared any more may be declared again, and
    then it is something else.
    """
    known = {one.name for one in made.session.catalog}
    streams = {one.name: StreamProgress() for one in made.streams}
    relations, pending = _told(before, now, made, known)
    retained = retained_after(before, now, made)
    return {
        "files": _among(before.files, known),
        "offsets": _among(before.offsets, known),
        "frames": _among(before.frames, known),
        "lanes": _among(before.lanes, made.lanes),
        "behind": _among(before.behind, made.lanes),
        "streams": streams | _among(before.streams, known),
        "clocks": _among(before.open_clocks, queries),
        "failures": _among(before.failures, queries),
        "result_rows": _among(before.result_rows, queries),
        "shed": _among(before.shed, queries),
        "relations": relations,
        "pending": pending,
        "retained": retained,
        "unsealed": before.unsealed if retained else (),
    }


def _among(facts: Mapping[str, Fact], names: Collection[str]) -> dict[str, Fact]:
    return {name: one for name, one in facts.items() if name in names}


def _told(
    before: Record, now: BoundPlan, made: BoundPlan, known: Collection[str]
) -> tuple[dict[str, RelationProgress], Pending]:
    """Relations as groups have been told of them, and what new groups are to be told."""
    relations = {
        name: _of_groups(one, made.groups) for name, one in _among(before.relations, known).items()
    }
    pending = {key: dict(one) for key, one in before.pending.items() if int(key) in made.groups}
    for number, group in made.groups.items():
        for name in group.relations:
            told = relations.setdefault(name, RelationProgress())
            if number not in now.groups:
                relations[name] = replace(told, groups={**told.groups, str(number): BEGINNING})
                if told.changes:
                    pending.setdefault(str(number), {})[name] = list(told.changes)
    return relations, pending


def _of_groups(relation: RelationProgress, groups: Collection[int]) -> RelationProgress:
    """The facts about a relation, without groups that are no more."""
    left = {name: one for name, one in relation.groups.items() if int(name) in groups}
    return replace(relation, groups=left)

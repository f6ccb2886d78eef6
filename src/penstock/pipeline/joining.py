"""Joining: the record from which on micro-batches feed groups that have caught up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.lane_host.group_clocks import least_clocks
from penstock.pipeline.bound import BoundPlan
from penstock.pipeline.plan_changes import kept_facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.pipeline.group_feed import GroupFeed
    from penstock.pipeline.ledger import Ledger
    from penstock.pipeline.plans import QueryGroup
    from penstock.store.records import Record


def joined(
    ledger: Ledger, feeds: Mapping[int, tuple[GroupFeed, dict[str, int]]]
) -> tuple[BoundPlan, dict[str, Any]]:
    """The plan in which groups run like others, and the facts of the record that begins it."""
    before, record = ledger.plan, ledger.record
    groups = tuple(
        _running(one, feeds[one.number][1]) if one.number in feeds else one
        for one in before.plan.groups
    )
    made = BoundPlan(replace(before.plan, groups=groups), before.session, before)
    queries = {name for group in groups for name in group.queries}
    facts = kept_facts(record, before, made, queries)
    results: list[str] = []
    for number, (feed, _) in feeds.items():
        results += _renamed(ledger, feed)
        facts["lanes"] |= feed.lanes
        facts["clocks"] |= least_clocks(
            (one.clocks for one in feed.last), {number: feed.group.results}
        )
        facts["result_rows"] |= dict(feed.rows)
        facts["failures"] |= _failures(feed)
        _note_relations(facts, feed)
        facts["pending"] = _left(record, facts["pending"], feed)
    return made, {**facts, "results": tuple(results)}


def _running(group: QueryGroup, exact: dict[str, int]) -> QueryGroup:
    """A group that catches up no more; one that replaces another does so when it is exact."""
    since = group.since if group.replaces is None else max(group.since, *exact.values())
    return replace(group, catches_up=False, exact=exact, since=since)


def _renamed(ledger: Ledger, feed: GroupFeed) -> list[str]:
    """The results of a group under names that tell by which record they came."""
    made = []
    for name in feed.results:
        new = ledger.home.new_segment(ledger.record.number + 1, 0, "results")
        (ledger.home.segments / name).rename(ledger.home.segments / new)
        made.append(new)
    return made


def _failures(feed: GroupFeed) -> dict[str, dict[str, int]]:
    """The failures so far, by query: each lane tells those of all that it has done."""
    found: dict[str, dict[str, int]] = {}
    for one in feed.last:
        for query, counts in one.failures.items():
            own = found.setdefault(query, {})
            for function, count in counts.items():
                own[function] = own.get(function, 0) + count
    return found


def _note_relations(facts: dict[str, Any], feed: GroupFeed) -> None:
    """Note the instant up to which the group has looked at relations."""
    for done in feed.last:
        for group, clocks in done.relations.items():
            for name, clock in clocks.items():
                known = facts["relations"][name]
                reached = max(clock, known.groups.get(group, clock))
                facts["relations"][name] = replace(known, groups={**known.groups, group: reached})


def _left(
    record: Record, pending: Mapping[str, Mapping[str, list[str]]], feed: GroupFeed
) -> dict[str, Any]:
    """The changes of relations that groups have not been fed yet."""
    key = str(feed.group.number)
    rest = {
        name: files[feed.fed[name] :]
        for name, files in record.pending.get(key, {}).items()
        if len(files) > feed.fed[name]
    }
    others = {other: dict(one) for other, one in pending.items() if other != key}
    return others | ({key: rest} if rest else {})

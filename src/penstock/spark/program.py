"""The effects of statements on a pipeline: its catalog, and the groups of queries that run.

The plan of a home holds statements that make the catalog when they are run in a new session, so
what was dropped is left out as soon as nothing depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import QueryDefinition, SinkDefinition
from penstock.cql import syntax
from penstock.cql.dialect import parse_script
from penstock.errors import PenstockError
from penstock.expected_load import stated_of
from penstock.pipeline.bound import understood
from penstock.pipeline.plans import next_of, taken_place_of
from penstock.pipeline.query_groups import groups_for
from penstock.pipeline.weights_as_keys import refuse_weights_as_keys
from penstock.planner.physical.building import Choices
from penstock.results.answer_kind import may_go_on

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.tactics import Tactics
    from penstock.pipeline.plans import PipelinePlan, QueryGroup
    from penstock.session import Outcome


@dataclass(frozen=True)
class ProgramEntry:
    """A statement, and the name that it declares or drops, or the setting that it changes."""

    text: str
    creates: str | None = None
    drops: str | None = None
    sets: str | None = None

    def mentions(self, name: str) -> bool:
        """A name that it may depend on; at times it does not, which only costs a line."""
        return name in self.text.lower()


def entry_of(statement: syntax.Statement, text: str) -> ProgramEntry:
    """The effect of a statement on the catalog."""
    match statement:
        case syntax.CreateSource() | syntax.CreateQuery() | syntax.CreateSink():
            return ProgramEntry(text, creates=statement.name.text.lower())
        case syntax.Drop():
            return ProgramEntry(text, drops=statement.name.text.lower())
        case syntax.SetOption():
            return ProgramEntry(text, sets=statement.key.text.lower())
    return ProgramEntry(text)


def pruned(entries: Sequence[ProgramEntry], first: int = 0) -> list[ProgramEntry]:
    """The entries without those that make no difference to what the others make.

    Entries before `first` are pruned already.
    """
    kept = list(entries)
    place = first
    while place < len(kept):
        earlier = _made_void(kept, place)
        if earlier is None:
            place += 1
            continue
        name = kept[place].drops
        if name is not None and not _is_declared(kept[:earlier], name):
            del kept[place]
        del kept[earlier]
        # What stood between may have been the reason to keep something else.
        place = 0
    return kept


def _made_void(entries: Sequence[ProgramEntry], place: int) -> int | None:
    """The entry that the one at a place undoes, if nothing between them depends on it."""
    entry = entries[place]
    if entry.sets is not None:
        before = place - 1
        return before if before >= 0 and entries[before].sets == entry.sets else None
    name = entry.drops or entry.creates
    if name is None:
        return None
    for earlier in range(place - 1, -1, -1):
        if entries[earlier].creates == name:
            return earlier
        if entries[earlier].mentions(name):
            return None
    return None


def _is_declared(entries: Sequence[ProgramEntry], name: str) -> bool:
    """A name in the catalog that entries make."""
    last = next((one for one in reversed(entries) if name in (one.creates, one.drops)), None)
    return last is not None and last.creates == name


class Program:
    """The statements and groups of a plan, as they change.

    Attributes:
        session: The catalog and the settings.
        groups: The groups that run.
        gone: Names that were dropped since `plan` was last called, in lower case.
    """

    def __init__(
        self,
        plan: PipelinePlan,
        next_group: int,
        lanes: int,
        entries: Sequence[ProgramEntry] | None = None,
    ) -> None:
        self.session = (plan.session or understood(plan.statements)).copy()
        self.groups = list(plan.groups)
        self.gone: set[str] = set()
        self._plan = plan
        self._next_group = next_group
        self._lanes = lanes
        self._entries = list(entries) if entries is not None else _entries_of(plan)
        self._waiting: dict[str, QueryDefinition] = {}

    def after(self, plan: PipelinePlan, next_group: int) -> Program:
        """The program of a plan that others have changed, which has the same statements or less."""
        known = {one.text: one for one in self._entries}
        if not all(text in known for text in plan.statements):
            return Program(plan, next_group, self._lanes)
        entries = [known[text] for text in plan.statements]
        return Program(plan, next_group, self._lanes, entries)

    def group_of(self, query: str) -> QueryGroup | None:
        """The group that a query runs in."""
        name = query.lower()
        return next((g for g in self.groups if name in map(str.lower, g.queries)), None)

    def exact_from(self, query: str) -> int:
        """The instant from which on a query that runs answers as if it had always run."""
        group = self.group_of(query)
        exact = {} if group is None else group.exact
        return exact.get(self.definition(query).name, BEGINNING)

    @property
    def waiting(self) -> dict[str, QueryDefinition]:
        """The queries that the next `plan` starts, by name."""
        return {one.name: one for one in self._waiting.values()}

    def definition(self, query: str) -> QueryDefinition:
        """A query by name.

        Raises:
            UnknownName: There is none.
        """
        found = self.session.catalog.find(query, "query")
        assert isinstance(found, QueryDefinition)
        return found

    def creates_what_is_gone(self, statement: syntax.Statement) -> bool:
        """A name that is declared again while its end has not been written down yet."""
        return (entry_of(statement, "").creates or "") in self.gone

    def take_in(self, outcome: Outcome, text: str, before: QueryDefinition | None) -> None:
        """Do what a statement did to the catalog; `before` is the query of its name until then."""
        statement = outcome.statement
        entry = entry_of(statement, text)
        if entry.creates is not None and outcome.name is None:
            return  # IF NOT EXISTS, and it did.
        if self._begins_next(statement, before):
            assert before is not None
            self._begin_next(before, statement, text)
            return
        pruned_already = 0
        if entry.drops is not None:
            self._drop(entry, before)
        elif entry.creates is not None or entry.sets is not None:
            if before is not None:
                self._leave(before, stays=False)
            else:
                pruned_already = len(self._entries)
            self._entries.append(entry)
        if isinstance(statement, syntax.CreateQuery) and statement.kind == "QUERY":
            self.start(outcome.name or "")
        self._entries = pruned(self._entries, pruned_already)

    def _begins_next(self, statement: syntax.Statement, before: QueryDefinition | None) -> bool:
        """A query that is created in place of one that runs goes on with its results."""
        if not isinstance(statement, syntax.CreateQuery) or before is None:
            return False
        group = self.group_of(before.name)
        if group is None or group.catches_up:
            return False
        return may_go_on(before.plan, self.definition(before.name).plan)

    def _begin_next(self, before: QueryDefinition, statement: syntax.Statement, text: str) -> None:
        """Let a query run under a name of its own until it can take the place of another."""
        assert isinstance(statement, syntax.CreateQuery)
        made = replace(self.definition(before.name), name=next_of(before.name))
        if self.session.catalog.get(made.name) is not None:
            self.forget(made.name)
        rest = text[statement.name.span.end - statement.span.start :]
        self.session.catalog.add(before, replace=True)
        self.session.catalog.add(made)
        written = f"CREATE QUERY {_quoted(made.name)}{rest}"
        self._entries.append(ProgramEntry(written, creates=made.name.lower()))
        self.start(made.name)

    @property
    def ready(self) -> list[str]:
        """The queries whose place others may take, which have caught up."""
        found = [taken_place_of(n) for g in self.groups if not g.catches_up for n in g.queries]
        return [one for one in found if one is not None]

    def take_place(self, query: str) -> None:
        """Let a query be the one that was created in its place."""
        before, made = self.definition(query), self.definition(next_of(query))
        old, new = self.group_of(before.name), self.group_of(made.name)
        assert new is not None
        numbers = () if old is None else old.numbers_of(before.name)
        self._leave(before, stays=False)
        self._rename(made, before.name)
        self.session.catalog.drop(made)
        self.session.catalog.add(replace(made, name=before.name), replace=True)
        names = {made.name: before.name}
        renamed = replace(
            new,
            queries=tuple(names.get(one, one) for one in new.queries),
            physical=new.physical.called(names),
            exact={names.get(name, name): one for name, one in new.exact.items()},
            follows={**new.follows, before.name: numbers},
        )
        self.groups = [renamed if one is new else one for one in self.groups]

    def _rename(self, query: QueryDefinition, name: str) -> None:
        """Let the statement of a query have another name, with what depends on that behind it."""
        place = next(n for n, e in enumerate(self._entries) if e.creates == query.name.lower())
        start = len(f"CREATE QUERY {_quoted(query.name)}")
        text = f"CREATE QUERY {_quoted(name)}{self._entries[place].text[start:]}"
        sinks = [one for one in self.session.catalog if isinstance(one, SinkDefinition)]
        behind = {one.name.lower() for one in sinks if one.query.lower() == name.lower()}
        moved = [one for one in self._entries[:place] if one.creates in behind]
        stay = [one for one in self._entries[:place] if one.creates not in behind]
        made = ProgramEntry(text, creates=name.lower())
        self._entries = [*stay, made, *moved, *self._entries[place + 1 :]]

    def _drop(self, entry: ProgramEntry, query: QueryDefinition | None) -> None:
        name = entry.drops
        assert name is not None
        if all(one.creates != name for one in self._entries):
            return  # IF EXISTS, and it did not.
        if query is not None:
            self._leave(query, stays=False)
            if self.session.catalog.get(next_of(query.name)) is not None:
                self.forget(next_of(query.name))
        else:
            self._entries.append(entry)
        self.gone.add(name)

    def start(self, query: str) -> None:
        """Let a query run that does not; with those that are started before the next `plan`."""
        self._waiting[query.lower()] = self.definition(query)

    def stop(self, query: str) -> None:
        """Let a query run no more; it stays in the catalog."""
        self._leave(self.definition(query), stays=True)

    def forget(self, query: str) -> None:
        """Let a query be as if it had not been created."""
        definition = self.definition(query)
        self._leave(definition, stays=False)
        self.session.catalog.drop(definition)

    def _leave(self, query: QueryDefinition, *, stays: bool) -> None:
        """Take a query out of its group, and out of the statements unless it stays.

        Others of the group run on; operators that only it needed are gone.
        """
        name = query.name.lower()
        self._waiting.pop(name, None)
        place = max(n for n, one in enumerate(self._entries) if one.creates == name)
        if not stays:
            del self._entries[place]
        group = self.group_of(name)
        if group is None:
            return
        # Another plan for queries of which one is gone would be another one again.
        self.groups = [one for one in self.groups if one.replaces != group.number]
        rest = [one for one in group.queries if one.lower() != name]
        place = self.groups.index(group)
        self.groups[place : place + 1] = [group.only(rest)] if rest else []

    def plan(self) -> PipelinePlan:
        """The plan that runs what was started and kept.

        Raises:
            PenstockError: Queries cannot run; they are not there any more, and the rest is.
        """
        waiting = self.waiting
        self._waiting.clear()
        self.gone.clear()
        try:
            new = self._grouped(waiting)
        except PenstockError:
            for name in waiting:
                self.forget(name)
            raise
        self.groups += new
        self._next_group += len(new)
        return self.unchanged()

    def unchanged(self) -> PipelinePlan:
        """The plan that runs what is kept, without what waits to be started."""
        statements = tuple(one.text for one in self._entries)
        groups, session = tuple(self.groups), self.session.copy()
        return replace(self._plan, statements=statements, groups=groups, session=session)

    def _kind(self, query: QueryDefinition) -> tuple[Tactics, int | None, bool]:
        """The way a query runs, from when on, and whether it reads what runs already."""
        reads_queries = any(self.group_of(name) is not None for name in query.reads)
        return query.tactics, query.start, reads_queries

    def _grouped(self, queries: Mapping[str, QueryDefinition]) -> list[QueryGroup]:
        """Queries of different tactics have no operators in common."""
        found: list[QueryGroup] = []
        kinds = {name: self._kind(one) for name, one in queries.items()}
        for kind in dict.fromkeys(kinds.values()):
            tactics, _, reads_queries = kind
            alike = {name: one for name, one in queries.items() if kinds[name] == kind}
            plans = {name: one.plan for name, one in alike.items()}
            choices = Choices.of(tactics, self._plan.partitions)
            known, first = stated_of(alike.values()), self._next_group + len(found)
            made = groups_for(plans, first, self._lanes, choices, known)
            found += [replace(one, reads_queries=reads_queries) for one in made]
        refuse_weights_as_keys(found, self.session.catalog)
        return found


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _entries_of(plan: PipelinePlan) -> list[ProgramEntry]:
    """The entries of the statements of a plan that was written down."""
    parsed = [(parse_script(text), text) for text in plan.statements]
    return [entry_of(statement, text) for (statement,), text in parsed]

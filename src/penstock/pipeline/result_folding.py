"""Old results are replaced by what is left of them: the content of each query, in one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.operators import Final
from penstock.algebra.streams import RelationToStream
from penstock.operators.block import to_table
from penstock.pipeline.plans import group_numbers
from penstock.store.bundles import Bundle, write_bundle
from penstock.store.contents import elements_from, folded
from penstock.store.records import FoldedContent
from penstock.store.result_files import blocks_in

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from penstock.operators.block import Block
    from penstock.pipeline.bound import BoundPlan
    from penstock.store.layout import Home
    from penstock.store.records import Record

_AT_ONCE = 1_000_000
"""About so many elements of a query are folded at once: what is left of them fits into caches."""
_OPEN_AT_ONCE = 1000
"""So many files of results are held open meanwhile: a process cannot map any number of them."""


@dataclass(frozen=True, slots=True)
class Said:
    """The results of a record: the plan they are of, the files, and their size, if known."""

    plan: str
    results: tuple[str, ...]
    bytes: int = 0


def fold(home: Home, record: Record, plan: BoundPlan, since: Iterable[Said]) -> FoldedContent:
    """Write what is left of all results up to a record.

    Args:
        home: Where they are.
        record: The record.
        plan: Its plan.
        since: What records said since results were last folded.
    """
    folding = _Folding(home, record, plan)
    tables = {
        f"query/{query}": to_table(block, plan.columns(query))
        for query, block in folding.folded(since).items()
    }
    name = home.new_segment(record.number, 0, "content")
    path = home.segments / name
    about = {"clocks": record.clocks, "groups": folding.groups}
    write_bundle(path, tables, about, durable=True)
    return FoldedContent(name, record.number, path.stat().st_size)


def left_of_results(home: Home, record: Record, plan: BoundPlan) -> dict[str, Block]:
    """The rest of each query's results that has a content, up to a record."""
    records = (home.chain.read(n) for n in range(record.folded_up_to + 1, record.number + 1))
    return _Folding(home, record, plan).folded(said_by(one) for one in records)


def said_by(record: Record) -> Said:
    """The results that a record names."""
    # The end of the input was none if anything follows it.
    return Said(record.plan, () if record.kind == "flush" else record.results)


class _Folding:
    """Folds the results of all queries that have a content, file by file.

    Attributes:
        groups: The queries, and the group that each is of: another may have had its name.
    """

    def __init__(self, home: Home, record: Record, plan: BoundPlan) -> None:
        self._home = home
        self._clocks = record.clocks
        self._numbers = {
            query: numbers for query, numbers in _relations(plan) if query in record.clocks
        }
        self.groups = {query: numbers[-1] for query, numbers in self._numbers.items()}
        self._running: dict[str, set[int]] = {record.plan: set(plan.groups)}
        self._blocks: dict[str, list[Block]] = {query: [] for query in self.groups}
        self._rows = dict.fromkeys(self.groups, 0)
        self._left = dict.fromkeys(self.groups, 0)
        self._open = 0
        if record.content is not None:
            before = Bundle(home.segments / record.content.file)
            known = before.about["groups"]
            for query, numbers in self._numbers.items():
                if known.get(query) in numbers:
                    self._add(query, before)

    def folded(self, since: Iterable[Said]) -> dict[str, Block]:
        """The rest of all results, of queries of which anything is left."""
        for said in since:
            for name in said.results:
                self.take_in(self._home.segments / name, said.plan)
        return self.finished()

    def take_in(self, path: Path, plan: str) -> None:
        """The results in a file, which came when a plan ran."""
        running = self._groups_in(plan)
        bundle = Bundle(path)
        for query, numbers in self._numbers.items():
            if not running.isdisjoint(numbers):
                self._add(query, bundle)
        self._open += 1
        if self._open >= _OPEN_AT_ONCE:
            self._fold_all()

    def finished(self) -> dict[str, Block]:
        """The rest, of queries of which anything is left."""
        self._fold_all()
        return {query: blocks[0] for query, blocks in self._blocks.items() if blocks}

    def _add(self, query: str, bundle: Bundle) -> None:
        """Take in the results of a query in a file: those that have ended play no part."""
        for block in blocks_in(bundle, query):
            found = elements_from(block, self._clocks[query])
            self._blocks[query].append(found)
            self._rows[query] += len(found)
        if self._rows[query] > _AT_ONCE + 2 * self._left[query]:
            self._fold(query)

    def _fold_all(self) -> None:
        self._open = 0
        for query in self.groups:
            self._fold(query)

    def _fold(self, query: str) -> None:
        """Let elements cancel out; what is left is looked at again when twice as much has come."""
        left = folded(self._blocks[query], self._clocks[query])
        self._blocks[query] = [] if left is None else [left]
        self._rows[query] = self._left[query] = 0 if left is None else len(left)

    def _groups_in(self, plan: str) -> set[int]:
        if plan not in self._running:
            self._running[plan] = set(group_numbers(self._home, plan))
        return self._running[plan]


def _relations(plan: BoundPlan) -> Iterable[tuple[str, tuple[int, ...]]]:
    """The queries that have a content, rather than send rows, and the groups of each."""
    for group in plan.groups.values():
        for query, logical in group.plans.items():
            if not isinstance(logical, RelationToStream | Final):
                yield query, group.group.numbers_of(query)

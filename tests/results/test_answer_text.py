"""Answers of random queries as text, cut anyhow: lines that follow from the oracle's timeline."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from penstock.algebra.streams import RelationToStream
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.types import DOUBLE
from penstock.algebra.values import NO_RESULTS
from penstock.reference.timeline import Timeline
from penstock.results.answer_text import AnswerText, headline, snapshot_text
from penstock.results.paragraphs import Paragraphs
from penstock.results.settling import ChangingContent, timed_fold_for
from penstock.testing.engines import OracleEngine
from penstock.testing.inline import QUERY, answer_of
from penstock_fuzz.draw import Draw
from penstock_fuzz.generate import generate
from penstock_fuzz.inline import initial_tables, started, tables_of_feed
from penstock_fuzz.trial import is_feedable, late_rows
from results.expected_lines import interval_lines, result_lines, snapshot_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.reference.timeline import Emission
    from penstock.results.settling import Elements
    from penstock_fuzz.trial import Trial

LABELLED = re.compile(r"(@\S+(?: [\d:.]+)?  )?(.*)")
ALL = 10**6
"""A portion that takes any answer here."""


@dataclass
class Commit:
    """What a feed said: elements, and the clock after it."""

    blocks: list[Block]
    clock: int


@dataclass
class Case:
    """A random query, what it said feed by feed, and what it says by the definitions."""

    plan: Plan
    commits: list[Commit]
    shape: tuple[list[object], int, int]
    expected: Timeline | Sequence[Emission]

    def folded(self, fold: Callable[[], Elements], draw: Draw) -> Iterator[Block]:
        """What a fold makes of the commits; at times it is saved and taken back."""
        now = fold()
        for commit in self.commits:
            block = now.take_in(commit.blocks, commit.clock)
            if block is not None:
                yield block
            if draw.chance(30):
                again = fold()
                again.restore(now.segments())
                now = again


def case_of(seed: str) -> Case:
    generated = generate(seed)
    # Of rows that are shed, the definitions know nothing.
    trial, plan = replace(generated.trial, shedding=None), generated.plan
    running = started(trial, plan, trial.lanes)
    results = [running.feed(initial_tables(trial, running))]
    clocks = [BEGINNING]
    for feed in trial.feeds:
        results.append(running.feed(tables_of_feed(trial, feed, running)))
        clocks.append(min(lane.clock(QUERY) for lane in running.lanes.lanes))
    results.append(running.finish())
    commits = [
        Commit(one.blocks.get(QUERY, []), clock)
        for one, clock in zip(results, [*clocks, INFINITY], strict=True)
    ]
    node = running.graph.nodes[running.graph.results[QUERY]]
    shape = (list(node.arrow_types), node.span, trial.partitions)
    return Case(plan, commits, shape, by_definition(trial, plan, commits))


def by_definition(
    trial: Trial, plan: Plan, commits: Sequence[Commit]
) -> Timeline | Sequence[Emission]:
    """The oracle's answer; where doubles may be off by a little, the sum of the elements."""
    if DOUBLE in plan.schema.types or not is_feedable(trial):
        return answer_of(plan, [one for each in commits for one in each.blocks], 0).result
    return OracleEngine().evaluated(plan, trial.inputs(late_rows(trial))).result


def text_of(texts: Iterable[str]) -> list[str]:
    return "\n".join(texts).split("\n")


def squeezed(lines: Sequence[str]) -> list[str]:
    """Lines without what puts them into columns."""
    return [re.sub(" +", " ", line).strip() for line in lines]


def answer(case: Case, draw: Draw, *, intervals: bool, portion: int) -> list[str]:
    text = AnswerText(case.plan, "q", intervals=intervals, portion=portion)
    made: list[str] = []
    for block in case.folded(lambda: timed_fold_for(case.plan, *case.shape), draw):
        made += text.add(block)
    return text_of([*made, *text.end()])


@pytest.mark.parametrize("number", range(60))
def test_lines_follow_from_the_result_at_every_instant(number: int) -> None:
    case, draw = case_of(f"lines {number}"), Draw(f"lines {number}")
    head = headline(case.plan, "q")
    expected = [head, *result_lines(case.plan, case.expected)]
    assert answer(case, draw, intervals=False, portion=ALL) == expected
    small = answer(case, draw, intervals=False, portion=draw.count(1, 5))
    assert squeezed(small) == squeezed(expected)
    if isinstance(case.plan, RelationToStream):
        return
    assert isinstance(case.expected, Timeline)
    rows = [head, *interval_lines(case.plan, case.expected)]
    assert answer(case, draw, intervals=True, portion=ALL) == rows
    small = answer(case, draw, intervals=True, portion=draw.count(1, 5))
    assert squeezed(small) == squeezed(rows)


def going_on(cases: Sequence[Case], draw: Draw) -> list[str]:
    """What is printed of answers that go on, commit by commit, in any turn."""
    shown: list[str] = []
    paragraphs = Paragraphs(shown.append)
    answers = [
        (
            AnswerText(case.plan, f"q{place}"),
            case.folded(partial(timed_fold_for, case.plan, *case.shape), draw),
        )
        for place, case in enumerate(cases)
    ]
    while answers:
        text, blocks = turn = draw.pick(*answers)
        if (block := next(blocks, None)) is None:
            answers.remove(turn)
        else:
            paragraphs.go_on(text, chain(text.add(block), text.flush()))
    return text_of(shown)


def each_by_itself(lines: Sequence[str], cases: Sequence[Case]) -> dict[str, list[str]]:
    """The lines of each answer under its head, with the instant in each of them."""
    heads = {headline(case.plan, f"q{place}"): place for place, case in enumerate(cases)}
    found: dict[str, list[str]] = {head: [] for head in heads}
    head = instant = ""
    for line in lines:
        if line in heads:
            head, instant = line, ""
        elif line:
            label, rest = LABELLED.findall(line)[0]
            instant = label.strip() if label else instant
            found[head].append(f"{instant} {re.sub(' +', ' ', rest).strip()}")
    return found


@pytest.mark.parametrize("number", range(40))
def test_an_answer_is_printed_alike_whether_it_ends_or_goes_on(number: int) -> None:
    draw = Draw(f"going on {number}")
    cases = [case_of(f"going on {number} {place}") for place in range(draw.count(1, 3))]
    printed = each_by_itself(going_on(cases, draw), cases)
    for place, case in enumerate(cases):
        head = headline(case.plan, f"q{place}")
        whole = each_by_itself([head, *result_lines(case.plan, case.expected)], cases)[head]
        assert printed[head] == ([] if whole == [f" {NO_RESULTS}"] else whole)


@pytest.mark.parametrize("number", range(30))
def test_intervals_go_on_where_an_earlier_process_was(number: int) -> None:
    case, draw = case_of(f"lines {number}"), Draw(f"earlier {number}")
    if isinstance(case.plan, RelationToStream):
        return
    assert isinstance(case.expected, Timeline)
    blocks = list(case.folded(partial(timed_fold_for, case.plan, *case.shape), draw))
    place = draw.count(0, len(blocks))
    before, after = (AnswerText(case.plan, "q", intervals=True) for _ in range(2))
    made: list[str] = []
    for block in blocks[:place]:
        made += [*before.add(block), *before.flush()]
        after.pass_over(block)
    for block in blocks[place:]:
        made += [*after.add(block), *after.flush()]
    lines = text_of([*made, *after.end()])
    rows = interval_lines(case.plan, case.expected)
    assert [one for one in squeezed(lines) if one != headline(case.plan, "q")] == squeezed(rows)


@pytest.mark.parametrize("number", range(20))
def test_a_snapshot_is_the_result_at_its_instant(number: int) -> None:
    case, draw = case_of(f"lines {number}"), Draw(f"at {number}")
    if isinstance(case.plan, RelationToStream):
        return
    assert isinstance(case.expected, Timeline)
    starts = case.expected.starts[1:] or [0]
    for instant in {draw.pick(*starts) + draw.count(-1, 1) for _ in range(4)}:
        content = ChangingContent(*case.shape)
        for commit in case.commits:
            content.take_in(commit.blocks, min(commit.clock, instant + 1))
        shown = text_of(snapshot_text(case.plan, None, instant, content.current()))
        assert shown[1:] == snapshot_lines(case.plan, case.expected, instant)

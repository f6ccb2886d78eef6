"""Whatever the text, the front end answers with a plan that works or with a PenstockError."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.algebra import streams
from penstock.algebra.patterns import pattern_of
from penstock.algebra.plan import walk
from penstock.algebra.text import Drawn, pattern_note, plan_json, plan_text, plans_dot
from penstock.algebra.windows import Range
from penstock.errors import InternalError, PenstockError
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.reference.oracle import Oracle
from penstock.session import Session
from properties.generate_texts import (
    CORPUS,
    DECLARATIONS,
    composed,
    mutated,
    soups,
    typed_at_random,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan

DECLARED = Session()
DECLARED.execute(DECLARATIONS)
TINY = Inputs(
    streams={
        "s": [(-7, 1, float("nan"), "ä"), (0, None, -0.0, ""), (0, 2, 1e308, None),
              (3, 1, float("inf"), "a%_\\("), (9, -(2**31), None, "2024-02-29")],
        "e": [(0, 1, Decimal("-0.01"), True, 0), (10**7, None, None, None, 2**31 - 1),
              (-(10**7), 2, Decimal("99999999.99"), False, -(2**31))],
    },
    relations={
        "r": RelationHistory([(1, "a"), (None, None)], [RelationChange(2, "-", (1, "a"))]),
        "n": RelationHistory([(1, "b")], [RelationChange(0, "+", (1, ""))]),
    },
)  # fmt: skip
"""Few rows, of the values that functions trip over."""


def fresh() -> Session:
    session = Session()
    for definition in DECLARED.catalog:
        session.catalog.add(definition)
    return session


def check(text: str) -> None:
    """The property: an answer or a PenstockError that can be shown, and plans that work."""
    try:
        outcomes = fresh().execute(text)
    except PenstockError as error:
        assert_can_be_shown(error, text)
    else:
        for outcome in outcomes:
            if outcome.plan is not None:
                assert_works(outcome.plan)
    try:
        fresh().bind(text)
    except PenstockError as error:
        assert_can_be_shown(error, text)


def assert_can_be_shown(error: PenstockError, text: str) -> None:
    assert not isinstance(error, InternalError), error
    shown = str(error)
    assert error.message in shown
    if error.at is not None:
        assert 0 <= error.at.start < error.at.end <= len(text), (error.at, text)
        assert re.search(r"\n\s+\^+(\n|$)", shown), shown


def assert_works(plan: Plan) -> None:
    assert plan_text(plan, pattern_note)
    assert json.loads(json.dumps(plan_json(plan)))["pattern"] == pattern_of(plan).value
    assert plans_dot([Drawn(plan)]).endswith("}")
    if is_small(plan):
        oracle = Oracle(TINY)
        oracle.timeline(plan)
        if isinstance(plan, streams.RelationToStream):
            oracle.emissions(plan)


def is_small(plan: Plan) -> bool:
    """Whether the plan has so few inputs, and so few slides happen, that it ends soon."""
    nodes = list(walk(plan))
    sliding = [
        one.spec
        for one in nodes
        if isinstance(one, streams.Window) and isinstance(one.spec, Range) and one.spec.slide
    ]
    slides = [(2 * 10**7 + spec.length) // (spec.slide or 1) for spec in sliding]
    return sum(not one.children for one in nodes) <= 4 and max(slides, default=0) < 3000


# Random text


@settings(max_examples=400)
@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    check(text)


@settings(max_examples=1000)
@given(soups())
def test_words_of_the_language_in_any_order(text: str) -> None:
    check(text)


@settings(max_examples=1500)
@given(mutated())
def test_damaged_statements(text: str) -> None:
    check(text)


@settings(max_examples=2000)
@given(composed())
def test_queries_of_random_clauses(text: str) -> None:
    check(text)


@settings(max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
@given(typed_at_random())
def test_expressions_of_random_types(text: str) -> None:
    check(text)


@pytest.mark.parametrize("statement", CORPUS)
def test_every_prefix_of_a_statement(statement: str) -> None:
    for end in range(len(statement)):
        check(statement[:end])


@pytest.mark.parametrize("statement", CORPUS)
def test_the_statements_that_are_damaged_are_valid(statement: str) -> None:
    for outcome in fresh().execute(statement):
        if outcome.plan is not None:
            assert_works(outcome.plan)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT at + INTERVAL 'NaN' SECOND AS x FROM e",
        "SELECT at + INTERVAL 'Infinity' DAYS AS x FROM e",
        "SELECT k FROM recent WHERE v > 15e0.",
        f"SELECT {'9' * 5000} AS x FROM s",
        f"SELECT k FROM s [ROWS {'9' * 5000}]",
        f"SELECT k FROM s GROUP BY {'9' * 5000}",
        f"RSTREAM(SELECT k FROM s [ROWS 2 SLIDE 2] LIMIT {'9' * 5000})",
        f"CREATE STREAM z (ts BIGINT, a DECIMAL({'9' * 5000}), WATERMARK FOR ts AS ts)",
        "CREATE STREAM z (ts BIGINT, a DECIMAL(²), WATERMARK FOR ts AS ts)",
        "SELECT * FROM (SELECT k AS `a.b`, v AS b FROM s) z",
        "SELECT * FROM s AS z (a, A, b, c)",
        "SELECT * FROM s AS z (`p.x`, `q.x`, b, c)",
    ],
    ids=lambda text: text[:60],
)
def test_texts_that_once_went_wrong(text: str) -> None:
    check(text)


@pytest.mark.parametrize("names", ["a, a", "`x.b`, `y.b`"])
def test_views_with_odd_column_names(names: str) -> None:
    check(f"CREATE VIEW z ({names}) AS SELECT k, v FROM s; SELECT * FROM z")


NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": lambda depth: f"SELECT {'(' * depth}k{')' * depth} AS x FROM s",
    "calls": lambda depth: f"SELECT {'ABS(' * depth}k{')' * depth} AS x FROM s",
    "subqueries": lambda depth: f"SELECT * FROM {'(SELECT * FROM ' * depth}s{') a' * depth}",
    "emitters": lambda depth: f"SELECT k FROM {'ISTREAM(SELECT k FROM ' * depth}s{')' * depth}",
    "unclosed": lambda depth: f"SELECT k FROM {'(' * depth}",
    "NOT": lambda depth: f"SELECT k FROM s WHERE {'NOT ' * depth}TRUE",
    "OR": lambda depth: f"SELECT k FROM s WHERE {' OR '.join(['k > 1'] * depth)}",
    "AND": lambda depth: f"SELECT k FROM s WHERE {' AND '.join(['k > 1'] * depth)}",
    "sums": lambda depth: f"SELECT k{' + 1' * depth} AS x FROM s",
    "UNION": lambda depth: " UNION ".join(["SELECT k FROM s"] * depth),
}


@pytest.mark.parametrize("depth", [12, 3000])
@pytest.mark.parametrize("kind", NESTED)
def test_deep_nesting(kind: str, depth: int) -> None:
    check(NESTED[kind](depth))


@pytest.mark.parametrize("depth", [30, 60, 100, 200, 400])
@pytest.mark.parametrize("kind", NESTED)
def test_nesting_between_deep_and_too_deep(kind: str, depth: int) -> None:
    check(NESTED[kind](depth))


@pytest.mark.parametrize("kind", ["OR", "AND", "UNION"])
def test_long_chains_are_not_deep(kind: str) -> None:
    fresh().bind(NESTED[kind](400))

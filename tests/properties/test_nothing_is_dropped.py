"""Every part of a parsed query has a meaning or is refused by name; no word is read and dropped.

The reference evaluator and the engines share the front end, so they agree on what it drops: only
these tests can see it.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokens import Tokenizer

from penstock.cql import syntax
from penstock.cql.understood import (
    ADDED,
    SAYS_NOTHING,
    UNDERSTOOD,
    refuse_what_would_be_dropped,
)
from penstock.errors import NotSupported, PenstockError
from properties.dropping import (
    TEXTS,
    WORDS,
    gaps,
    matters,
    outcome,
    parsed,
    places,
    plan_of,
    with_word,
)
from properties.generate_texts import CORPUS, composed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from properties.dropping import Place

EXAMPLES = """
SELECT a.k FROM (SELECT k FROM s [NOW] OUTPUT [ROWS 2]) a
RSTREAM(SELECT k FROM s [ROWS 2 SLIDE 2] UNION ALL SELECT k FROM r ORDER BY k LIMIT 3 OFFSET 1)
RSTREAM(SELECT k FROM s [ROWS 2 SLIDE 2] EXCEPT SELECT k FROM r ORDER BY k LIMIT 3 OFFSET 1)
RSTREAM(SELECT k FROM s [ROWS 2 SLIDE 2] UNION MAX SELECT k FROM r ORDER BY k LIMIT 3 OFFSET 1)
RSTREAM(SELECT k FROM s [ROWS 2 SLIDE 2] EXCEPT STRICT SELECT k FROM r ORDER BY k LIMIT 3 OFFSET 1)
WITH r AS (SELECT k FROM s [NOW]) SELECT k FROM s [NOW] UNION MAX SELECT k FROM r OUTPUT [ROWS 2]
WITH r AS (SELECT k FROM s [NOW]) SELECT k FROM s [NOW] EXCEPT STRICT SELECT k FROM r OUTPUT [ROWS 2]
SELECT k FROM s [NOW] UNION MAX SELECT k FROM s [NOW] COALESCE INTERVALS EMIT FINAL
SELECT k FROM s [NOW] EXCEPT STRICT SELECT k FROM s [NOW] SPLIT INTERVALS 2 EMIT FINAL
SELECT k FROM s [NOW] UNION SELECT k FROM s [NOW] SPLIT INTERVALS 2
SELECT k FROM s [NOW] EXCEPT SELECT k FROM s [NOW] SPLIT INTERVALS 2
SELECT k FROM s [NOW] INTERSECT SELECT k FROM s [NOW] SPLIT INTERVALS 2
SELECT k FROM s [NOW] SPLIT INTERVALS 2
RSTREAM(SELECT k FROM s [ROWS 2 SLIDE 2] INTERSECT SELECT k FROM r ORDER BY k LIMIT 3 OFFSET 1)
WITH r AS (SELECT k FROM s [NOW]) SELECT k FROM s [NOW] UNION SELECT k FROM r OUTPUT [ROWS 2]
WITH r AS (SELECT k FROM s [NOW]) SELECT k FROM s [NOW] EXCEPT SELECT k FROM r OUTPUT [ROWS 2]
WITH r AS (SELECT k FROM s [NOW]) SELECT k FROM s [NOW] INTERSECT SELECT k FROM r OUTPUT [ROWS 2]
SELECT k FROM s [NOW] UNION SELECT k FROM r EMIT FINAL
SELECT k FROM s [NOW] QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) = 1
SELECT k FROM s [TUMBLE 5] EMIT CHANGES
(SELECT k FROM s [TUMBLE 5]) EMIT CHANGES
SELECT k FROM s [TUMBLE 5] UNION SELECT k FROM s [TUMBLE 5] EMIT CHANGES
SELECT k FROM s [TUMBLE 5] EXCEPT SELECT k FROM r EMIT CHANGES
SELECT k FROM s [TUMBLE 5] INTERSECT SELECT k FROM r EMIT CHANGES
SELECT k FROM s [TUMBLE 5] UNION MAX SELECT k FROM s [TUMBLE 5] EMIT CHANGES
SELECT k FROM s [TUMBLE 5] EXCEPT STRICT SELECT k FROM r EMIT CHANGES
SELECT k FROM s [NOW] EXCEPT SELECT k FROM r EMIT FINAL
SELECT k FROM s [NOW] INTERSECT SELECT k FROM r EMIT FINAL
WITH r AS (SELECT k FROM s [NOW]) (SELECT k FROM r)
WITH r AS (SELECT k FROM s [NOW]) ISTREAM(SELECT k FROM r)
ISTREAM(WITH r AS (SELECT k FROM s [NOW]) SELECT k FROM r)
RSTREAM(WITH r AS (SELECT k FROM s [ROWS 2 SLIDE 2]) SELECT k FROM r ORDER BY k)
ISTREAM(SELECT k FROM s [NOW]) OUTPUT [ROWS 2]
(SELECT k FROM s [NOW]) OUTPUT [ROWS 2]
(SELECT k FROM s [NOW]) EMIT FINAL
SELECT a.k FROM (SELECT k FROM s) AS a (k) JOIN r ON a.k = r.k
SELECT a.k FROM s a LEFT JOIN (SELECT k FROM s) b JOIN r ON b.k = r.k ON a.k = b.k
SELECT a.k FROM s a JOIN ISTREAM(SELECT k FROM s [NOW]) [ROWS 2] b JOIN r ON b.k = r.k ON a.k = b.k
SELECT a.k FROM s a LEFT JOIN s [NOW] b JOIN r ON b.k = r.k ON a.k = b.k
SELECT a.k FROM s a LEFT JOIN r USING (k)
SELECT DISTINCT ON (k, v) k FROM s [RANGE 5]
SELECT CASE k WHEN 1 THEN 2 ELSE 3 END AS a, NOT (v > 1) AS b, ~k AS c, k ?? 1 AS d FROM s [NOW]
SELECT k & 1 AS a, k | 1 AS b, k ^ 1 AS c, k DIV 2 AS d, k % 2 AS e, k / 2 AS f FROM s [NOW]
SELECT k FROM s WHERE c RLIKE 'a' AND c ILIKE 'b' AND c || 'x' = 'y' AND k IS DISTINCT FROM 3
SELECT k FROM s WHERE k > ANY (SELECT k FROM r) AND k > ALL (SELECT k FROM r) AND TRUE AND k <= 2
SELECT TRY_CAST(c AS DECIMAL(5, 2)) AS a, POSITION('x' IN c) AS b, CAST(NULL AS INT) AS d FROM s
SELECT EXTRACT(YEAR FROM at) AS y, at - INTERVAL 2 DAYS AS z, TIMESTAMP '2024-01-31 12:00:00' FROM e
SELECT x.k FROM (SELECT k FROM s) [ROWS 2] x WHERE x.k <> 3 AND x.k >= 2 EMIT FINAL
SELECT RSTREAM RESTORE (DISTINCT k) FROM s [RANGE 4 SLIDE 2]
SELECT RSTREAM(DISTINCT k) FROM s [RANGE 4 SLIDE 2] ORDER BY k DESC NULLS FIRST
""".strip().splitlines()  # fmt: skip  # noqa: E501


def queries() -> Iterator[tuple[str, exp.Expr, str]]:
    """Each example that is one query: text, tree and plan."""
    for text in (*EXAMPLES, *CORPUS):
        if text.startswith(("SELECT", "(", "WITH", *syntax.EMITTERS)):
            tree = parsed(text)
            plan = plan_of(tree)
            assert plan is not None, text
            yield text, tree, plan


def classes(root: type[exp.Expr]) -> set[type[exp.Expr]]:
    """All kinds of nodes that sqlglot knows, and those of this language."""
    return {root, *(one for below in root.__subclasses__() for one in classes(below))}


def test_the_table_speaks_of_parts_that_exist() -> None:
    for node, parts in UNDERSTOOD.items():
        unknown = parts - set(node.arg_types) - ADDED.get(node, frozenset())
        assert not unknown, f"{node.__name__} has no {unknown}"
    assert all(part in node.arg_types for node, part in SAYS_NOTHING)


def test_what_is_not_in_the_table_is_refused() -> None:
    """Also what a later version of sqlglot adds: a node, or a part of a node."""
    kinds = classes(exp.Expression)
    assert len(kinds) > 1000
    parts = [(node, part) for node in kinds for part in (*node.arg_types, "a later part")]
    for node, part in parts:
        tree = node()
        tree.args[part] = exp.Null()
        if part in UNDERSTOOD.get(node, frozenset()):
            refuse_what_would_be_dropped(tree)
        else:
            with pytest.raises(NotSupported, match="is not part of the language here"):
                refuse_what_would_be_dropped(tree)


def test_what_is_in_the_table_matters() -> None:
    """Each part of the table is used: in some example, another plan comes of its absence."""
    wanted = {(node, part) for node, parts in UNDERSTOOD.items() for part in parts}
    for _, tree, plan in queries():
        for place in places(tree):
            if (place.node, place.part) in wanted and matters(place, tree, plan):
                wanted.discard((place.node, place.part))
    # The binder refuses a type in another one, ISTREAM(...) EMIT, and SEMI and ANTI JOIN.
    refused = {"DataType.nested", "Emit.changes", "Emit.final", "Join.kind"}
    assert {f"{node.__name__}.{part}" for node, part in wanted} == refused


def test_no_part_of_an_example_is_dropped() -> None:
    for text, tree, plan in queries():
        assert_nothing_is_dropped(text, tree, plan)


@settings(max_examples=100)
@given(composed())
def test_no_part_of_a_random_query_is_dropped(text: str) -> None:
    if text.startswith(("CREATE", "EXPLAIN")):
        return
    try:
        tree = parsed(text)
    except PenstockError:
        return
    plan = plan_of(tree)
    if plan is not None:
        assert_nothing_is_dropped(text, tree, plan)


def assert_nothing_is_dropped(text: str, tree: exp.Expr, plan: str) -> None:
    for place in places(tree):
        if not is_harmless(place, tree):
            assert matters(place, tree, plan), f"{place} says nothing in: {text}"


def is_harmless(place: Place, tree: exp.Expr) -> bool:
    """Whether a query may mean the same without a part."""
    if (place.node, place.part) in SAYS_NOTHING:
        return True
    node = place.holder(tree)
    match (place.node, place.part):
        case (exp.Column, "table") | (exp.Join, "kind"):
            return True  # a.k is k where there is one k; a, b is a CROSS JOIN b
        case (exp.Identifier | exp.Alias | exp.TableAlias | exp.CTE, _):
            return True  # a name that nobody mentions
        case (exp.Literal, "is_string"):
            return isinstance(node.parent, exp.Interval | syntax.DateLiteral)
    # What EXISTS and IN list and how often does not matter to them; an expression in it neither.
    return place.inside(tree, exp.Exists, exp.In, exp.Any, exp.All)


# Words

NOISE = {
    "AS", "ALL", "INNER", "OUTER", "CROSS", "DISTINCT", "ASC", "ROW", "ROWS", "INTERVAL", "RANGE",
    "NOT", "=", "==", "(", ")",
}  # fmt: skip
"""Words that SQL lets one write or leave out, in some places."""
NOISE |= {word for word, token in Tokenizer.KEYWORDS.items() if token in Parser.TYPE_TOKENS}
"""A type in front of a constant that has this type already."""

FORMS = ("{}", "{} k", "{} (k)", "{} 1", "{} ROWS")


@pytest.mark.parametrize("text", TEXTS)
def test_no_word_is_read_and_dropped(text: str) -> None:
    expected = outcome(text)
    assert expected is not None
    chance = random.Random(text)
    for _ in range(150):
        gap, word = chance.choice(gaps(text)), chance.choice(WORDS)
        longer = with_word(text, gap, chance.choice(FORMS).format(word))
        assert word in NOISE or outcome(longer) != expected, longer

"""Parsed queries with a part left out, and texts with a word put in."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokens import Tokenizer

from penstock.binder.queries import bind_query
from penstock.cql import syntax
from penstock.cql.dialect import Cql, parse_script
from penstock.cql.understood import is_set
from penstock.errors import PenstockError
from penstock.session import Session
from properties.generate_texts import DECLARATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp

DECLARED = Session()
DECLARED.execute(DECLARATIONS)


def fresh() -> Session:
    """A session that may be changed, with everything declared."""
    session = Session()
    for definition in DECLARED.catalog:
        session.catalog.add(definition)
    return session


def parsed(text: str) -> exp.Expr:
    """The tree of one query."""
    (statement,) = parse_script(text)
    assert isinstance(statement, syntax.Select), text
    return statement.query


def plan_of(tree: exp.Expr) -> str | None:
    """The plan of a tree, None if it is refused."""
    try:
        return repr(bind_query(tree, DECLARED.catalog, DECLARED.settings).plan)
    except PenstockError:
        return None


@dataclass(frozen=True)
class Place:
    """A part of a node of a tree, or one item of a part that is a list."""

    node: type[exp.Expr]
    part: str
    number: int
    item: int | None = None

    def without(self, tree: exp.Expr) -> exp.Expr:
        """A copy of the tree in which the part is left out."""
        changed = copy.deepcopy(tree)
        node = list(changed.walk())[self.number]
        if self.item is None:
            node.set(self.part, None)
        else:
            node.set(self.part, [x for i, x in enumerate(node.args[self.part]) if i != self.item])
        return changed

    def inside(self, tree: exp.Expr, *parents: type[exp.Expr]) -> bool:
        """Whether the node stands inside one of these."""
        return list(tree.walk())[self.number].find_ancestor(*parents) is not None

    def holder(self, tree: exp.Expr) -> exp.Expr:
        """The node."""
        return list(tree.walk())[self.number]


def places(tree: exp.Expr) -> Iterator[Place]:
    """All parts of a tree that hold something."""
    for number, node in enumerate(tree.walk()):
        for part, value in node.args.items():
            if is_set(value):
                yield Place(type(node), part, number)
            if isinstance(value, list) and len(value) > 1:
                yield from (Place(type(node), part, number, item) for item in range(len(value)))


def matters(place: Place, tree: exp.Expr, plan: str) -> bool:
    """Whether the plan would be another one, or none, without the part."""
    try:
        return plan_of(place.without(tree)) != plan
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        # A tree that no text has: somebody looked for the part and missed it.
        return True


# Words

SINGLE_WORDS = sorted(word for word in Tokenizer.KEYWORDS if word.strip())
MORE_WORDS = (
    "PERCENT", "TIES", "ONLY", "ROW", "BY", "NAME", "CORRESPONDING", "STRICT", "SAMPLE", "FINAL",
    "RESTORE", "INTERNAL", "SLIDE", "NULLS", "FIRST", "LAST", "FILL", "TOTALS", "SYMMETRIC",
    "OUTPUT", "EMIT", "ISTREAM", "IGNORE", "RESPECT", "RECURSIVE", "ORDINALITY", "TOP",
    "MATERIALIZED", "MAX",
)  # fmt: skip
WORDS = sorted({*SINGLE_WORDS, *MORE_WORDS})
"""The words of all SQLs that sqlglot reads."""

TEXTS = """
SELECT k, v FROM s [ROWS 9] WHERE k > 1
SELECT DISTINCT k FROM s [RANGE 10] x
SELECT x.k, COUNT(DISTINCT x.v) AS n FROM s [ROWS 2 SLIDE 2] x LEFT JOIN r ON x.k = r.k GROUP BY x.k HAVING COUNT(*) > 1
RSTREAM(SELECT k, v FROM s [ROWS 2 SLIDE 2] ORDER BY k DESC, v LIMIT 3 OFFSET 1)
SELECT k FROM s [PARTITION BY k ROWS 1] UNION ALL SELECT k FROM r
SELECT k FROM s [NOW] UNION MAX SELECT k FROM s [NOW] SPLIT INTERVALS 3
SELECT k FROM s [NOW] EXCEPT SELECT k FROM r OUTPUT [ROWS 3]
ISTREAM(SELECT k FROM s [FIXED 5] WHERE k IN (SELECT MAX(k) AS m FROM r))
WITH w AS (SELECT k FROM s [NOW]) SELECT w.k FROM w, r WHERE w.k = r.k EMIT FINAL
SELECT CAST(k AS DECIMAL(5, 2)) AS a, CASE WHEN k > 1 THEN 2 ELSE 3 END AS b FROM s [NOW]
SELECT SUM(k) FILTER (WHERE v > 1) AS a FROM s [RANGE 5 SLIDE 5]
SELECT k FROM s [NOW] x JOIN r USING (k)
SELECT at + INTERVAL 5 SECONDS AS x, DATE '2024-01-01' AS d FROM e [RANGE 5 SECONDS]
SELECT k FROM s [SINCE 3] WHERE v BETWEEN 1 AND 3 AND c LIKE 'a' AND k IS NOT NULL AND EXISTS (SELECT * FROM r)
SELECT EXTRACT(YEAR FROM at) AS y, POSITION('a' IN 'b') AS p FROM e
CREATE STREAM z (ts BIGINT NOT NULL, a INT, WATERMARK FOR ts AS ts - 5) USING csv OPTIONS (path 'x')
CREATE VIEW z (a) AS SELECT k FROM s
DROP VIEW IF EXISTS recent
SET integer_division = true
""".strip().splitlines()  # fmt: skip  # noqa: E501
"""Statements into which words are put."""


def gaps(text: str) -> list[int]:
    """The offsets between two words of a text."""
    return [0, *(token.end + 1 for token in Cql().tokenize(text))]


def with_word(text: str, gap: int, words: str) -> str:
    """The text with words in a gap."""
    return f"{text[:gap]} {words} {text[gap:]}"


def outcome(text: str) -> str | None:
    """What a statement does, as a text; None if it is refused."""
    session = fresh()
    try:
        results = session.execute(text)
    except PenstockError:
        return None
    shown = [(one.plan, one.message, one.rows) for one in results]
    declared = re.sub(r"text='[^']*'", "", repr(session.catalog.get("z")))
    return repr((shown, declared, session.settings))

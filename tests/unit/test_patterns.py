"""Update patterns: the rules of the semantics, operator by operator."""

from __future__ import annotations

import pytest

from penstock.algebra import patterns
from penstock.algebra.operators import Aggregate
from penstock.algebra.patterns import pattern_of
from penstock.builder import stream
from penstock.errors import InternalError
from penstock.planner.partition.phases import in_phases
from penstock.session import Session

DECLARATIONS = """
CREATE STREAM s (ts BIGINT, a INT, WATERMARK FOR ts AS ts);
CREATE STREAM t (ts BIGINT, a INT, WATERMARK FOR ts AS ts);
CREATE RELATION r (a INT);
CREATE NONRETROACTIVE RELATION n (a INT);
"""

RULES = {
    "MON": [
        "SELECT a FROM s",
        "SELECT a FROM s [UNBOUNDED]",
        "SELECT a FROM s [SINCE 3]",
        "SELECT a FROM s [BETWEEN 1 AND 3]",
        "ISTREAM(SELECT a FROM s [ROWS 1])",
        "DSTREAM(SELECT a FROM s [RANGE 5])",
        "RSTREAM(SELECT COUNT(*) FROM s [RANGE 5])",
        "SELECT a FROM s [RANGE 5 INTERNAL]",
        "SELECT COUNT(*) FROM s [ROWS 5 INTERNAL]",
        "SELECT a FROM s UNION ALL SELECT a FROM t",
        "SELECT s.a FROM s, t",
        "SELECT DISTINCT a FROM s",
    ],
    "WKS": [
        "SELECT a FROM s [RANGE 5]",
        "SELECT a FROM s [RANGE 5 SLIDE 2]",
        "SELECT a FROM s [FIXED 5]",
        "SELECT a FROM s [NOW]",
        "SELECT a + 1 FROM s [RANGE 5] WHERE a > 2",
        "SELECT s.a FROM s [RANGE 5] JOIN n ON s.a = n.a",
        "SELECT a FROM s [RANGE 5] WHERE a IN (SELECT a FROM n)",
        "SELECT a FROM s [RANGE 5] WHERE a NOT IN (SELECT a FROM n)",
        "SELECT a FROM s [RANGE 5] UNION ALL SELECT a FROM t [RANGE 5]",
        "SELECT a FROM s OUTPUT [RANGE 5]",
    ],
    "WK": [
        "SELECT a FROM s [RANGE 5] UNION ALL SELECT a FROM t [RANGE 6]",
        "SELECT a FROM s [RANGE 5] UNION ALL SELECT a FROM t",
        "SELECT s.a FROM s [RANGE 5], t [RANGE 5]",
        "SELECT s.a FROM s [RANGE 5], t",
        "SELECT a FROM s [RANGE 5] WHERE a IN (SELECT a FROM t [RANGE 5])",
        "SELECT DISTINCT a FROM s [RANGE 5]",
        "SELECT a FROM s [RANGE 5] UNION SELECT a FROM t [RANGE 5]",
    ],
    "STR": [
        "SELECT a FROM s [ROWS 5]",
        "SELECT a FROM s [PARTITION BY a ROWS 5]",
        "SELECT a FROM s OUTPUT [ROWS 5]",
        "SELECT a FROM r",
        "SELECT s.a FROM s [RANGE 5], r",
        "SELECT a FROM s [RANGE 5] UNION ALL SELECT a FROM r",
        "SELECT COUNT(*) FROM s [RANGE 5]",
        "SELECT COUNT(*) FROM s",
        "SELECT a FROM s [RANGE 5] EXCEPT SELECT a FROM t [RANGE 5]",
        "SELECT a FROM s [RANGE 5] EXCEPT ALL SELECT a FROM t [RANGE 5]",
        "SELECT a FROM s [RANGE 5] WHERE a NOT IN (SELECT a FROM t [RANGE 5])",
        "SELECT s.a FROM s [RANGE 5] LEFT JOIN t [RANGE 5] ON s.a = t.a",
        "SELECT a FROM s [RANGE 5] INTERSECT ALL SELECT a FROM t [RANGE 5]",
        "SELECT DISTINCT a FROM s [ROWS 5]",
    ],
}


@pytest.mark.parametrize(
    ("pattern", "query"), [(name, query) for name, queries in RULES.items() for query in queries]
)
def test_pattern_of_a_query(pattern: str, query: str) -> None:
    session = Session()
    session.execute(DECLARATIONS)
    assert pattern_of(session.bind(query).plan).value == pattern


@pytest.mark.parametrize("operation", ["INTERSECT ALL", "UNION MAX"])
@pytest.mark.parametrize(("window", "pattern"), [("[RANGE 5]", "STR"), ("", "MON")])
def test_copies_that_are_counted_are_withdrawn(operation: str, window: str, pattern: str) -> None:
    session = Session()
    session.execute(DECLARATIONS)
    bags = f"SELECT a FROM s {window} {operation} SELECT a FROM t {window}"
    assert pattern_of(session.bind(bags).plan).value == pattern
    aggregate = session.bind(f"SELECT a, COUNT(*) AS n FROM ({bags}) GROUP BY a").plan
    while not isinstance(aggregate, Aggregate):
        (aggregate,) = aggregate.children
    assert (in_phases(aggregate) is None) == (pattern == "STR")


def test_an_operator_without_one_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "RULES", {})
    with pytest.raises(InternalError, match="Stream"):
        pattern_of(stream("s", "ts BIGINT", time="ts").plan)

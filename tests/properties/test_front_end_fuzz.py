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
from penstock.algebra.text import plan_dot, plan_json, plan_text
from penstock.algebra.windows import Range
from penstock.catalog.functions import function_names
from penstock.errors import InternalError, PenstockError
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.reference.oracle import Oracle
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan

DECLARED = Session()
DECLARED.execute("""
CREATE STREAM s (ts BIGINT, k INT, v DOUBLE, c STRING, WATERMARK FOR ts AS ts - 5);
CREATE STREAM e (at TIMESTAMP, k INT, price DECIMAL(10, 2), ok BOOLEAN, day DATE,
    WATERMARK FOR at AS at - INTERVAL 5 SECONDS) USING json OPTIONS (path '/x');
CREATE RELATION r (k INT, c STRING);
CREATE NONRETROACTIVE RELATION n (k INT, c STRING);
CREATE VIEW recent AS SELECT k, v FROM s [RANGE 10];
CREATE VIEW arrivals AS ISTREAM(SELECT k, c FROM s [ROWS 3]);
CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [NOW];
CREATE SINK target FROM q USING console;
""")
TINY = Inputs(
    streams={
        "s": [(-7, 1, float("nan"), "ä"), (0, None, -0.0, ""), (0, 2, 1e308, None),
              (3, 1, float("inf"), "a%_\\("), (2**62, -(2**31), None, "2024-02-29")],
        "e": [(0, 1, Decimal("-0.01"), True, 0), (10**15, None, None, None, 2**31 - 1),
              (-(10**17), 2, Decimal("99999999.99"), False, -(2**31))],
    },
    relations={
        "r": RelationHistory([(1, "a"), (None, None)], [RelationChange(2, "-", (1, "a"))]),
        "n": RelationHistory([(1, "b")], [RelationChange(0, "+", (1, ""))]),
    },
)  # fmt: skip
"""Few rows, of the values that functions trip over."""

CORPUS = """
CREATE STREAM a (ts BIGINT, x INT NOT NULL COMMENT 'x', WATERMARK FOR ts AS ts - INTERVAL '2' HOURS) USING csv OPTIONS (time_unit 's', header = true, a.b 1)
CREATE OR REPLACE STREAM s (at TIMESTAMP, `odd name` DECIMAL(5, 2), WATERMARK FOR at AS at)
CREATE NONRETROACTIVE RELATION IF NOT EXISTS n2 (k INT, d DATE) USING json OPTIONS ("path" '/tmp/x')
CREATE VIEW v2 (a, b) AS SELECT k, COUNT(*) FROM s [RANGE 10 SLIDE 2] GROUP BY k
CREATE QUERY q2 AS ISTREAM(SELECT * FROM s [PARTITION BY k, c ROWS 3])
CREATE SINK o2 FROM q USING parquet OPTIONS (path '/tmp')
DROP VIEW IF EXISTS recent; DROP SINK target; DROP QUERY q
SHOW STREAMS; SHOW SETTINGS; SHOW FUNCTIONS; SHOW QUERIES; DESCRIBE s; DESC q
EXPLAIN SELECT k FROM recent WHERE v > 1.5e0; EXPLAIN q
SET integer_division = true; SET empty_aggregates = 'none'
SELECT k, v * 2 AS w, -v, NOT (v > 1) FROM s [RANGE 10] WHERE v BETWEEN 1 AND 3 OR c LIKE 'a\\\\%' ESCAPE '!' AND k IN (1, NULL)
SELECT a.k, b.c FROM s [RANGE 10] AS a, r b WHERE a.k = b.k AND a.c <=> b.c AND a.c IS NOT DISTINCT FROM ''
SELECT * FROM s [ROWS 5 SLIDE 2] a LEFT JOIN e [NOW] b ON a.k = b.k
SELECT a.*, b.v FROM s [FIXED 5] a FULL OUTER JOIN recent b USING (k) CROSS JOIN r
SELECT k, SUM(v) AS total, COUNT(DISTINCT c) FILTER (WHERE v > 0) FROM s [RANGE 4 SLIDE 2] GROUP BY k HAVING total > 1 AND MIN(v) < 5
SELECT DISTINCT CASE WHEN v > 1 THEN 'x' WHEN c IS NULL THEN c ELSE 'z' END AS y, CAST(k AS STRING) || c FROM s [SINCE 3]
SELECT k FROM s [BETWEEN -5 AND 7] UNION ALL SELECT k FROM r EXCEPT SELECT k FROM n2 INTERSECT ALL SELECT k FROM recent
SELECT k FROM s [UNBOUNDED] WHERE EXISTS (SELECT 1 AS one FROM r WHERE r.k = s.k) AND k NOT IN (SELECT k FROM recent) AND v > ANY (SELECT v FROM recent)
SELECT (SELECT MAX(v) FROM s [ROWS 2]) AS m, (SELECT COUNT(*) FROM r WHERE r.k = x.k) AS c FROM s [NOW] x
WITH a AS (SELECT k FROM s [RANGE 3]), b AS (SELECT k FROM a) SELECT * FROM b JOIN a ON a.k = b.k
SELECT ISTREAM(k, v) FROM s [RANGE 3] OUTPUT [ROWS 2]
SELECT RSTREAM(DISTINCT k) FROM s [RANGE 6 SLIDE 3] ORDER BY k DESC NULLS LAST LIMIT 2 OFFSET 1
ISTREAM RESTORE (SELECT k, COUNT(*) AS n FROM s [RANGE 6 SLIDE 3] GROUP BY k)
RSTREAM RESTORE (SELECT k FROM s [ROWS 4 SLIDE 2])
DSTREAM(SELECT k FROM s [RANGE 2] EXCEPT ALL SELECT k FROM s [ROWS 1])
SELECT s.k, t.k FROM s [RANGE 5 INTERNAL], s [ROWS 2 INTERNAL] t WHERE s.k = t.k
SELECT AVG(v) AS m FROM s [RANGE 6 SLIDE 3 INTERNAL]
SELECT s.k, n.c FROM s [RANGE 5] JOIN n ON s.k = n.k WHERE n.c IS NOT NULL
SELECT k FROM ISTREAM(SELECT k, v FROM s [NOW]) [PARTITION BY k ROWS 1] AS x WHERE v IS NOT TRUE
SELECT k, price / 3, YEAR(day), EXTRACT(MONTH FROM at), at + INTERVAL 3 DAYS, DATE '2024-01-31' FROM e [RANGE 1 MINUTE 30 SECONDS SLIDE 10 SECONDS]
SELECT QUANTILE(price, 0.5), MEDIAN(k), STDDEV(k), BOOL_AND(ok) FROM e [RANGE '2' HOURS] WHERE at > TIMESTAMP '2024-01-31 12:00:00' -- end
(SELECT k FROM s [NOW]) UNION (SELECT k /* two */ FROM arrivals [ROWS 2]) OUTPUT [RANGE 5]
SELECT k % 2 AS p, COUNT(*) FROM s [ROWS 3] GROUP BY 1 HAVING NOT EXISTS (SELECT * FROM r)
SELECT (k, c) FROM s [NOW] WHERE (k, c) IN (SELECT k, c FROM r) AND (k > 1) IS NOT FALSE
""".strip().splitlines()  # fmt: skip  # noqa: E501


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
    assert plan_text(plan, patterns=True)
    assert json.loads(json.dumps(plan_json(plan)))["pattern"] == pattern_of(plan).value
    assert plan_dot(plan).endswith("}")
    if is_small(plan):
        oracle = Oracle(TINY)
        oracle.timeline(plan)
        if isinstance(plan, streams.RelationToStream):
            oracle.emissions(plan)


def is_small(plan: Plan) -> bool:
    """Whether the plan has so few inputs, and its rows so few slides, that it ends soon."""
    nodes = list(walk(plan))
    slides = [
        one.spec.slide
        for one in nodes
        if isinstance(one, streams.Window) and isinstance(one.spec, Range) and one.spec.slide
    ]
    return sum(not one.children for one in nodes) <= 4 and min(slides, default=2**60) > 2**52


# Text


@settings(max_examples=500)
@given(st.text(max_size=80))
def test_any_text(text: str) -> None:
    check(text)

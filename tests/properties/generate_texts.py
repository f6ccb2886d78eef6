"""Texts for the front end: words in any order, damaged statements, queries of random clauses."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from penstock.catalog.functions import function_names

DECLARATIONS = """
CREATE STREAM s (ts BIGINT, k INT, v DOUBLE, c STRING, WATERMARK FOR ts AS ts - 5);
CREATE STREAM e (at TIMESTAMP, k INT, price DECIMAL(10, 2), ok BOOLEAN, day DATE,
    WATERMARK FOR at AS at - INTERVAL 5 SECONDS) USING json OPTIONS (path '/x');
CREATE RELATION r (k INT, c STRING);
CREATE NONRETROACTIVE RELATION n (k INT, c STRING);
CREATE VIEW recent AS SELECT k, v FROM s [RANGE 10];
CREATE VIEW arrivals AS ISTREAM(SELECT k, c FROM s [ROWS 3]);
CREATE VIEW names AS SELECT k, UPPER(c) AS c FROM n;
CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [NOW];
CREATE SINK target FROM q USING console;
"""
"""What the texts speak about."""

CORPUS = """
CREATE STREAM a (ts BIGINT NOT NULL, x INT COMMENT 'x', WATERMARK FOR ts AS ts - INTERVAL '2' HOURS) USING csv OPTIONS (time_unit 's', header = true, a.b 1)
CREATE OR REPLACE STREAM s (at TIMESTAMP, `odd name` DECIMAL(5, 2), WATERMARK FOR at AS at)
CREATE NONRETROACTIVE RELATION IF NOT EXISTS n2 (k INT, d DATE) USING json OPTIONS ("path" '/tmp/x')
CREATE VIEW v2 (a, b) AS SELECT k, COUNT(*) FROM s [RANGE 10 SLIDE 2] GROUP BY k
CREATE QUERY q2 AS ISTREAM(SELECT * FROM s [PARTITION BY k, c ROWS 3])
CREATE SINK o2 FROM q USING parquet OPTIONS (path '/tmp')
DROP VIEW IF EXISTS recent; DROP SINK target; DROP QUERY q
SHOW STREAMS; SHOW SETTINGS; SHOW FUNCTIONS; SHOW QUERIES; DESCRIBE s; DESC q
EXPLAIN SELECT k FROM recent WHERE v > 1.5e0; EXPLAIN q; REPLAN q
SET integer_division = true; SET empty_aggregates = 'none'
SELECT k, v * 2 AS w, -v, NOT (v > 1) FROM s [RANGE 10] WHERE v BETWEEN 1 AND 3 OR c LIKE 'a\\\\%' ESCAPE '!' AND k IN (1, NULL)
SELECT a.k, b.c FROM s [RANGE 10] AS a, r b WHERE a.k = b.k AND a.c <=> b.c AND a.c IS NOT DISTINCT FROM ''
SELECT * FROM s [ROWS 5 SLIDE 2] a LEFT JOIN s [NOW] b ON a.k = b.k
SELECT a.*, b.v FROM s [FIXED 5] a FULL OUTER JOIN recent b USING (k) CROSS JOIN r
SELECT k, SUM(v) AS total, COUNT(DISTINCT c) FILTER (WHERE v > 0) FROM s [RANGE 4 SLIDE 2] GROUP BY k HAVING total > 1 AND MIN(v) < 5
SELECT DISTINCT CASE WHEN v > 1 THEN 'x' WHEN c IS NULL THEN c ELSE 'z' END AS y, CAST(k AS STRING) || c FROM s [SINCE 3]
SELECT k FROM s [BETWEEN -5 AND 7] UNION ALL SELECT k FROM r EXCEPT SELECT k FROM r INTERSECT ALL SELECT k FROM recent
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
SELECT k FROM ISTREAM(SELECT k, v FROM s [NOW]) [PARTITION BY k ROWS 1] AS x WHERE (v > 1) IS NOT TRUE
SELECT k, price / 3, YEAR(day), EXTRACT(MONTH FROM at), at + INTERVAL 3 DAYS, DATE '2024-01-31' FROM e [RANGE 1 MINUTE 30 SECONDS SLIDE 10 SECONDS]
SELECT QUANTILE(price, 0.5), MEDIAN(k), STDDEV(k), BOOL_AND(ok) FROM e [RANGE '2' HOURS] WHERE at > TIMESTAMP '2024-01-31 12:00:00' -- end
(SELECT k FROM s [NOW]) UNION (SELECT k /* two */ FROM arrivals [ROWS 2])
SELECT k % 2 AS p, COUNT(*) FROM s [ROWS 3] GROUP BY 1 HAVING NOT EXISTS (SELECT * FROM r)
SELECT k FROM s [NOW] WHERE (k, c) IN (SELECT k, c FROM r) AND (k > 1) IS NOT FALSE
""".strip().splitlines()  # fmt: skip  # noqa: E501
"""A statement, or a few, of every kind; all are valid."""

# Words

PUNCTUATION = (
    "( ) ( ) , , . * [ ] ; = <> < >= <=> + - / % || ' \" ` :: -> : ? { } @ $ # \\ -- /* */"
)
WORDS = """
    SELECT SELECT DISTINCT FROM FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET UNION ALL EXCEPT
    INTERSECT JOIN LEFT RIGHT FULL OUTER CROSS NATURAL SEMI ANTI INNER ON USING AS WITH EXISTS IN
    NOT AND OR IS NULL TRUE FALSE UNKNOWN LIKE ILIKE RLIKE ESCAPE BETWEEN SYMMETRIC CASE WHEN THEN
    ELSE END CAST TRY_CAST EXTRACT INTERVAL DATE TIMESTAMP ANY SOME ISTREAM DSTREAM RSTREAM RESTORE
    OUTPUT RANGE ROWS PARTITION SLIDE FIXED NOW UNBOUNDED SINCE INTERNAL SECONDS MONTHS DIV FILTER
    OVER FOR WATERMARK CREATE REPLACE STREAM RELATION NONRETROACTIVE VIEW QUERY SINK DROP IF SHOW
    STREAMS DESCRIBE EXPLAIN SET OPTIONS COMMENT INT BIGINT DOUBLE DECIMAL STRING BOOLEAN ARRAY MAP
    STRUCT VALUES LATERAL UNNEST TABLESAMPLE PIVOT QUALIFY WINDOW ASC DESC NULLS FIRST LAST
    s e r n q recent arrivals target k v c ts at price ok day x
"""
TOKENS = [
    *WORDS.split(), *PUNCTUATION.split(), *(name.upper() for name in function_names()),
    "0", "1", "2", "10", "1.5", "1e3", "1e999", ".5", "9223372036854775808", "9" * 40, "0x1F", "²",
    "''", "'a'", "'2024-01-31'", "'1 day'", "'NaN'", "'Infinity'", "`a`", '"b"', "[RANGE 5]",
    "[ROWS 2]", "[RANGE 4 SLIDE 2]", "[NOW]", "[PARTITION BY k ROWS 1]", "FROM s [RANGE 5]",
    "COUNT(*)", "SUM(v)", "(SELECT k FROM r)", "s.k", "s.*", "e.price", "CREATE STREAM",
]  # fmt: skip
BEGINNINGS = (
    "", "SELECT", "SELECT * FROM s", "SELECT k FROM s [RANGE 5] WHERE", "CREATE", "SELECT k ,",
    "SELECT COUNT(*) FROM s [ROWS 2] GROUP BY", "SELECT k FROM s [", "SELECT k FROM s WHERE k IN (",
    "CREATE STREAM z (ts BIGINT ,", "ISTREAM ( SELECT", "SELECT k FROM recent UNION", "WITH a AS (",
)  # fmt: skip


def soups() -> st.SearchStrategy[str]:
    """Words of the language in any order."""
    words = st.lists(st.sampled_from(TOKENS), max_size=14)
    return st.builds(
        lambda first, rest: " ".join([first, *rest]), st.sampled_from(BEGINNINGS), words
    )


# Damage


def tokens_of(text: str) -> list[str]:
    return re.findall(r"'[^']*'|\w+|\s+|.", text)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A statement with a few tokens deleted, doubled, swapped or replaced, or characters put in."""
    tokens = tokens_of(draw(st.sampled_from(CORPUS)))
    for _ in range(draw(st.integers(1, 4))):
        here, there = (draw(st.integers(0, len(tokens) - 1)) for _ in range(2))
        match draw(st.sampled_from(["delete", "double", "swap", "replace", "graft", "insert"])):
            case "delete" if len(tokens) > 1:
                del tokens[here]
            case "double":
                tokens.insert(here, tokens[there])
            case "swap":
                tokens[here], tokens[there] = tokens[there], tokens[here]
            case "replace":
                tokens[here] = draw(st.sampled_from(TOKENS))
            case "graft":
                other = tokens_of(draw(st.sampled_from(CORPUS)))
                start = draw(st.integers(0, len(other) - 1))
                tokens[here:there] = other[start : start + draw(st.integers(1, 12))]
            case _:
                tokens.insert(here, draw(st.text(max_size=3)))
    return "".join(tokens)


# Expressions of random types

COLUMNS = {"s": ["ts", "k", "v", "c"], "e": ["at", "k", "price", "ok", "day"]}
LITERALS = (
    "0", "1", "-3", "2.50", "1e300", "NULL", "TRUE", "'a'", "'2024-02-30'", "INTERVAL 2 DAYS",
    "DATE '2024-01-31'", "TIMESTAMP '2024-01-31 12:00:00'", "9223372036854775807", "'month'", "''",
    "12345678901234567890123456789.123456789",
)  # fmt: skip
TYPES = ["INT", "BIGINT", "DOUBLE", "DECIMAL(38, 10)", "DECIMAL(3, 3)", "STRING", "BOOLEAN", "DATE",
         "TIMESTAMP"]  # fmt: skip
OPERATORS = ["+", "-", "*", "/", "%", "DIV", "=", "<>", "<", ">=", "<=>", "AND", "OR", "||", "LIKE",
             "RLIKE", "IS DISTINCT FROM"]  # fmt: skip


def expressions(columns: list[str]) -> st.SearchStrategy[str]:
    leaves = st.sampled_from([*columns, *columns, *columns, *LITERALS])
    return st.recursive(leaves, compound, max_leaves=6)


def compound(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    calls = st.builds(
        lambda name, args: f"{name}({', '.join(args)})",
        st.sampled_from(function_names()),
        st.lists(part, max_size=3),
    )
    return st.one_of(
        calls,
        calls,
        st.builds("({} {} {})".format, part, st.sampled_from(OPERATORS), part),
        st.builds("CAST({} AS {})".format, part, st.sampled_from(TYPES)),
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, part, part, part),
        st.builds("({} BETWEEN {} AND {})".format, part, part, part),
        st.builds("({} IN ({}, {}))".format, part, part, part),
        st.builds("({} IS NOT NULL)".format, part),
        st.builds("(- {})".format, part),
    )


@st.composite
def typed_at_random(draw: st.DrawFn) -> str:
    stream = draw(st.sampled_from(sorted(COLUMNS)))
    value = expressions(COLUMNS[stream])
    items = ", ".join(draw(st.lists(value, min_size=1, max_size=2)))
    where = f" WHERE {draw(value)} IS NOT NULL" if draw(st.booleans()) else ""
    group = f" GROUP BY {draw(value)}" if draw(st.booleans()) else ""
    return f"SELECT {items} FROM {stream}{where}{group}"


# Queries of random clauses

ITEMS = (
    "*", "a.*", "a.k", "DISTINCT a.k", "COUNT(*) AS n", "a.k, COUNT(*)", "MAX(a.k) AS k",
    "a.k + 1 AS k", "(SELECT MAX(v) FROM recent) AS m", "ISTREAM(a.k)", "RSTREAM(*)",
    "a.k AS k, a.k AS K", "1 AS one", "(SELECT COUNT(*) FROM r WHERE r.k = a.k) AS m",
    "(SELECT SUM(n.k) FROM n WHERE n.k = a.k) AS m", "MAX((SELECT COUNT(*) FROM r)) AS z",
    "(SELECT COUNT(*) + a.k FROM r WHERE r.k < a.k) AS m", "NULL",
    "DISTINCT ON (a.k) a.k", "DISTINCT ON (a.k) *",
    "COUNT(*) AS k, (SELECT COUNT(*) FROM names) AS x", "CASE a.k WHEN 1 THEN a.k END AS `a.k`",
)  # fmt: skip
ITEMS_OF_TWO = (
    "b.*", "k", "a.k, b.k", "SUM(a.k) AS x, MAX(b.k)", "AVG(a.k) FILTER (WHERE b.k > 1)",
    "a.k = b.k AS k",
)  # fmt: skip
SOURCES = (
    "s", "s [RANGE 5]", "s [ROWS 2]", "s [RANGE 4 SLIDE 2]", "s [RANGE 2 SLIDE 2]",
    "s [ROWS 2 SLIDE 2]", "s [PARTITION BY k ROWS 1]", "s [RANGE 3 INTERNAL]",
    "s [ROWS 2 INTERNAL]", "s [NOW]", "r", "n", "s [RANGE 4 SLIDE 2 INTERNAL]", "names", "recent",
    "arrivals", "arrivals [ROWS 2]", "ISTREAM(SELECT k, v FROM s [NOW]) [FIXED 3]",
    "DSTREAM(SELECT k FROM r)", "(SELECT k FROM n)", "(SELECT k, COUNT(*) AS n FROM r GROUP BY k)",
    "(SELECT x.k FROM s [NOW] x JOIN n ON x.k = n.k)",
    "(SELECT k FROM s [NOW] UNION SELECT k FROM r)", "e [RANGE 5 SECONDS]",
)  # fmt: skip
JOINS = (
    "{}, {}", "{} JOIN {} ON a.k = b.k", "{} LEFT JOIN {} ON a.k = b.k",
    "{} FULL JOIN {} USING (k)", "{} JOIN {} USING (k)", "{} RIGHT JOIN {} ON a.k < b.k",
    "{} CROSS JOIN {}", "{} LEFT JOIN {} USING (k)", "{} JOIN {} ON b.k = 1",
    "{} LEFT SEMI JOIN {} ON a.k = b.k", "({} JOIN {} USING (k))",
    "{} LEFT JOIN {} JOIN r ON r.k = b.k ON a.k = b.k", "{} JOIN ({} JOIN r USING (k)) ON TRUE",
)  # fmt: skip
CONDITIONS = (
    "a.k > 1", "EXISTS (SELECT * FROM {0} z WHERE z.k = a.k)", "a.k IN (SELECT k FROM {0} z)",
    "a.k NOT IN (SELECT z.k FROM {0} z WHERE z.k <> a.k)", "NOT EXISTS (SELECT 1 AS x FROM {0} z)",
    "a.k = (SELECT MAX(z.k) FROM {0} z)", "a.k > ALL (SELECT z.k FROM {0} z)", "NULL",
    "a.k OR TRUE", "a.k > (SELECT MIN(z.k) FROM {0} z WHERE z.k = a.k)",
    "a.k IN (SELECT COUNT(*) FROM {0} z GROUP BY z.k)",
    "(a.k, a.k) NOT IN (SELECT z.k, z.k FROM {0} z)", "EXISTS (SELECT z.k FROM {0} z LIMIT 1)",
    "a.k < ANY (SELECT z.k FROM {0} z UNION SELECT k FROM r)", "(SELECT COUNT(*) FROM {0} z) = 1",
    "EXISTS (SELECT * FROM r z WHERE EXISTS (SELECT * FROM {0} y WHERE y.k = a.k))",
    "EXISTS (SELECT * FROM r z WHERE z.k NOT IN (SELECT y.k FROM {0} y WHERE y.k = z.k))",
)  # fmt: skip
ENDS = (
    "", "", "", "", " GROUP BY a.k", " GROUP BY a.k", " GROUP BY 1",
    " GROUP BY a.k HAVING COUNT(*) > 1", " GROUP BY a.k HAVING {1}", " OUTPUT [ROWS 2]",
    " ORDER BY 1 LIMIT 2", " GROUP BY a.k + 1 HAVING m > 1", " ORDER BY (SELECT MAX(k) FROM r)",
    " HAVING COUNT(*) >= (SELECT COUNT(*) FROM {0})", " GROUP BY ALL",
)  # fmt: skip
WHOLES = (
    "ISTREAM({0})", "DSTREAM({0})", "RSTREAM({0})", "RSTREAM RESTORE ({0})",
    "RSTREAM({0} ORDER BY 1)", "ISTREAM RESTORE ({0})", "{0} UNION ALL {1}", "{0} EXCEPT {1}",
    "{0} INTERSECT ALL {1}", "({0})", "SELECT * FROM ({0}) a", "SELECT k FROM ({0}) [ROWS 2] b",
    "WITH w AS ({0}) SELECT * FROM w, w AS a",
    "SELECT COUNT(*) AS k FROM ISTREAM({0}) [RANGE 4 SLIDE 2] a", "EXPLAIN {0}",
    "{0} OUTPUT [RANGE 3]", "SELECT a.k FROM ({0}) a, ({1}) b WHERE a.k = b.k",
    "CREATE VIEW z AS {0}; SELECT * FROM z a, z b", "SELECT * FROM s [NOW] a WHERE a.k IN ({0})",
    "SELECT a.k FROM ({0}) a LEFT JOIN n b ON a.k = b.k",
    "CREATE VIEW z (k) AS {0}; SELECT k FROM z [ROWS 1]",
    "ISTREAM(WITH w AS ({0}) SELECT * FROM w, r)", "RSTREAM(({0}) ORDER BY 1 LIMIT 1)",
    "({0}) LIMIT 1", "RSTREAM({0} LIMIT 50 PERCENT)", "ISTREAM({0} OUTPUT [ROWS 2])",
    "SELECT a.k FROM (({0}) OUTPUT [ROWS 2]) a", "(WITH r AS ({1}) {0}) OUTPUT [ROWS 1]",
)  # fmt: skip


@st.composite
def selects(draw: st.DrawFn) -> str:
    """A SELECT of clauses that need not fit together."""
    left, right, inner = (draw(st.sampled_from(SOURCES)) for _ in range(3))
    source, items = f"{left} a", list(ITEMS)
    if draw(st.booleans()):
        source = draw(st.sampled_from(JOINS)).format(source, f"{right} b")
        items += ITEMS_OF_TWO
    condition = draw(st.sampled_from(CONDITIONS)).format(inner)
    where = f" WHERE {condition}" if draw(st.booleans()) else ""
    end = draw(st.sampled_from(ENDS)).format(inner, condition)
    return f"SELECT {draw(st.sampled_from(items))} FROM {source}{where}{end}"


@st.composite
def composed(draw: st.DrawFn) -> str:
    """Such SELECTs, alone or wrapped once or twice."""
    text = draw(selects())
    for _ in range(draw(st.integers(0, 2))):
        text = draw(st.sampled_from(WHOLES)).format(text, draw(selects()))
    return text

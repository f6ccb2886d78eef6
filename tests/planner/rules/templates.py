"""For each rule queries that it has a use for, with random windows and conditions."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from penstock.session import Session
from penstock_fuzz.draw import Draw
from planner.rules.chains import BUILT, Chains
from planner.rules.parts import DECLARED, Parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan


def exists(t: Parts, *, word: str = "NOT EXISTS") -> str:
    return f"{word} (SELECT 1 FROM {t.b} WHERE {t.between('b.k = a.k', 'b.x = a.v')})"


def outer(t: Parts, kinds: str = "LEFT RIGHT FULL") -> str:
    kind = t.draw.pick(*kinds.split())
    return f"{t.a} {kind} JOIN {t.b} ON {t.between('a.k = b.k', 'a.v = b.x')}"


def joined(t: Parts) -> str:
    return f"{t.a} JOIN {t.b} ON {t.between('a.k = b.k', 'a.v = b.x', 'a.w = b.y')}"


def three(t: Parts, *pairs: str) -> str:
    """Three inputs; of what is equal in all of them, at times more is asked than is needed."""
    more = f" AND {t.draw.pick(*pairs)}" if t.draw.chance(30) else ""
    return f"SELECT a.v, b.x, c.z FROM {joined(t)} JOIN {t.c} ON {t.between(*pairs)}{more}"


def negated(t: Parts, *, word: str = "NOT EXISTS") -> str:
    """A negation below a join; what it looks into may be joined as well."""
    return below_join(t, f"SELECT v, k FROM {t.a} WHERE {exists(t, word=word)}")


def below_join(t: Parts, rows: str) -> str:
    """Rows with columns v and k, joined with others."""
    if t.draw.chance(30):
        return f"SELECT s.v, b.x FROM ({rows}) AS s JOIN {t.b} ON {t.between('s.k = b.k')}"
    if t.draw.chance(30):
        return f"SELECT s.v, c.z FROM {t.c} JOIN ({rows}) AS s ON {t.between('s.k = c.k')}"
    return f"SELECT s.v, c.z FROM ({rows}) AS s, {t.c} WHERE {t.on('s.v', 'c.z')}"


def above_join(t: Parts, *, word: str = "NOT EXISTS") -> str:
    """A negation of a join, on columns of one side or of both."""
    return f"""
        SELECT a.v, c.z FROM {t.a} JOIN {t.c} ON {t.between("a.k = c.k")} WHERE {
        t.draw.pick(
            exists(t, word=word),
            exists(t, word=word),
            f"{word} (SELECT 1 FROM {t.b} WHERE b.k = c.k)",
            f"{word} (SELECT 1 FROM {t.b} WHERE b.k = a.k AND b.x = c.z)",
        )
    }"""


def asked(t: Parts) -> list[str]:
    """Two conditions on what other streams have."""
    other = f"(SELECT 1 FROM {t.c} WHERE {t.between('c.k = a.k', 'c.z = a.v')})"
    return [
        exists(t, word=t.draw.pick("EXISTS", "NOT EXISTS")),
        f"{t.draw.pick('EXISTS', 'NOT EXISTS')} {other}",
    ]


def distinct_exists(t: Parts) -> str:
    """DISTINCT of what EXISTS lets pass, which may ask for columns that are not shown."""
    shown = t.draw.pick("v, k", "k AS v, v AS k", "v", "w", "v AS p, v AS q", "k, w")
    word = t.draw.pick("EXISTS", "NOT EXISTS")
    return t.draw.pick(
        f"SELECT DISTINCT {shown} FROM {t.a} WHERE {exists(t, word=word)}",
        f"SELECT DISTINCT {shown} FROM {t.a} WHERE v NOT IN (SELECT x FROM {t.b})",
        f"""SELECT COUNT(DISTINCT 3) AS n FROM (SELECT v FROM {t.a}
            WHERE {word} (SELECT 1 FROM {t.b} WHERE b.x > 1)) AS s""",
        # Of many rows, so that there are some with different keys that look the same.
        f"SELECT DISTINCT v FROM a [UNBOUNDED] a WHERE {exists(t, word=word)}",
        f"SELECT DISTINCT {shown} FROM {t.a} WHERE {word} (SELECT 1 FROM {t.b} WHERE b.x > 1)",
    )


def nothing(t: Parts) -> str:
    """A condition that no row fulfils, mostly."""
    column, low = t.draw.pick("k", "v", "w"), t.draw.count(0, 2)
    return t.draw.pick(
        f"{column} > {low + 1} AND {column} < {low}",
        f"{column} = {low} AND {column} > {low}",
        f"{column} >= {low} AND {column} <= {low}",
        f"{column} IS NULL AND {column} > {low}",
        f"{column} IS NULL AND {column} IS NOT NULL",
        f"{column} > {low} AND NOT ({column} > {low})",
        f"{column} >= {low} AND {column} <= CAST('NaN' AS DOUBLE)",
        f"{column} = NULL AND {t.on(column)}",
        f"{column} = {low} AND {column} <> {low}",
        f"{column} IN ({low}, {low + 1}) AND {column} = {low + 2}",
        f"{column} IN ({low}, {low + 1}) AND NOT ({column} IN ({low + 1}, {low}, {low + 2}))",
        f"{column} > {low} AND {column} < {low + 1}",
        f"({column} = {low} OR {column} = {low + 1}) AND {column} > {low + t.draw.count(0, 1)}",
        f"{column} NOT IN ({low}, NULL) AND {t.on('k', 'v')}",
        f"{column} IS NULL AND {column} IN ({low}, {low + 1})",
    )


def member(t: Parts, column: str) -> str:
    """A condition that leaves a column some values, in one of many words."""
    low = t.draw.count(0, 2)
    compared = t.draw.pick("=", "<", "<=", ">", ">=", "<>", "<>")
    return t.draw.pick(
        f"{column} {compared} {low}",
        f"{low} {compared} {column}",
        f"NOT ({column} {compared} {low})",
        f"NOT ({low} {compared} {column})",
        f"{column} {t.draw.pick('IN', 'NOT IN')} ({low}, {t.draw.pick('2', '3', '3', 'NULL')})",
        f"{column} BETWEEN {low} AND {t.draw.count(0, 3)}",
        f"({column} = {low} OR {column} = {t.draw.count(0, 3)})",
    )


def unmatched(t: Parts) -> str:
    """A condition that pairs of an outer join do not fulfil, mostly."""
    return t.draw.pick(
        "b.k IS NULL",
        "a.k IS NULL",
        "b.ts IS NULL",
        "a.k IS NULL OR b.k IS NULL",
        f"b.k IS NULL AND {t.on('a.v', 'a.k')}",
        f"NOT (b.k IS NOT NULL OR {t.on('a.v')})",
        "COALESCE(b.k, a.k) IS NULL",
        "(a.k = b.x) IS NULL AND b.ts IS NULL",
        "b.x IS NULL",
    )


def other_way_round(t: Parts) -> str:
    """A join, and the same one with its sides exchanged and other names, mostly."""
    left, right = t.window(), t.window()
    equal = t.draw.pick("k k", "v x", "w y", "v k").split()
    more = t.draw.pick("", "", "<", "<>", ">=")
    first, second = (
        f"{one}.{equal[0]} = {other}.{equal[1]}"
        + (f" AND {one}.v {more} {other}.x" if more else "")
        for one, other in ("ab", "pq")
    )
    if t.draw.chance(15):
        # The same names for another join.
        second = t.between("p.k = q.k", "p.v = q.k")
    above = t.draw.pick("", "", f"WHERE {t.on('p.v', 'q.x')}", f"WHERE {t.failing('p.k')}")
    other = t.draw.pick(
        f"b {right} AS q JOIN a {left} AS p ON {second} {above}",
        f"b {right} AS q, a {left} AS p WHERE {second}",
        f"a {left} AS p JOIN b {right} AS q ON {second} {above}",
    )
    rows = f"SELECT a.v, b.x FROM a {left} AS a JOIN b {right} AS b ON {first}"
    if t.draw.chance(20):
        return f"""SELECT s.v, p.v AS u FROM ({rows}) AS s JOIN (SELECT p.v, q.x FROM {other}) AS p
            ON s.x = p.x"""
    return f"{rows} UNION ALL SELECT p.v, q.x FROM {other}"


QUERIES: dict[str, Callable[[Parts], str]] = {
    "rename-is-map": lambda t: f"SELECT s.v FROM a {t.window()} AS s WHERE {t.on('s.v', 's.w')}",
    "fold-constants": lambda t: (
        f"""
        SELECT v + (1 + 2) AS s, {t.draw.pick("6 / (1 - 1)", "NULL + 1", "1 + 1")} AS f FROM {t.a}
        WHERE {t.on("v")} OR {t.draw.pick("2 + 1", "NULL + 1", "7 / (1 - 1)")} > v"""
    ),
    "true-filter": lambda t: f"SELECT v FROM {t.a} WHERE {t.draw.pick('1 < 2', '1 = 1 AND 2 > 1')}",
    "contradiction": lambda t: (
        f"""
        SELECT v FROM {t.a} WHERE {t.draw.pick("", "", f"{t.failing('k')} AND ")} {nothing(t)}
        UNION ALL SELECT x FROM {t.b}"""
    ),
    "duplicate-conditions": lambda t: (
        f"SELECT v FROM {t.a} WHERE {(same := t.on('v', 'k'))} AND {t.on('k', 'w')} AND {same}"
    ),
    "intersect-conditions": lambda t: (
        f"""
        SELECT v FROM {t.a} WHERE {member(t, (column := t.draw.pick("k", "v", "w")))}
            AND {t.draw.pick("", "", f"{t.on('k', 'v')} AND ")} {member(t, column)}
            {t.draw.pick("", "", f"AND {member(t, column)}")}"""
    ),
    "simplify-outer-join": lambda t: (
        f"""
        SELECT a.v, b.x FROM {outer(t)} WHERE {
            t.draw.pick(
                t.on("b.x", "a.v"), t.compared("b.x"), t.compared("a.v"), t.on("b.x", "b.k")
            )
        }"""
    ),
    "outer-join-to-negation": lambda t: (
        f"""
        SELECT a.v, a.k, b.x, b.k FROM {t.a} {t.draw.pick("LEFT", "LEFT", "RIGHT", "FULL")} JOIN {
            t.draw.pick(t.b, t.b, f"(SELECT ts, k, 1 AS x FROM {t.b}) AS b")
        } ON {t.between("a.k = b.k", "a.k = b.k", "a.v = b.x")} WHERE {unmatched(t)}"""
    ),
    "merge-filters": lambda t: (
        f"""
        SELECT v FROM (SELECT v, k FROM {t.a} WHERE {t.draw.pick(t.on("v", "w"), "k > 0")}) AS s
        WHERE {t.draw.pick(t.on("s.k", "s.v"), "6 / COALESCE(s.k, 0) > 1")}"""
    ),
    "product-to-join": lambda t: (
        f"""
        SELECT a.v, b.x FROM {t.a}, {t.b} WHERE {t.on("a.v + b.x", "a.w + b.y")}"""
    ),
    "transitive-conditions": lambda t: (
        f"""
        SELECT a.v, b.x FROM {t.a}, {t.b} WHERE {
            t.draw.pick(
                *(
                    f"{one} = {other} AND {t.compared(t.draw.pick(one, other))}"
                    for one, other in (("a.k", "b.k"), ("a.w", "b.y"), ("b.x", "a.w"))
                )
            )
        }"""
    ),
    "filter-below-map": lambda t: (
        f"""
        SELECT d FROM (SELECT {t.draw.pick(t.value("k", "v"), "6 / k")} AS d, k, w
            FROM {t.a}) AS s
        WHERE {t.draw.pick(t.on("d", "w"), "k > 0")}"""
    ),
    "filter-below-union": lambda t: (
        f"""
        SELECT k FROM (SELECT k, v FROM {t.a} UNION ALL SELECT x, k FROM {t.b}) AS s
        WHERE {t.on("k", "v")}"""
    ),
    "filter-below-outer-join": lambda t: (
        f"""
        SELECT a.v, b.x FROM {outer(t)}
        WHERE {t.on("a.v", "a.k")} {t.draw.pick("", f"AND {t.on('a.v', 'b.x')}")}"""
    ),
    "filter-below-join": lambda t: (
        f"""
        SELECT a.v, b.x FROM {joined(t)} WHERE {t.on("a.v", "a.k")} AND {t.on("a.v", "b.x")}"""
    ),
    "filter-below-exists": lambda t: (
        f"""
        SELECT v FROM (SELECT v, k FROM {t.a} WHERE {
            t.draw.pick(
                exists(t),
                exists(t, word="EXISTS"),
                f"v NOT IN (SELECT x FROM {t.b})",
                f"v > (SELECT MIN(x) FROM {t.b})",
                f"v > (SELECT MIN(x) FROM {t.b} WHERE b.k = a.k)",
            )
        }) AS s WHERE {t.on("v", "k")}"""
    ),
    "filter-below-arrival": lambda t: (
        f"""
        SELECT a.v, n.name FROM a {t.window()} AS a JOIN n ON a.k = n.k
        WHERE {t.on("a.v", "a.k")} AND {t.on("n.name", "a.v")}"""
    ),
    "filter-below-distinct": lambda t: (
        f"""
        SELECT k FROM (SELECT DISTINCT k, {t.value("v")} AS v FROM {t.a}) AS s
        WHERE {t.on("k", "v")}"""
    ),
    "filter-below-set-operation": lambda t: (
        f"""
        SELECT k FROM (SELECT k, v FROM {t.a}
            {t.draw.pick("EXCEPT ALL", "INTERSECT ALL", "EXCEPT", "INTERSECT")}
            SELECT x, k FROM {t.b}) AS s WHERE {t.on("k", "v")}"""
    ),
    "filter-below-aggregate": lambda t: t.draw.pick(
        f"""SELECT k, {t.aggregate("v", "v", "6 / v")} AS n FROM {t.a} GROUP BY k, {t.value("v")}
            HAVING {" AND ".join(t.draw.shuffled(["COUNT(*) > 1", t.failing("k")]))}""",
        f"""SELECT k, {t.aggregate("v", "v", "6 / v")} AS n FROM {t.a}
            GROUP BY k HAVING {t.on("k")}""",
        f"SELECT {t.aggregate('v')} AS n FROM {t.a} HAVING 1 > 2 AND COUNT(*) >= 0",
    ),
    "filter-below-window": lambda t: (
        f"SELECT v FROM {t.a} WHERE {t.draw.pick(t.on('v', 'k', 'w'), t.failing('k'))}"
    ),
    "condition-below-join": lambda t: t.draw.pick(
        f"SELECT a.v FROM {joined(t)} AND {t.draw.pick(t.on('a.v'), t.on('b.x'))}",
        f"""SELECT v FROM {t.a} WHERE {t.draw.pick("EXISTS", "NOT EXISTS")} (
            SELECT 1 FROM {t.b} WHERE b.k = a.k AND {t.draw.pick(t.on("b.x"), t.on("a.v"))})""",
        f"""SELECT v FROM {t.a} WHERE v >= (
            SELECT COUNT(x) FROM {t.b} WHERE b.k = a.k AND {t.on(t.draw.pick("b.x", "a.v"))})""",
    ),
    "empty-branch": lambda t: t.draw.pick(
        f"SELECT k FROM {t.a} UNION ALL SELECT {t.aggregate('v')} FROM {t.a} WHERE {nothing(t)}",
        f"SELECT k AS j FROM {t.a} UNION ALL SELECT v FROM {t.a} WHERE {nothing(t)}",
        f"SELECT v AS j FROM {t.a} WHERE {nothing(t)} UNION ALL SELECT k FROM {t.a}",
        f"SELECT k FROM {t.a} {t.draw.pick('EXCEPT', 'EXCEPT ALL')} "
        f"SELECT k FROM {t.a} WHERE {nothing(t)}",
        f"""SELECT k FROM {t.a} WHERE NOT EXISTS (
            SELECT 1 FROM (SELECT k AS j FROM {t.a} WHERE {nothing(t)}) AS s WHERE s.j = a.k)""",
    ),
    "merge-maps": lambda t: (
        f"""
        SELECT {t.value("d", "v")} AS e, v AS f FROM (
            SELECT {t.value("k", "v")} AS d, v FROM (SELECT DISTINCT k, v FROM {t.a}) AS u) AS s"""
    ),
    "map-above-join": lambda t: (
        f"""
        SELECT s.v, c.z FROM (
            SELECT a.v, a.k AS j, b.x FROM {joined(t)}
        ) AS s JOIN (SELECT k, z FROM {t.draw.pick(t.c, f"(SELECT DISTINCT k, z FROM {t.c}) AS d")})
        AS c ON {t.between("s.j = c.k", "s.v = c.z")}"""
    ),
    "map-into-aggregate": lambda t: t.draw.pick(
        f"""SELECT d, {t.aggregate("d", "e")} AS n, {t.aggregate("e")} AS m FROM (
            SELECT {t.value("a.v", "b.x")} AS d, a.k AS e FROM {joined(t)}) AS s GROUP BY d""",
        f"""SELECT e, {t.aggregate("d", "e")} AS n FROM (
            SELECT {t.draw.pick("v", "6 / v")} AS d, k AS e FROM (
                SELECT DISTINCT k, v FROM {t.a}) AS u) AS s GROUP BY e""",
    ),
    "map-below-window": lambda t: t.draw.pick(
        f"SELECT {t.value('v', 'k')} AS d {t.draw.pick('', ', k')} FROM {t.a}",
        f"SELECT 6 / k AS d FROM {t.a}",
        f"SELECT v AS d {t.draw.pick('', ', k')} FROM a [PARTITION BY k ROWS 1]",
        f"SELECT {t.draw.pick('v', 'k', 'k + 0')} AS d FROM {t.counted()}",
        f"SELECT {t.value('v', 'k')} AS d, k FROM {t.internal('a')}",
        f"""SELECT d, n.name FROM (SELECT {t.value("v", "k")} AS d, k FROM a {t.window()}) AS s
            JOIN n ON s.k = n.k""",
    ),
    "flatten-unions": lambda t: (
        f"""
        SELECT k, v FROM {t.a} UNION ALL (SELECT x, k FROM {t.b} UNION ALL SELECT k, z FROM {t.c})
        UNION ALL SELECT {t.draw.pick("a.v", "b.x")}, 1 FROM {outer(t)}"""
    ),
    "redundant-distinct": lambda t: t.draw.pick(
        f"""SELECT DISTINCT k, v, {t.aggregate("v")} AS n FROM {t.a}
            GROUP BY k, v {t.draw.pick("", "", ", w")}""",
        f"SELECT DISTINCT {t.aggregate('v')} AS n FROM {t.a} GROUP BY k HAVING {t.on('k')}",
        f"SELECT DISTINCT COUNT(*) AS n FROM {t.a} GROUP BY k",
        f"""SELECT DISTINCT k FROM ((SELECT DISTINCT k FROM {t.a})
            {t.draw.pick("EXCEPT ALL", "INTERSECT ALL")} SELECT k FROM {t.b}) AS s""",
        f"""SELECT DISTINCT s.k, d.k AS l, d.x FROM (SELECT DISTINCT k FROM {t.a}) AS s
            JOIN (SELECT {t.draw.pick("", "", "DISTINCT")} k, x FROM {t.b}) AS d ON s.k = d.k""",
        f"""SELECT DISTINCT k {t.draw.pick("", ", v")} FROM (SELECT DISTINCT k, v FROM {t.a}) AS s
            WHERE {t.on("k", "v")}""",
    ),
    "absorbed-distinct": lambda t: (
        f"""
        SELECT DISTINCT k, {t.value("v")} AS d FROM (
            SELECT DISTINCT k, v FROM {t.a} UNION ALL SELECT k, x FROM {t.b}) AS s"""
    ),
    "distinct-below-exists": lambda t: (
        f"""
        SELECT v FROM {t.a} WHERE {t.draw.pick("EXISTS", "NOT EXISTS")} (
            SELECT 1 FROM (SELECT DISTINCT k, x FROM {t.b}) AS t WHERE {t.between("t.k = a.k")})"""
    ),
    "distinct-below-extremes": lambda t: (
        f"""
        SELECT k, {t.aggregate("v")} AS n, {t.draw.pick("MIN(v)", "MAX(v)", "SUM(DISTINCT v)")} AS m
        FROM (SELECT DISTINCT v, k FROM {t.a}) AS s {t.draw.pick("GROUP BY k", "GROUP BY k, v")}"""
    ),
    "distinct-aggregates": lambda t: (
        f"""
        SELECT COUNT(DISTINCT {(d := t.value("v", "w"))}) AS n, SUM(DISTINCT {d}) AS s
            {t.draw.pick("", "", ", MAX(k) AS m", ", SUM(DISTINCT k) AS m")}
        FROM {t.a} {t.draw.pick("GROUP BY k", "")}"""
    ),
    "introduce-semi-join": lambda t: t.draw.pick(
        f"""SELECT DISTINCT {t.value(t.draw.pick("a.v", "b.x"))} AS d, {t.draw.pick("a.k", "b.k")}
            FROM {joined(t)}""",
        f"""SELECT z FROM {t.c} WHERE {t.draw.pick("EXISTS", "NOT EXISTS")} (
            SELECT 1 FROM {joined(t)} WHERE {
            t.draw.pick("c.z = a.v", "c.z = b.x", "c.k = a.k AND c.z = b.x", t.on("a.v", "c.z"))
        })""",
        f"SELECT z FROM {t.c} WHERE z {t.draw.pick('', 'NOT')} IN (SELECT b.x FROM {joined(t)})",
    ),
    "distinct-below-product": lambda t: t.draw.pick(
        f"SELECT DISTINCT a.v, b.x FROM {t.a}, {t.b} WHERE {t.draw.pick('1 = 1', t.on('a.v'))}",
        f"SELECT DISTINCT {t.draw.pick('a.v', 'b.x', 'a.w, a.k')} FROM {t.a}, {t.b}",
        f"SELECT DISTINCT b.x AS p, a.v AS q {t.draw.pick('', ', a.k', ', a.v')} FROM {joined(t)}",
        f"SELECT DISTINCT b.k, b.x, b.y, a.k AS j, a.v, a.w FROM {joined(t)}",
        # DISTINCT of no column at all.
        f"SELECT COUNT(DISTINCT 3) AS n FROM {t.a}, {t.b}",
        # Of many rows, so that there are pairs with different keys that look the same.
        f"""SELECT DISTINCT {t.draw.pick("a.v", "b.x", "a.v, b.x")}
            FROM a [RANGE 6] a JOIN b [UNBOUNDED] b ON a.k = b.k""",
        f"SELECT DISTINCT a.w, c.z FROM {joined(t)}, {t.c} WHERE {t.between('c.k = a.v')}",
    ),
    "distinct-before-exists": distinct_exists,
    "distinct-after-exists": lambda t: (
        f"""
        SELECT v FROM (SELECT DISTINCT {t.draw.pick("v, k", "k, v, w")} FROM {t.a}) AS a
        WHERE {exists(t, word=t.draw.pick("EXISTS", "NOT EXISTS"))}"""
    ),
    "prune-columns": lambda t: t.draw.pick(
        f"SELECT a.v, {t.value('b.x', 'a.v')} AS e FROM {joined(t)}",
        f"SELECT v FROM (SELECT {t.value('v', 'k')} AS d, v FROM {t.a}) AS s",
        f"""SELECT n FROM (
            SELECT k, {t.aggregate("6 / v")} AS m, COUNT(*) AS n FROM {t.a} GROUP BY k) AS s""",
        f"SELECT v FROM {t.counted()}",
        f"SELECT a.v FROM {t.internal('a')} JOIN {t.internal('b')} ON a.k = b.k",
        f"SELECT COUNT(a.v) AS n FROM {t.internal('a')} JOIN {t.internal('b')} ON a.k = b.k",
    ),
    "common-subplans": lambda t: (
        f"""
        SELECT p.v FROM ({(s := f"SELECT k, v FROM {t.a} WHERE {t.on('v', 'w')}")}) AS p
        JOIN ({s}) AS q ON {t.between("p.k = q.v")}"""
    ),
    "join-below-union": lambda t: (
        f"""
        SELECT s.k, c.z FROM (SELECT k, v FROM {t.a} UNION ALL SELECT x, k FROM {t.b}) AS s
        JOIN {t.c} ON {t.between("s.k = c.k", "c.z = s.v")}"""
    ),
    "commute-join": other_way_round,
    "associate-join": lambda t: three(t, "b.k = c.k", "b.x = c.z", "a.k = c.k", "a.v = c.z"),
    "exchange-join": lambda t: three(t, "a.v = c.k", "a.k = c.z", "b.k = c.k", "b.x = c.z"),
    "pull-up-negation": negated,
    "push-down-negation": above_join,
    "pull-up-exists": lambda t: t.draw.pick(
        negated(t, word="EXISTS"),
        below_join(t, f"SELECT v, k FROM {t.a} WHERE v IN (SELECT x FROM {t.b})"),
        f"""SELECT s.v, c.z FROM (SELECT v, k FROM {t.internal("a")} WHERE EXISTS (
                SELECT 1 FROM {t.internal("b")} WHERE b.k = a.k)) AS s
            JOIN {t.c} ON s.k = c.k""",
    ),
    "push-down-exists": lambda t: t.draw.pick(
        above_join(t, word="EXISTS"),
        above_join(t, word="EXISTS"),
        f"""SELECT a.v, c.z FROM {t.internal("a")} JOIN {t.internal("c")} ON a.k = c.k
            WHERE EXISTS (SELECT 1 FROM {t.internal("b")} WHERE b.x = a.v)""",
    ),
    "pull-up-except": lambda t: below_join(
        t,
        f"""SELECT v, k FROM {t.a} {t.draw.pick("EXCEPT", "EXCEPT", "EXCEPT ALL")}
            SELECT {t.draw.pick("x, k", "k, x", "x, x")} FROM {t.b}""",
    ),
    "exchange-exists": lambda t: t.draw.pick(
        *(f"SELECT v FROM {t.a} WHERE {' AND '.join(t.draw.shuffled(asked(t)))}" for _ in range(3)),
        f"""SELECT v FROM {t.internal("a")}
            WHERE EXISTS (SELECT 1 FROM {t.internal("b")} WHERE b.k = a.k)
            AND EXISTS (SELECT 1 FROM {t.internal("c")} WHERE c.z = a.v)""",
    ),
}
"""A random text for which the rule of that name has a use, mostly."""


def random_plan(rule: str, number: int) -> Plan:
    """The plan of a rule and a number."""
    parts = Parts(Draw(f"{rule} {number}"))
    if rule in BUILT and (rule not in QUERIES or parts.draw.chance(30)):
        chains = Chains(parts)
        return chains.sent(BUILT[rule](chains)).plan
    return declared().bind(parts.sent(QUERIES[rule](parts))).plan


@cache
def declared() -> Session:
    """All streams and relations."""
    session = Session()
    session.execute(DECLARED)
    return session

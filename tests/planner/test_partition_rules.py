"""Each rule of partitioning by example: the key, or the sentence that says why there is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from penstock.algebra.expressions import Cast, Column
from penstock.algebra.types import BIGINT, INT
from penstock.cli.app import app
from penstock.planner.partition.partitioning import (
    Route,
    common_partitioning,
    partitioning_of,
)
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan

DECLARATIONS = """
CREATE STREAM s (ts BIGINT, k INT, v INT, c STRING, WATERMARK FOR ts AS ts);
CREATE STREAM t (ts BIGINT, k INT, v INT, c STRING, WATERMARK FOR ts AS ts);
CREATE STREAM b (ts BIGINT, k BIGINT, v BIGINT, WATERMARK FOR ts AS ts);
CREATE RELATION r (k INT, v INT, c STRING);
CREATE NONRETROACTIVE RELATION n (k INT, v INT, c STRING);
"""
SESSION = Session()
SESSION.execute(DECLARATIONS)


def bound(text: str) -> Plan:
    return SESSION.bind(text).plan


KEYS = {
    "SELECT v FROM s [RANGE 5] WHERE k > 1": "by the whole row of s (any key would do)",
    "SELECT k FROM s UNION ALL SELECT k FROM t": (
        "by the whole row of s and the whole row of t (any key would do)"
    ),
    "SELECT k, COUNT(*) FROM s [RANGE 5] GROUP BY k": "by s.k (GROUP BY s.k)",
    "SELECT k, v, COUNT(*) FROM s [NOW] GROUP BY k, v": "by (s.k, s.v) (GROUP BY s.k, s.v)",
    "SELECT COUNT(*) FROM s [NOW] GROUP BY k % 10": "by s.k % 10 (GROUP BY s.k % 10)",
    "SELECT x % 2, COUNT(*) FROM (SELECT k + v AS x FROM s [NOW]) GROUP BY x % 2": (
        "by (s.k + s.v) % 2 (GROUP BY subquery.x % 2)"
    ),
    "SELECT v FROM s [PARTITION BY k ROWS 3]": "by s.k (PARTITION BY k)",
    "SELECT k, v, COUNT(*) FROM s [PARTITION BY k ROWS 3] GROUP BY v, k": (
        "by s.k (GROUP BY s.v, s.k, PARTITION BY k)"
    ),
    "SELECT DISTINCT k, v FROM s [NOW]": "by (s.k, s.v) (DISTINCT)",
    "SELECT DISTINCT k FROM (SELECT DISTINCT k, v FROM s [NOW])": "by s.k (DISTINCT)",
    "SELECT k FROM s [NOW] EXCEPT ALL SELECT v FROM t [NOW]": "by s.k and t.v (EXCEPT ALL)",
    "ISTREAM(SELECT k FROM s [NOW])": "by s.k (ISTREAM)",
    "DSTREAM(SELECT k FROM s [RANGE 5])": "by s.k (DSTREAM)",
    # Where rows never leave, none is netted against another.
    "ISTREAM(SELECT k FROM s)": "by the whole row of s (any key would do)",
    "RSTREAM(SELECT v FROM s [RANGE 5 SLIDE 5])": "by the whole row of s (any key would do)",
    "SELECT v FROM s [NOW] OUTPUT [RANGE 9]": "by s.v (ISTREAM)",
    # Joins: from ON or WHERE, through casts, over several steps, for outer joins.
    "SELECT s.v FROM s [NOW] JOIN t [NOW] ON s.k = t.v": "by s.k and t.v (join on s.k = t.v)",
    "SELECT s.v FROM s [NOW], b [NOW] WHERE s.k = b.k": (
        "by CAST(s.k AS BIGINT) and b.k (join on CAST(s.k AS BIGINT) = b.k)"
    ),
    "SELECT s.k, COUNT(*) FROM s [NOW] LEFT JOIN b [NOW] ON s.k = b.k GROUP BY s.k": (
        "by CAST(s.k AS BIGINT) and b.k (GROUP BY s.k, join on CAST(s.k AS BIGINT) = b.k)"
    ),
    "SELECT COUNT(*) FROM s [NOW] FULL JOIN t [NOW] USING (k) GROUP BY k": (
        "by s.k and t.k (GROUP BY COALESCE(s.k, t.k), join on s.k = t.k, join on t.k = s.k)"
    ),
    "SELECT x.v FROM s [NOW] x, t [NOW] y, r WHERE x.k = y.k AND y.k = r.v": (
        "by s.k and t.k and r.v (join on x.k = y.k, join on x.k = r.v)"
    ),
    "SELECT x.v FROM s [NOW] x, s [RANGE 9] y WHERE x.k = y.k": "by s.k (join on x.k = y.k)",
    "SELECT k FROM s [NOW] WHERE EXISTS (SELECT 1 FROM t [NOW] WHERE t.k = s.k)": (
        "by s.k and t.k (join on s.k = t.k)"
    ),
    # What every lane gets whole.
    "SELECT v FROM s [NOW] WHERE v > (SELECT AVG(v) FROM t [NOW])": (
        "by the whole row of s, t to every lane (any key would do)"
    ),
    "SELECT s.k, COUNT(*) FROM s [NOW] JOIN r ON s.v = r.v GROUP BY s.k": (
        "by s.k, r to every lane (GROUP BY s.k)"
    ),
    "SELECT s.k FROM s [NOW], n": "by the whole row of s, n to every lane (any key would do)",
    "SELECT s.k FROM s [NOW] JOIN n ON s.k = n.v": "by s.k and n.v (join on s.k = n.v)",
    "SELECT k FROM s [NOW] WHERE k NOT IN (SELECT k FROM r)": (
        "by the whole row of s, r to every lane (any key would do)"
    ),
}


@pytest.mark.parametrize(("text", "said"), KEYS.items(), ids=KEYS)
def test_a_plan_is_divided(text: str, said: str) -> None:
    found = partitioning_of(bound(text))
    assert str(found) == said
    assert found.is_partitioned


REFUSED = {
    "SELECT AVG(v) FROM s [NOW]": "AVG over all rows has one group, which needs one lane",
    "SELECT v FROM s [ROWS 9]": "[ROWS 9] counts the rows of all keys, which needs one lane",
    "SELECT k FROM s [NOW] OUTPUT [ROWS 2]": (
        "[ROWS 2] counts the rows of all keys, which needs one lane"
    ),
    "RSTREAM(SELECT v FROM s [NOW])": (
        "RSTREAM sends rows when any row comes or goes, in whatever lane"
    ),
    "RSTREAM(SELECT v FROM s [PARTITION BY k ROWS 4 SLIDE 2])": (
        "RSTREAM sends rows when any row comes or goes, in whatever lane"
    ),
    "RSTREAM(SELECT k FROM s [RANGE 4 SLIDE 2] UNION ALL SELECT k FROM r)": (
        "RSTREAM sends rows at slides for which a lane may have no row"
    ),
    "RSTREAM(SELECT k FROM s [RANGE 4 SLIDE 2] ORDER BY k LIMIT 1)": (
        "ORDER BY and LIMIT compare all rows, which needs one lane"
    ),
    "SELECT s.k FROM s [NOW], t [NOW]": "the product has no equality between s and t",
    "SELECT s.k FROM s [NOW] JOIN t [NOW] ON s.k < t.k": (
        "the join on s.k < t.k has no equality between s and t"
    ),
    "SELECT s.k FROM s [NOW] JOIN t [NOW] ON s.k = t.k OR s.v = t.v": (
        "the join on (s.k = t.k) OR (s.v = t.v) has no equality between s and t"
    ),
    "SELECT k FROM s [NOW] WHERE k NOT IN (SELECT k FROM t [NOW])": (
        "NOT IN has to see every row of its subquery, of which a NULL decides"
    ),
    "SELECT v, COUNT(*) FROM s [PARTITION BY k ROWS 3] GROUP BY v": (
        "GROUP BY s.v and PARTITION BY k have no key in common"
    ),
    "SELECT s.v, COUNT(*) FROM s [NOW] JOIN t [NOW] ON s.k = t.k GROUP BY s.v": (
        "GROUP BY s.v and the join on s.k = t.k have no key in common"
    ),
    # The rows without a partner are one group, and lie by s.k.
    "SELECT t.k, COUNT(*) FROM s [NOW] LEFT JOIN t [NOW] ON s.k = t.k GROUP BY t.k": (
        "GROUP BY t.k goes by values that its inputs do not carry"
    ),
    "SELECT x.v FROM s [NOW] x, s [RANGE 9] y WHERE x.k = y.v": (
        "s is read twice, once by k and once by v"
    ),
    "SELECT v FROM s [NOW] WHERE v > (SELECT AVG(v) FROM s [RANGE 9])": (
        "every lane needs all of s, whose rows would then count several times"
    ),
    "SELECT DISTINCT 1 FROM s [NOW]": "DISTINCT goes by values that its inputs do not carry",
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items(), ids=REFUSED)
def test_a_plan_needs_one_lane(text: str, said: str) -> None:
    found = partitioning_of(bound(text))
    assert str(found) == f"one, because {said}"
    assert not found.is_partitioned
    assert not found.routes


def test_routes_are_expressions_over_the_sources_own_columns() -> None:
    found = partitioning_of(bound("SELECT x.v FROM s [NOW] x JOIN b [NOW] y ON x.k = y.k"))
    cast = Cast(Column("k", INT), BIGINT)
    assert found.routes == {"s": Route((cast,)), "b": Route((Column("k", BIGINT),))}
    scalar = partitioning_of(bound("SELECT k FROM s [NOW] WHERE k > (SELECT MAX(k) FROM t [NOW])"))
    assert scalar.routes["t"] == Route(None)


GROUP_K = "SELECT k, COUNT(*) FROM s [NOW] GROUP BY k"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([GROUP_K, "SELECT v FROM s [NOW]"], "by s.k (GROUP BY s.k)"),
        ([GROUP_K, "SELECT DISTINCT k, v FROM s [NOW]"], "by s.k (GROUP BY s.k, DISTINCT)"),
        # The group agrees to the cast that the join insists on.
        (
            [GROUP_K, "SELECT s.v FROM s [NOW] JOIN b [NOW] ON s.k = b.k"],
            "by CAST(s.k AS BIGINT) and b.k (GROUP BY s.k, join on CAST(s.k AS BIGINT) = b.k)",
        ),
        (
            [GROUP_K, "SELECT v, COUNT(*) FROM t [NOW] GROUP BY v"],
            "by s.k and t.v (GROUP BY s.k, GROUP BY t.v)",
        ),
        (
            [GROUP_K, "SELECT v, COUNT(*) FROM s [NOW] GROUP BY v"],
            "one, because s is read twice, once by k and once by v",
        ),
        (
            [GROUP_K, "SELECT MAX(v) FROM t [NOW]"],
            "one, because MAX over all rows has one group, which needs one lane",
        ),
        (
            [GROUP_K, "SELECT k FROM t [NOW] WHERE k > (SELECT MAX(k) FROM s [NOW])"],
            "one, because every lane needs all of s, whose rows would then count several times",
        ),
    ],
)
def test_several_plans_share_one_routing(texts: list[str], said: str) -> None:
    assert str(common_partitioning([bound(text) for text in texts])) == said


def test_twenty_unrelated_streams_are_routed_each_by_its_own_row() -> None:
    session = Session()
    for number in range(20):
        session.execute(f"CREATE STREAM h{number} (ts BIGINT, a INT, WATERMARK FOR ts AS ts)")
    branches = [f"SELECT a FROM h{number} [NOW]" for number in range(20)]
    found = partitioning_of(session.bind(" UNION ALL ".join(branches)).plan)
    assert len(found.routes) == 20
    assert {len(route.keys or ()) for route in found.routes.values()} == {2}


def test_many_relations_are_broadcast_together() -> None:
    session = Session()
    session.execute(DECLARATIONS)
    names = [f"r{number}" for number in range(7)]
    for name in names:
        session.execute(f"CREATE RELATION {name} (a INT)")
    found = partitioning_of(session.bind(f"SELECT k FROM s [NOW], {', '.join(names)}").plan)
    assert {name for name, route in found.routes.items() if route.keys is None} == {*names}


def test_explain_says_which_lanes() -> None:
    (outcome,) = SESSION.execute(f"EXPLAIN {GROUP_K}")
    assert outcome.message is not None
    assert outcome.message.splitlines()[-1] == "Lanes: by s.k (GROUP BY s.k)"
    text = f"{DECLARATIONS} SELECT MAX(v) FROM s [NOW]"
    shown = CliRunner().invoke(app, ["explain", "-e", text]).stdout
    assert shown.splitlines()[-1] == (
        "Lanes: one, because MAX over all rows has one group, which needs one lane"
    )


def test_explain_gives_lanes_to_programs() -> None:
    text = f"{DECLARATIONS} SELECT s.k FROM s [NOW] JOIN r ON s.k = r.v WHERE r.v > 0"
    shown = CliRunner().invoke(app, ["explain", "--format", "json", "-e", text]).stdout
    assert json.loads(shown)["lanes"] == {
        "partitioned": True,
        "reason": "by s.k and r.v (join on s.k = r.v)",
        "routes": {"s": ["k"], "r": ["v"]},
    }

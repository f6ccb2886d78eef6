"""Merged queries: the answer of the parts is that of the whole, for all that can be merged."""

from __future__ import annotations

import pytest

from penstock.algebra.aggregates import AGGREGATE_FACTS
from penstock.planner.merged_queries import MergedQuery, NotMerged, merged_query
from penstock.transactions.merging import Merging
from transactions.packets import Packets, bound, merged, same

CALLS = {
    "count": "COUNT(size)",
    "count_if": "COUNT_IF(seen)",
    "sum": "SUM(size)",
    "avg": "AVG(cost)",
    "min": "MIN(name)",
    "max": "MAX(price)",
    "bool_and": "BOOL_AND(seen)",
    "bool_or": "BOOL_OR(seen)",
    "var_samp": "VAR_SAMP(size)",
    "var_pop": "VAR_POP(size)",
    "stddev_samp": "STDDEV_SAMP(size)",
    "stddev_pop": "STDDEV_POP(size)",
    "median": "MEDIAN(size)",
    "quantile": "QUANTILE(size, 0.25)",
}
OTHERS = [
    "COUNT(*)",
    "COUNT(DISTINCT size, name)",
    "SUM(DISTINCT cost)",
    "SUM(price)",
    "AVG(price)",
]
EVERY = [*CALLS.values(), *OTHERS]
WINDOW = "packets [RANGE 40]"
QUERIES = [
    f"SELECT {', '.join(EVERY)} FROM {WINDOW}",
    *(f"SELECT {call} AS x FROM {WINDOW}" for call in EVERY),
    *(f"SELECT source, {call} AS x FROM {WINDOW} GROUP BY source" for call in EVERY),
    f"SELECT name, size + 1 AS more FROM {WINDOW} WHERE size > 2",
    f"SELECT COUNT(*) AS n, MAX(size) AS m FROM {WINDOW} WHERE size > 100",
    f"SELECT DISTINCT source, seen FROM {WINDOW}",
    f"SELECT source, COUNT(*) AS n FROM {WINDOW} GROUP BY source HAVING COUNT(*) > 4",
    f"SELECT source, SUM(size) AS b FROM {WINDOW} GROUP BY source ORDER BY b DESC LIMIT 1",
    f"SELECT QUANTILE(b, 0.9) AS q"
    f" FROM (SELECT source, SUM(size) AS b FROM {WINDOW} GROUP BY source)",
    f"SELECT size, ts FROM {WINDOW} ORDER BY size DESC LIMIT 3 OFFSET 2",
    f"SELECT * FROM (SELECT size, ts, ROW_NUMBER() OVER (PARTITION BY source ORDER BY size) AS n"
    f" FROM {WINDOW}) WHERE n <= 2",
]  # fmt: skip


def test_every_aggregate_of_the_language_is_tried() -> None:
    assert set(CALLS) == set(AGGREGATE_FACTS)


@pytest.mark.parametrize("query", QUERIES)
def test_parts_make_the_answer_of_the_oracle(query: str) -> None:
    packets, plan = Packets(seed=1, numbers=7), bound(query)
    found = merged_query(plan)
    assert isinstance(found, MergedQuery), found
    for merging in (Merging(found), Merging(merged(query))):
        parts = [merging.part(packets.sub_window(number)) for number in range(7)]
        for number in (3, 6):
            rows = merging.whole(parts[number - 3 : number + 1])
            assert same(packets.expected(plan, number), rows), number


def test_nothing_is_merged_to_what_the_query_says_over_nothing() -> None:
    packets = Packets(seed=1, numbers=1)
    packets.rows[0] = []
    for query in QUERIES:
        merging = Merging(merged(query))
        rows = merging.whole([merging.part(packets.sub_window(0))])
        assert same(packets.expected(bound(query), 0), rows), query


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT a.size FROM packets [RANGE 9] a, packets [RANGE 9] b", "more than one window"),
        ("SELECT COUNT(*) FROM packets [ROWS 9]", "is not of whole sub-windows"),
        ("SELECT COUNT(*) FROM packets [RANGE 9 SLIDE 3]", "is not of whole sub-windows"),
        ("ISTREAM(SELECT size FROM packets [RANGE 9])", "sends rows out"),
        ("SELECT size FROM packets", "more than one window"),
        ("SELECT COUNT(*) FROM packets [RANGE 9] INTERNAL", "not said by the rows of its window"),
    ],
)
def test_other_queries_say_why_they_are_not_merged(query: str, reason: str) -> None:
    found = merged_query(bound(query))
    assert isinstance(found, NotMerged)
    assert reason in found.reason

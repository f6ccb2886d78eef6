"""Weights are multiplied in the lane of a row, so they cannot say which lane that is."""

from __future__ import annotations

import pytest

from penstock.catalog.definitions import QueryDefinition
from penstock.errors import Refused
from penstock.pipeline.query_groups import groups_for
from penstock.pipeline.weights_as_keys import refuse_weights_as_keys
from penstock.session import Session


def refuse(query: str, lanes: int = 2) -> None:
    session = Session()
    session.execute(
        "CREATE STREAM s (ts BIGINT, k INT, w BIGINT, WATERMARK FOR ts AS ts) OPTIONS (weight 'w');"
        f"CREATE QUERY q AS {query}"
    )
    found = session.catalog.find("q", "query")
    assert isinstance(found, QueryDefinition)
    refuse_weights_as_keys(groups_for({"q": found.plan}, 0, lanes), session.catalog)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT w, COUNT(*) AS n FROM s [RANGE 5] GROUP BY w",
        "SELECT a.k FROM s [RANGE 5] AS a, s [RANGE 7] AS b WHERE a.w = b.w",
    ],
)
def test_a_query_that_divides_rows_by_weight_is_refused(query: str) -> None:
    with pytest.raises(Refused, match='among lanes by "w"') as refused:
        refuse(query)
    assert "Leave the weight out of GROUP BY" in str(refused.value)
    refuse(query, lanes=1)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, ESTIMATED_COUNT(w) AS n FROM s [RANGE 5] GROUP BY k",
        "SELECT ESTIMATED_COUNT(w) AS n FROM s [RANGE 5]",
    ],
)
def test_others_are_not(query: str) -> None:
    refuse(query)

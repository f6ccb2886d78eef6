"""Settings of the work of lanes: read with their units, shown, refused with a sentence."""

from __future__ import annotations

import pytest

from penstock.errors import PenstockError
from penstock.session import Session


def test_what_is_set_is_shown() -> None:
    session = Session()
    session.execute(
        "SET lane_budget = '200 ms'; SET scheduler = Chain_Flush; SET latency = '2 s';"
        " SET threshold = '20 / s'; SET queue_limit = '64 MB'; SET quantum = '0.5 seconds'"
    )
    shown = session.settings.shown()
    assert shown["lane_budget"] == "200 ms"
    assert shown["scheduler"] == "chain_flush"
    assert shown["latency"] == "2 s"
    assert shown["threshold"] == "20 / s"
    assert shown["queue_limit"] == "64 MB"
    assert shown["quantum"] == "500 ms"
    session.execute("SET shedding = Semantic; SET shedding_bound = '1.5 kB'; SET keep_shed = true")
    shown = session.settings.shown()
    assert shown["shedding"] == "semantic"
    assert shown["shedding_bound"] == "1.5 kB"
    assert shown["keep_shed"] == "true"
    session.execute("SET lane_budget = none; SET latency = none; SET queue_limit = none")
    assert session.settings.work.lane_budget is None
    assert session.settings.work.queue_limit is None
    session.execute("SET sink_lag = 1000; SET batch_rows = none; SET incoming_limit = '5 MB'")
    assert session.settings.work.sink_lag == 1000
    assert session.settings.work.batch_rows is None
    assert session.settings.work.incoming_limit == 5 << 20


def test_a_query_keeps_the_latency_that_was_set_when_it_was_created() -> None:
    session = Session()
    session.execute("CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    session.execute("SET latency = '2 s'; CREATE QUERY q AS SELECT k FROM s")
    session.execute("SET latency = none; CREATE QUERY p AS SELECT k FROM s")
    found = {name: session.catalog.find(name, "query") for name in ("q", "p")}
    assert [getattr(one, "latency", 0) for one in found.values()] == [2.0, None]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SET lane_budget = 200", "takes a length of time, not '200'"),
        ("SET lane_budget = '0 ms'", "takes a length of time, not '0 ms'"),
        ("SET latency = '2'", "Write SET latency = '200 ms', or '2 s', or none"),
        ("SET scheduler = chian", 'there is no scheduler called "chian"'),
        ("SET scheduler = chian", 'Did you mean "chain"?'),
        ("SET scheduler = edf", "Schedulers: fifo, round_robin, greedy"),
        ("SET threshold = 20", "takes a slope with its unit, not '20'"),
        ("SET quantum = none", "takes a length of time"),
        ("SET queue_limit = 64", "takes a size, not '64'"),
        ("SET shedding = randm", 'Did you mean "random"?'),
        ("SET shedding = some", "Write none, random or semantic"),
        ("SET shedding_bound = 64", "takes a size, not '64'"),
        ("SET shedding_bound = '0 MB'", "takes a size, not '0 MB'"),
        ("SET keep_shed = maybe", "It takes true or false"),
        ("SET sink_lag = '64 MB'", "takes a number, not '64 MB'"),
        ("SET batch_rows = 0", "takes a number, not '0'"),
        ("SET lane_budge = '2 s'", 'Did you mean "lane_budget"?'),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(statement: str, said: str) -> None:
    with pytest.raises(PenstockError) as refused:
        Session().execute(statement)
    assert said in str(refused.value)
    assert "line 1, column" in str(refused.value)
    assert "^" in str(refused.value)

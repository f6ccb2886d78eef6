"""Statements that ask about the catalog, and what changing it refuses."""

from __future__ import annotations

import pytest

from penstock.errors import CqlSyntaxError, PenstockError, UnknownName
from penstock.session import Session, tabulated

SCRIPT = """
CREATE STREAM cars (at TIMESTAMP, lane INT, WATERMARK FOR at AS at - INTERVAL 5 SECONDS)
USING csv OPTIONS (path 'cars.csv');
CREATE STREAM ticks (n BIGINT, v DOUBLE, WATERMARK FOR n AS n - 3);
CREATE RELATION lanes (lane INT, name STRING);
CREATE NONRETROACTIVE RELATION tolls (lane INT, price DECIMAL(6, 2));
CREATE VIEW recent AS SELECT lane FROM cars [RANGE 1 MINUTE];
CREATE QUERY busy AS SELECT lane, COUNT(*) AS n FROM recent GROUP BY lane;
CREATE SINK out FROM busy USING parquet OPTIONS (path '/tmp/out');
"""


@pytest.fixture
def session() -> Session:
    session = Session()
    session.execute(SCRIPT)
    return session


def answer(session: Session, text: str) -> list[str]:
    (outcome,) = session.execute(text)
    return tabulated(outcome)


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        (
            "SHOW STREAMS",
            [
                "stream  definition",
                "cars    (at TIMESTAMP, lane INT), event time at (timestamp), slack 5000000",
                "ticks   (n BIGINT, v DOUBLE), event time n (tick), slack 3",
            ],
        ),
        (
            "SHOW RELATIONS",
            [
                "relation  definition",
                "lanes     (lane INT, name STRING), retroactive",
                "tolls     (lane INT, price DECIMAL(6, 2)), nonretroactive",
            ],
        ),
        (
            "SHOW VIEWS",
            ["view    definition", "recent  SELECT lane FROM cars [RANGE 1 MINUTE]"],
        ),
        (
            "SHOW QUERIES",
            ["query  definition", "busy   SELECT lane, COUNT(*) AS n FROM recent GROUP BY lane"],
        ),
        ("SHOW SINKS", ["sink  definition", "out   from busy using parquet"]),
        (
            "SHOW SETTINGS",
            [
                "setting           value",
                "integer_division  false",
                "empty_aggregates  row",
                "strategy          upa",
                "joins             auto",
                "join_evaluation   lazy",
                "join_expiration   lazy",
                "isolation         window",
                "lane_budget       none",
                "scheduler         fifo",
                "quantum           10 ms",
                "threshold         0",
                "latency           none",
                "queue_limit       none",
                "shedding          none",
                "shedding_bound    none",
                "keep_shed         false",
                "sink_lag          2000000",
                "batch_rows        4000000",
                "ahead_rows        8000000",
                "incoming_limit    1 GB",
                "retain            auto",
                "retain_parts      60",
                "ask_limit         none",
                "ask_job_rows      20000000",
            ],
        ),
        ("DESCRIBE cars", ["column  type", "at      TIMESTAMP", "lane    INT"]),
        ("DESC busy", ["column  type", "lane    INT", "n       BIGINT"]),
        ("DESCRIBE out", ["key     value", "query   busy", "format  parquet", "path    /tmp/out"]),
    ],
)
def test_show_and_describe(session: Session, statement: str, lines: list[str]) -> None:
    assert answer(session, statement) == lines


def test_show_functions_lists_scalars_and_aggregates(session: Session) -> None:
    names = [line.split()[0] for line in answer(session, "SHOW FUNCTIONS")]
    assert {"upper", "sqrt", "median", "count"} <= set(names)


def test_set_changes_what_is_shown(session: Session) -> None:
    session.execute("SET Integer_Division = TRUE; SET empty_aggregates = 'none'")
    assert answer(session, "SHOW SETTINGS")[1:4] == [
        "integer_division  true",
        "empty_aggregates  none",
        "strategy          upa",
    ]


def test_explain_takes_a_query_or_a_name(session: Session) -> None:
    (named,) = session.execute("EXPLAIN busy")
    (written,) = session.execute("EXPLAIN SELECT lane, COUNT(*) AS n FROM recent GROUP BY lane")
    assert named.message == written.message
    assert named.message is not None
    assert named.message.startswith("Map lane = recent.lane, n = COUNT(*)  [STR]\n  Aggregate")


def test_replan_takes_the_name_of_a_query(session: Session) -> None:
    (outcome,) = session.execute("REPLAN busy")
    assert outcome.message == 'query "busy" is planned anew where it runs'
    with pytest.raises(CqlSyntaxError, match="expected a query"):
        session.execute("REPLAN")
    with pytest.raises(UnknownName, match="line 1, column 8"):
        session.execute("REPLAN nothing")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE STREAM CARS (a INT, WATERMARK FOR a AS a)", 'already a stream called "cars"'),
        ("CREATE OR REPLACE VIEW cars AS SELECT n FROM ticks", 'already a stream called "cars"'),
        ("DROP QUERY busy", 'query "busy" is used by sink "out"'),
        ("DROP STREAM recent", '"recent" is a view, not a stream'),
        ("DROP VIEW recents", 'Did you mean "recent"?'),
        ("CREATE SINK more FROM cars USING csv", '"cars" is a stream, not a query'),
        ("DESCRIBE nothing", 'there is no stream, relation, view, query or sink called "nothing"'),
    ],
)
def test_the_catalog_refuses(session: Session, statement: str, said: str) -> None:
    with pytest.raises(PenstockError) as caught:
        session.execute(statement)
    assert said in str(caught.value)


def test_statements_before_a_mistake_have_taken_effect(session: Session) -> None:
    with pytest.raises(PenstockError):
        session.execute("DROP SINK out; DROP QUERY busy; DROP QUERY busy; DROP VIEW recent")
    assert session.catalog.get("busy") is None
    assert session.catalog.get("recent") is not None


def test_a_script_that_is_not_cql_runs_not_at_all(session: Session) -> None:
    with pytest.raises(PenstockError):
        session.execute("DROP SINK out; DROP")
    assert session.catalog.get("out") is not None


def test_if_exists_and_if_not_exists_are_content(session: Session) -> None:
    outcomes = session.execute(
        "DROP VIEW IF EXISTS nothing;"
        " CREATE STREAM IF NOT EXISTS cars (a INT, WATERMARK FOR a AS a);"
        " CREATE OR REPLACE VIEW recent AS SELECT v FROM ticks"
    )
    assert [outcome.message for outcome in outcomes] == [
        'there is no view "nothing"',
        'stream "cars" exists already',
        'view "recent" created',
    ]


def test_explain_shows_the_structures_of_the_strategy(session: Session) -> None:
    shown = {}
    for strategy in ("upa", "direct", "negative"):
        session.execute(f"SET strategy = {strategy}")
        (outcome,) = session.execute("EXPLAIN SELECT DISTINCT lane FROM cars [RANGE 9 SECONDS]")
        shown[strategy] = str(outcome.message).partition("Runs as")[2]
    assert "Distinct  [WK]" in shown["upa"]
    assert "calendar(32)" in shown["upa"]
    assert "calendar(1)" in shown["direct"]
    assert "Distinct  [STR]" in shown["negative"]
    assert "hashed" in shown["negative"]

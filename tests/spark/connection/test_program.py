"""What statements make of a plan; no Spark is needed for it."""

from __future__ import annotations

import pytest

from penstock.cql.dialect import parse_script
from penstock.errors import PenstockError
from penstock.pipeline.bound import bound
from penstock.pipeline.plans import PipelinePlan
from penstock.spark.program import Program, entry_of, pruned

S = "CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)"
V = "CREATE VIEW v AS SELECT k FROM s [RANGE 5]"
Q = "CREATE QUERY q AS SELECT k FROM s [RANGE 9]"
P = "CREATE QUERY p AS SELECT k, COUNT(*) AS n FROM s [RANGE 9] GROUP BY k"
OF_V = "CREATE QUERY of_v AS SELECT k FROM v"


def run(program: Program, text: str) -> PipelinePlan:
    """Execute statements as a connection does."""
    for statement in parse_script(text):
        span = statement.span
        own = text[span.start : span.end]
        name = getattr(statement, "name", None)
        before = None
        if name is not None and (found := program.session.catalog.get(name.text)) is not None:
            before = program.definition(name.text) if found.kind == "query" else None
        (outcome,) = program.session.execute(own)
        program.take_in(outcome, own, before)
    return program.plan()


def program() -> Program:
    return Program(PipelinePlan(), 0, 2)


@pytest.mark.parametrize(
    ("statements", "left"),
    [
        ([S, V, "DROP VIEW v"], [S]),
        ([S, V, OF_V, "DROP VIEW v"], [S, V, OF_V, "DROP VIEW v"]),
        ([S, "DROP STREAM s", S], [S]),
        ([S, "CREATE OR REPLACE STREAM s (ts BIGINT, WATERMARK FOR ts AS ts)"],
         ["CREATE OR REPLACE STREAM s (ts BIGINT, WATERMARK FOR ts AS ts)"]),
        ([S, V, OF_V, "CREATE OR REPLACE VIEW v AS SELECT 1 AS k FROM s [NOW]", "DROP VIEW v"],
         [S, V, OF_V, "DROP VIEW v"]),
        (["SET integer_division = true", "SET integer_division = false"],
         ["SET integer_division = false"]),
        ([S, "SET integer_division = true", Q, "SET integer_division = false"],
         [S, "SET integer_division = true", Q, "SET integer_division = false"]),
    ],
)  # fmt: skip
def test_what_makes_no_difference_is_left_out(statements: list[str], left: list[str]) -> None:
    entries = [entry_of(parse_script(text)[0], text) for text in statements]
    assert [one.text for one in pruned(entries)] == left


def test_queries_of_one_call_share_a_group_and_later_ones_do_not() -> None:
    made = program()
    plan = run(made, f"{S}; {Q}; {P}")
    assert [(group.number, group.queries) for group in plan.groups] == [(0, ("q", "p"))]
    plan = run(made, "CREATE QUERY r AS SELECT k FROM s [ROWS 3]")
    assert [group.number for group in plan.groups] == [0, 1]


def test_a_query_that_leaves_others_behind_is_gone_and_they_run_on() -> None:
    made = program()
    run(made, f"{S}; {Q}; {P}")
    plan = run(made, "DROP QUERY q")
    (group,) = plan.groups
    assert group.number == 0
    assert group.queries == ("p",)
    assert list(group.physical.columns) == ["p"]
    assert [one.name for one in made.session.catalog] == ["s", "p"]
    plan = run(made, Q)
    assert [one.number for one in plan.groups] == [0, 1], "the same name again, in a new group"
    plan = run(made, "DROP QUERY p; DROP QUERY q; DROP STREAM s")
    assert plan.groups == ()
    assert plan.statements == ()


def test_a_stopped_query_is_kept_and_starts_in_a_new_group() -> None:
    made = program()
    run(made, f"{S}; {Q}; {P}")
    made.stop("q")
    plan = made.plan()
    assert made.group_of("q") is None
    assert Q in plan.statements
    again = Program(plan, 1, 2)
    assert again.group_of("q") is None
    again.start("q")
    assert [one.queries[-1] for one in again.plan().groups] == ["p", "q"]


def test_a_query_that_is_replaced_by_one_of_other_columns_begins_anew() -> None:
    made = program()
    run(made, f"{S}; {Q}")
    plan = run(made, "CREATE OR REPLACE QUERY q AS SELECT k + 1 AS more FROM s [RANGE 9]")
    assert [(one.number, one.queries) for one in plan.groups] == [(1, ("q",))]
    assert len(plan.statements) == 2


def test_one_of_the_same_columns_runs_beside_it_and_takes_its_place() -> None:
    made = program()
    run(made, f"{S}; {Q}; CREATE SINK kept FROM q USING memory; {P}")
    before = made.definition("q").plan
    plan = run(made, "CREATE OR REPLACE QUERY q AS SELECT k + 1 AS k FROM s [RANGE 9]")
    assert [(one.number, one.queries) for one in plan.groups][-1] == (1, ("q (next)",))
    assert made.definition("q").plan == before
    assert made.ready == ["q"]
    made.take_place("q")
    plan = made.unchanged()
    assert plan.groups[-1].numbers_of("q") == (0, 1)
    assert [one.queries for one in plan.groups] == [("p",), ("q",)]
    assert made.definition("q").plan != before
    again = Program(plan, 2, 2)
    assert again.unchanged() == plan
    assert again.definition("q").plan == made.definition("q").plan


def test_a_plan_that_is_opened_again_makes_the_same_catalog() -> None:
    made = program()
    plan = run(made, f"{S}; {V}; {OF_V}; {Q}; DROP VIEW v; SET integer_division = true")
    again = Program(plan, 1, 2)
    assert again.unchanged() == plan
    assert [one.name for one in again.session.catalog] == ["s", "of_v", "q"]
    assert again.session.settings.integer_division


def test_a_name_that_is_declared_again_is_noticed() -> None:
    made = program()
    run(made, f"{S}; {Q}")
    text, before = "DROP QUERY q", made.definition("q")
    (outcome,) = made.session.execute(text)
    made.take_in(outcome, text, before)
    (create,) = parse_script(Q)
    assert made.creates_what_is_gone(create)
    made.plan()
    assert not made.creates_what_is_gone(create)


def test_exists_and_not_exists_change_nothing() -> None:
    made = program()
    plan = run(made, f"{S}; {Q}")
    same = run(made, "CREATE QUERY IF NOT EXISTS q AS SELECT 1 AS a FROM s [NOW]; "
                     "DROP QUERY IF EXISTS nobody; DROP VIEW IF EXISTS nobody")  # fmt: skip
    assert same == plan


def test_statements_that_are_wrong_leave_the_rest() -> None:
    made = program()
    with pytest.raises(PenstockError):
        run(made, f"{S}; CREATE QUERY bad AS SELECT nothing FROM s [NOW]")
    assert made.plan().statements == (S,)


def test_sinks_are_written_down_until_they_are_dropped() -> None:
    made = program()
    sink = "CREATE SINK out FROM q USING parquet OPTIONS (path '/tmp/x')"
    plan = run(made, f"{S}; {Q}; {sink}")
    assert plan.statements[-1] == sink
    with pytest.raises(PenstockError, match="is used by sink"):
        run(made, "DROP QUERY q")
    assert made.group_of("q") is not None
    plan = run(made, "DROP SINK out; DROP QUERY q")
    assert plan == PipelinePlan((S,), ())


def test_a_query_without_streams_has_one_lane_of_its_own() -> None:
    relation = "CREATE RELATION r (k INT)"
    plan = run(program(), f"{S}; {relation}; {P}; CREATE QUERY of_r AS SELECT k FROM r")
    assert [one.queries for one in plan.groups] == [("p",), ("of_r",)]
    assert [len(one.lane_names()) for one in bound(plan).fragments.values()] == [2, 1]


def test_queries_of_different_strategies_share_no_group() -> None:
    made = program()
    plan = run(made, f"{S}; {Q}; SET strategy = negative; {P}")
    assert [one.queries for one in plan.groups] == [("q",), ("p",)]
    groups = bound(plan).groups
    assert [groups[number].choices.strategy for number in (0, 1)] == ["upa", "negative"]
    again = Program(plan, 2, 2)
    assert again.unchanged() == plan

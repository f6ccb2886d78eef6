"""Progress charts before anything has run, by estimates."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Stream
from penstock.cli.app import app
from penstock.planner.explain.explain import QUERY, Explaining
from penstock.session import Session
from penstock_fuzz.generate import generate

DECLARED = """
CREATE STREAM a (ts BIGINT, k INT, v INT, w STRING, WATERMARK FOR ts AS ts);
CREATE STREAM b (ts BIGINT, k INT, u INT, WATERMARK FOR ts AS ts);
"""
JOINED = "SELECT a.v, b.u FROM a [RANGE 10], b [RANGE 10] WHERE a.k = b.k AND a.v = 3"


def explained(query: str) -> Explaining:
    *_, outcome = Session().execute(DECLARED + query)
    assert outcome.plan is not None
    return Explaining({QUERY: outcome.plan})


def test_there_is_a_path_from_each_source_and_the_join_is_on_both() -> None:
    found = explained(JOINED).charts(QUERY)
    assert sorted(one.source for one in found.paths) == ["a", "b"]
    labels = [[found.labels[one] for one in path.operators] for path in found.paths]
    shared = set(labels[0]) & set(labels[1])
    assert any(one.startswith("Join") for one in shared)
    assert not any(one.startswith(("Filter", "Stream")) for one in shared)


def test_a_selective_filter_shrinks_a_block_and_a_join_is_dearer_than_a_map() -> None:
    found = explained(JOINED).charts(QUERY)
    (path,) = [one for one in found.paths if one.source == "a"]
    sizes = {
        found.labels[operator].split()[0]: (path.chart.points[step + 1].size, segment.slope)
        for step, (operator, segment) in enumerate(
            zip(path.operators, path.chart.steps, strict=True)
        )
    }
    assert sizes["Filter"][0] < 0.2 < sizes["Stream"][0]
    assert path.chart.time > 0


def test_what_is_only_named_takes_no_time() -> None:
    found = explained("SELECT k FROM a [RANGE 10]").charts(QUERY)
    (path,) = found.paths
    assert path.chart.steps[0].slope == 0
    assert found.lines()[0].startswith("Progress of a block from a: ")


@pytest.mark.parametrize("number", range(100))
def test_every_query_of_streams_has_charts_that_end_with_its_result(number: int) -> None:
    plan = generate(f"charted {number}").plan
    found = Explaining({QUERY: plan}).charts(QUERY)
    assert bool(found.paths) == any(isinstance(one, Stream) for one in different_nodes(plan))
    assert found.lines()
    for path in found.paths:
        assert path.operators[-1] == len(found.labels) - 1
        assert path.chart.segments[-1].slope > 0


def test_the_command_adds_charts_to_text_and_json_and_draws_them() -> None:
    script = f"{DECLARED} {JOINED};"
    text = CliRunner().invoke(app, ["explain", "-e", script, "--charts"])
    assert text.output.count("Progress of a block from ") == 2
    made = CliRunner().invoke(app, ["explain", "-e", script, "--charts", "--format", "json"])
    charts = json.loads(made.output)["charts"]
    assert [one["points"][0] for one in charts] == [[0, 1], [0, 1]]
    assert all(one["points"][-1][1] == 0 for one in charts)
    drawn = CliRunner().invoke(app, ["explain", "-e", script, "--charts", "--format", "svg"])
    assert ElementTree.fromstring(drawn.output).tag.endswith("svg")


def test_where_lanes_have_a_budget_charts_are_shown() -> None:
    script = f"{DECLARED} SET lane_budget = '200 ms'; {JOINED};"
    text = CliRunner().invoke(app, ["explain", "-e", script])
    assert text.output.count("Progress of a block from ") == 2
    made = CliRunner().invoke(app, ["explain", "-e", script, "--format", "json"])
    assert len(json.loads(made.output)["charts"]) == 2


@pytest.mark.parametrize("form", ["json", "text"])
def test_without_being_asked_it_says_nothing_of_them(form: str) -> None:
    script = f"{DECLARED} {JOINED};"
    made = CliRunner().invoke(app, ["explain", "-e", script, "--format", form])
    assert "chain" not in made.output

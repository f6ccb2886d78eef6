"""`penstock run` and `penstock explain`: what they print, and what they say when they cannot."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[3]
CARS = "lane,speed,at\n5,18.28,8\n2,21.33,92\n4,19.69,136\n"
DECLARATION = """
CREATE STREAM cars (lane INT, speed DOUBLE, at BIGINT, WATERMARK FOR at AS at)
USING csv OPTIONS (path '{path}', time_unit 's');
"""


@pytest.fixture
def cars(tmp_path: Path) -> str:
    """Declares a stream whose rows lie in a file."""
    path = tmp_path / "cars.csv"
    path.write_text(CARS, encoding="utf-8")
    return DECLARATION.format(path=path)


def penstock(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "penstock"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run statements on the reference evaluator; `tests/spark/test_run.py` has Spark."""
    return penstock("run", "--engine", "oracle", *arguments)


def test_run_prints_every_change(cars: str) -> None:
    done = ask("-e", cars + "SELECT lane, speed FROM cars [RANGE 100 SECONDS]")
    assert done.returncode == 0
    assert done.stdout == (
        "lane | speed\n"
        "@8    + 5 | 18.28\n"
        "@92   + 2 | 21.33\n"
        "@108  - 5 | 18.28\n"
        "@136  + 4 | 19.69\n"
        "@192  - 2 | 21.33\n"
        "@236  - 4 | 19.69\n"
    )


def test_run_prints_what_holds_at_an_instant(cars: str) -> None:
    done = ask("--at", "100", "-e", cars + "SELECT COUNT(*) AS n FROM cars [ROWS 2]")
    assert done.stdout == "n\n@100  2\n"


@pytest.mark.parametrize("engine", ["oracle", "inline"])
def test_as_of_behind_a_query_asks_about_one_instant(cars: str, engine: str) -> None:
    questions = "SELECT lane FROM cars [RANGE 100 SECONDS] AS OF 107; SELECT lane FROM cars AS OF 8"
    done = penstock("run", "--engine", engine, "-e", cars + questions)
    assert done.stdout == "lane\n@107  2\n      5\n\nlane\n@8  5\n"
    done = penstock(
        "run", "--engine", "inline", "-e", cars + "ISTREAM(SELECT lane FROM cars) AS OF 8"
    )
    assert done.returncode == 2
    assert "which hold at no time" in done.stderr


def test_run_prints_rows_with_their_intervals(cars: str) -> None:
    query = "CREATE QUERY q AS SELECT COUNT(*) AS n FROM cars [RANGE 50 SECONDS];"
    done = ask("--intervals", "-e", cars + query)
    assert done.stdout == (
        "q: n\n"
        "[start, 8)  0\n"
        "[8, 58)     1\n"
        "[58, 92)    0\n"
        "[92, 136)   1\n"
        "[136, 142)  2\n"
        "[142, 186)  1\n"
        "[186, inf)  0\n"
    )


def test_run_reads_a_file_and_then_the_command_line(cars: str, tmp_path: Path) -> None:
    script = tmp_path / "declare.cql"
    script.write_text(cars, encoding="utf-8")
    done = ask(str(script), "-e", "ISTREAM(SELECT lane FROM cars [NOW]); SHOW STREAMS")
    assert done.stdout.startswith("lane\n@8    5\n@92   2\n@136  4\n\nstream  definition\ncars ")


def test_warnings_go_to_stderr(cars: str) -> None:
    done = ask("-e", cars + "SELECT DISTINCT lane FROM cars")
    assert done.stderr == (
        'warning: DISTINCT remembers every different row of "cars" for ever;'
        " give it a window, such as [RANGE 1 HOUR]\n"
        "warning: after an hour this takes about 6.6 kB, and it grows on,"
        ' with 0.016 rows/s of "cars" (first rows)\n'
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "there are no statements to read"),
        (["run", "nowhere.cql"], "cannot read nowhere.cql: No such file or directory"),
        (["explain", "-e", "SHOW STREAMS"], "there is no query among the statements"),
        (["explain", "-e", "SELECT"], "line 1, column 1: "),
        (
            ["run", "-e", "CREATE STREAM s (a INT, WATERMARK FOR a AS a); SELECT a FROM s"],
            "no format",
        ),
    ],
)
def test_a_mistake_is_a_sentence_and_exit_code_2(arguments: list[str], said: str) -> None:
    done = penstock(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    script = tmp_path / "wrong.cql"
    script.write_text("-- one\nSELECT a FROM nowhere;\n", encoding="utf-8")
    done = penstock("explain", str(script))
    assert done.returncode == 2
    assert done.stderr.startswith(f"{script}: line 2, column 15: there is no stream")


@pytest.mark.parametrize("name", ["stations", "packets", "multijoin"])
@pytest.mark.parametrize("form", ["text", "json", "dot"])
def test_the_queries_of_the_sources_have_plans(name: str, form: str) -> None:
    done = penstock("explain", f"examples/seeds/{name}.cql", "--format", form)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if form == "json":
        json.loads(done.stdout)


def test_a_picture_needs_graphviz(cars: str) -> None:
    done = penstock("explain", "--format", "svg", "-e", cars + "SELECT lane FROM cars [NOW]")
    if shutil.which("dot"):
        assert done.returncode == 0
        assert "<svg" in done.stdout
    else:
        assert done.returncode == 2
        assert done.stderr.startswith("--format svg needs Graphviz")
        assert "--format dot" in done.stderr


TWO_QUERIES = """CREATE QUERY one AS SELECT lane FROM cars [NOW] WHERE lane = 1;
                 CREATE QUERY two AS SELECT lane FROM cars [NOW]
                 WHERE CAST(lane AS STRING) <> 'é&lt;"'"""


def test_a_picture_shows_all_queries_as_graphviz_is_given_them(
    cars: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a stand-in for Graphviz that gives back what it was given."""
    dot = tmp_path / "dot"
    dot.write_text('#!/bin/sh\n[ "$*" = -Tsvg ] && exec cat\nexit 1\n', encoding="utf-8")
    dot.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = penstock("explain", "--format", "svg", "-e", cars + TWO_QUERIES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("digraph") == 1
    assert all(f'label="{name}\\lRules: ' in done.stdout for name in ("one", "two"))
    assert """'é&amp;lt;\\"'""" in done.stdout


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_a_picture_shows_all_queries_as_graphviz_draws_them(cars: str) -> None:
    done = penstock("explain", "--format", "svg", "-e", cars + TWO_QUERIES)
    assert done.returncode == 0, done.stderr
    (drawn,) = [one for one in ElementTree.fromstring(done.stdout) if one.get("class") == "graph"]
    frames = [one for one in drawn if one.get("class") == "cluster"]
    said = [[text.text or "" for text in one if text.tag.endswith("text")] for one in frames]
    assert [lines[0] for lines in said] == ["one", "two"]
    for lines, other in zip(said, ("two", "one"), strict=True):
        words = " ".join(line.strip() for line in lines)
        assert all(f" {what}: " in words for what in ("Rules", "Expected", "Lanes"))
        assert f"of that shared with {other}: " in words
    assert """'é&lt;"'""" in "".join(drawn.itertext())


def test_queries_of_a_script_are_shown_as_they_run_together(cars: str) -> None:
    counted = "SELECT lane, COUNT(*) AS n FROM cars [RANGE 9] GROUP BY lane"
    view = f"CREATE VIEW counted AS {counted};"
    queries = "".join(f"SELECT lane FROM counted WHERE n > {least};" for least in (1, 2))
    done = penstock("explain", "--format", "json", "-e", cars + view + queries)
    seen, first, second = json.loads(done.stdout)
    assert seen["runs"]["shared_with"] == []
    for one, other in ((first, "query 2"), (second, "query 1")):
        below = one["runs"]
        while below["operator"] != "Aggregate":
            assert below["shared_with"] == []
            (below,) = below["inputs"]
        assert below["shared_with"] == [other]
    text = penstock("explain", "-e", cars + queries.replace("counted", f"({counted}) AS c")).stdout
    assert text.startswith("query 1:\n")
    assert "shared with query 2" in text


def test_the_plan_of_twenty_stations_reads_twenty_streams() -> None:
    done = penstock("explain", "examples/seeds/stations.cql")
    means, runs = done.stdout.split("Runs as")
    for plan in (means, runs):
        assert plan.count("Stream HighwayStream") == 20
        assert plan.count("UnionAll") == 1


def test_explain_prints_several_plans_as_one_json_list(cars: str) -> None:
    queries = "SELECT lane FROM cars [NOW]; SELECT speed FROM cars [NOW];"
    done = penstock("explain", "--format", "json", "-e", cars + queries)
    plans = json.loads(done.stdout)
    assert [plan["plan"]["columns"][0]["name"] for plan in plans] == ["lane", "speed"]


def test_explain_shows_each_query_under_the_strategy_that_is_set(cars: str) -> None:
    query = "SELECT DISTINCT lane FROM cars [NOW]"
    text = f"{cars} CREATE QUERY a AS {query}; SET strategy = negative; CREATE QUERY b AS {query};"
    done = penstock("explain", "--format", "json", "-e", text)
    plans = json.loads(done.stdout)
    assert [plan["strategy"] for plan in plans] == ["upa", "negative"]
    assert [plan["runs"]["structures"] for plan in plans] == [["calendar(32)"], ["hashed"]]

"""The walks of docs/contributors/walks.md: a step that is left out fails the test that it names."""

from __future__ import annotations

import gc
import importlib.util
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from docs.pages import ROOT
from docs.visited import files_of_a_command, visited
from penstock.algebra import aggregates, windows
from penstock.catalog.functions import aggregate_types
from penstock.connection.engines.local.local_engine import LocalAnswer
from penstock.connectors import connector_list
from penstock.operators.aggregate.accumulators import choice
from penstock.operators.window import time_windows
from penstock.planner.rules import rule_list
from penstock.reference import aggregate_values
from penstock.results.answer_text import AnswerText
from penstock.results.settling import timed_fold_for
from penstock.scheduling import scheduler_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from penstock.connection.connection import Connection

PAGE = ROOT / "docs" / "contributors" / "walks.md"
SECTIONS = dict(
    re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", PAGE.read_text("utf-8"), re.MULTILINE)
)
ROW = "One row, from a CSV file to a printed change"
NAMED = re.compile(r"`((?:src|tests)/[\w/]+(?:\.py)?)`")


def without_one(entries: Any) -> Any:
    """A registry without one of its entries."""
    if isinstance(entries, dict):
        return dict(list(entries.items())[1:])
    return entries[1:]


def outcome(path: str, name: str) -> bool:
    """Whether a test passes in its module as read now; all its parameters have to."""
    spec = importlib.util.spec_from_file_location("walked", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        for values in parameters(module, name):
            getattr(module, name)(**values)
    except Exception:
        return False
    return True


def parameters(module: ModuleType, name: str) -> Iterator[Mapping[str, object]]:
    """The arguments of a test that has one parameter or none."""
    marks = getattr(getattr(module, name), "pytestmark", [])
    if not marks:
        yield {}
    for mark in marks:
        for value in mark.args[1]:
            yield {mark.args[0]: value}


STEPS = [
    ("An aggregate", aggregate_types, "AGGREGATES", "all_aggregates_are_known_everywhere"),
    ("An aggregate", aggregates, "AGGREGATE_FACTS", "all_aggregates_are_known_everywhere"),
    ("An aggregate", aggregate_values, "MEANING", "all_aggregates_are_known_everywhere"),
    ("An aggregate", choice, "ACCUMULATORS", "all_aggregates_are_known_everywhere"),
    ("A rewrite rule", rule_list, "ALWAYS", "the_list_has_every_rule_once"),
    ("A rewrite rule", rule_list, "BY_COST", "the_list_has_every_rule_once"),
    ("A connector", connector_list, "CONNECTORS", "the_list_has_every_connector"),
    ("A scheduler", scheduler_list, "SCHEDULERS", "every_scheduler_is_in_the_list"),
]
"""A walk, the registry that a step of it adds to, and the test that misses the entry."""


@pytest.mark.parametrize(
    ("walk", "module", "registry", "test"), STEPS, ids=[f"{one[0]}: {one[2]}" for one in STEPS]
)
def test_a_missing_entry_fails_the_named_test(
    monkeypatch: pytest.MonkeyPatch, walk: str, module: ModuleType, registry: str, test: str
) -> None:
    assert path_of(module) in NAMED.findall(SECTIONS[walk])
    path = file_of(walk, test)
    assert outcome(path, f"test_{test}")
    monkeypatch.setattr(module, registry, without_one(getattr(module, registry)))
    assert not outcome(path, f"test_{test}")


def path_of(module: ModuleType) -> str:
    assert module.__file__ is not None
    return str(Path(module.__file__).relative_to(ROOT))


def file_of(walk: str, test: str) -> str:
    """The test file that a walk names and in which a test stands."""
    named = [path for path in NAMED.findall(SECTIONS[walk]) if path.startswith("tests/")]
    (path,) = [
        one
        for one in named
        if one.endswith(".py") and f"def test_{test}(" in (ROOT / one).read_text("utf-8")
    ]
    return str(path)


def test_a_new_kind_of_window_fails_the_named_test_until_it_is_tried() -> None:
    walk, test = "A kind of window", "every_kind_of_window_is_among_those_tried_here"
    assert path_of(windows) in NAMED.findall(SECTIONS[walk])
    path = file_of(walk, test)
    assert outcome(path, f"test_{test}")
    new = type("Odd", (windows.Now,), {})
    assert not outcome(path, f"test_{test}"), new
    # A class refers to itself, and other tests would find it among the kinds of windows.
    del new
    gc.collect()


def test_blocks_of_rows_with_other_intervals_fail_the_named_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walk, test = "A kind of window", "blocks_of_rows_get_the_intervals_of_the_definition"
    assert path_of(time_windows) in NAMED.findall(SECTIONS[walk])
    path = file_of(walk, test)
    assert outcome(path, f"test_{test}")
    real = time_windows.intervals
    monkeypatch.setattr(time_windows, "intervals", lambda spec, ts: real(spec, ts + 1))
    assert not outcome(path, f"test_{test}")


def test_a_run_passes_all_files_of_the_walk() -> None:
    head, _, _ = SECTIONS[ROW].partition("On Spark")
    script = ROOT / "examples" / "highway" / "highway.cql"
    order = files_of_a_command("run", "--engine", "inline", script)
    # A dispatcher works where there is a budget only.
    named = {path for path in NAMED.findall(head) if path.endswith(".py")}
    assert {path for path in named if path not in order} <= {"src/penstock/runtime/dispatcher.py"}


def printed(db: Connection, query: str) -> str:
    """The answer of a query up to now, as it is printed."""
    answer = db.engine.answer(query)
    assert isinstance(answer, LocalAnswer)
    reader = answer.reader(partial(timed_fold_for, answer.plan, *answer.shape))
    commits = list(reader.read())
    text = AnswerText(answer.plan, None)
    said = [line for one in commits if one.block is not None for line in text.add(one.block)]
    return "\n".join([*said, *text.flush()])


def test_a_row_passes_the_files_of_the_walk_in_their_order() -> None:
    db = penstock.connect_inline()
    db.execute("CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    query = db.query("SELECT k FROM s [ROWS 2]")
    with visited() as order:
        db.insert("s", [(1, 7), (2, 8), (3, 9)])
        assert printed(db, query.name).startswith("k\n@1  + 7\n@2  + 8")
    head, _, tail = SECTIONS[ROW].partition("On Spark")
    assert NAMED.findall(tail)[-1] in order
    shared = [path for path in NAMED.findall(head) if path in order]
    assert shared == sorted(shared, key=order.index)
    assert [path for path in shared if "/runtime/" in path], "the lane and its stations"
    assert shared[-1] == "src/penstock/results/lines.py"

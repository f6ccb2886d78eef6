"""The walks of docs/contributors/walks.md: a step that is left out fails the test that it names."""

from __future__ import annotations

import gc
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from docs.pages import ROOT
from docs.visited import functions_of_a_command, visited
from penstock.algebra import aggregates, windows
from penstock.catalog.functions import aggregate_types
from penstock.connectors import connector_list
from penstock.operators.aggregate.accumulators import choice
from penstock.operators.window import time_windows
from penstock.planner.rules import rule_list
from penstock.reference import aggregate_values
from penstock.scheduling import scheduler_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType


PAGE = ROOT / "docs" / "contributors" / "walks.md"
SECTIONS = dict(
    re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", PAGE.read_text("utf-8"), re.MULTILINE)
)
ROW = "One row, from a CSV file to a printed change"
STEP = re.compile(r"^\| `(src/[\w/]+\.py)` \| `([\w.]+)` \|", re.MULTILINE)
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
    named = dict.fromkeys(one for one in NAMED.findall(SECTIONS[walk]) if one.startswith("tests/"))
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


def test_a_run_passes_the_functions_of_the_walk_in_their_order() -> None:
    script = ROOT / "examples" / "highway" / "highway.cql"
    order = functions_of_a_command("run", script)
    walk = [f"{file} {function}" for file, function in STEP.findall(SECTIONS[ROW])]
    assert len(walk) > 20
    assert [one for one in walk if one not in order] == []
    places = [order.index(one) for one in walk]
    assert places == sorted(places)


def test_rows_from_python_enter_where_the_walk_says() -> None:
    db = penstock.connect_inline()
    db.execute("CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    query = db.query("SELECT k FROM s [ROWS 2]")
    with visited() as order:
        db.insert("s", [(1, 7), (2, 8), (3, 9)])
        assert len(query.changes())
    _, _, last = SECTIONS[ROW].rpartition("Rows from Python")
    files = {one.split()[0] for one in order}
    assert set(NAMED.findall(last)) <= files
    assert {"src/penstock/runtime/station.py", "src/penstock/results/settling.py"} <= files

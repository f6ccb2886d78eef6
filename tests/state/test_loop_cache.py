"""Machine code of loops is found again by what it was made from, not by where that stands."""

from __future__ import annotations

import ast
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import penstock
from penstock.state.loop_content import digest, python_function

PACKAGE = Path(penstock.__file__).parent

COMPILED = """
import gc, json
from numba.core.dispatcher import Dispatcher
loops = [one for one in gc.get_objects() if isinstance(one, Dispatcher) and one._cache_misses]
names = [one.py_func.__name__ for one in loops if one.py_func.__module__.startswith("penstock")]
print(json.dumps(sorted(names)))
"""

USED = """
import gc, json
from numba.core.dispatcher import Dispatcher
loops = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
used = [(one, sig) for one in loops for sig in {*one._cache_hits, *one._cache_misses}]
names = [f"{one.py_func.__module__}.{one.py_func.__name__} {sig}" for one, sig in used]
print(json.dumps([name for name in names if name.startswith("penstock")]))
"""

QUERY = """
import penstock
db = penstock.connect_inline()
db.execute("CREATE STREAM s (ts BIGINT, k INTEGER, WATERMARK FOR ts AS ts)")
answer = db.query("SELECT k, COUNT(*) AS n FROM s [RANGE 10] GROUP BY k")
db.insert("s", [(1, 7), (2, 7), (3, 8)])
assert answer.snapshot().to_pylist() == [{"k": 7, "n": 2}]
"""

MARKS = """
import numpy as np
from penstock.state.probing import marks_of
marks_of(np.ones((3, 2), np.uint64))
"""


def compiled_by(source: Path, script: str, **environment: str) -> list[str]:
    """The loops that a new process with the package in this folder had to compile."""
    return printed_by(script + COMPILED, PYTHONPATH=str(source), **environment)


def loops_used_by(script: str) -> set[str]:
    """The loops that a new process found or compiled, with their signatures."""
    return set(printed_by(script + USED))


def printed_by(script: str, **environment: str) -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    printed: list[str] = json.loads(ended.stdout)
    return printed


def copy_of_package(folder: Path) -> Path:
    shutil.copytree(PACKAGE, folder / "penstock", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def reworded(text: str, word: str) -> str:
    """The same code without comments, on other lines, and with a word in every docstring."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        first = node.body[0] if node.body else None
        if ast.get_docstring(node) and isinstance(first, ast.Expr):
            first.value = ast.Constant(f"{word} {ast.get_docstring(node)}")
    return ast.unparse(tree)


def test_other_words_in_another_folder_compile_nothing(tmp_path: Path) -> None:
    compiled_by(PACKAGE.parent, QUERY)
    source = copy_of_package(tmp_path)
    word = uuid.uuid4().hex  # no earlier run can have left machine code for it
    for file in source.rglob("*.py"):
        file.write_text(reworded(file.read_text("utf-8"), word), "utf-8")

    assert compiled_by(source, QUERY) == []


FIRST_QUERIES = """
import penstock
db = penstock.connect_inline()
db.execute('''
    CREATE STREAM trades (ts TIMESTAMP, sym STRING, price DOUBLE, WATERMARK FOR ts AS ts);
    CREATE STREAM quotes (ts TIMESTAMP, sym STRING, bid DOUBLE, WATERMARK FOR ts AS ts);
''')
queries = [
    db.query("SELECT price, bid FROM trades [RANGE 9 SECONDS] JOIN quotes [NOW] USING (sym)"),
    db.query("SELECT sym, SUM(price) AS s, COUNT(*) AS n FROM trades [ROWS 9] GROUP BY sym"),
    db.query("SELECT MEDIAN(price) AS m FROM trades [RANGE 1 MINUTE]"),
    db.query("SELECT price FROM trades [ROWS 5] LEFT JOIN quotes [RANGE 1 MINUTE] USING (sym)"),
]
for second in range(10, 50):
    at = f"2026-11-18 12:00:{second}"
    db.insert("trades", [(at, "ink", 1.5 * second)])
    db.insert("quotes", [(at, "ink", 1.25 * second)])
assert all(len(query.changes()) for query in queries)
"""


WARM_UP = """
from penstock.connection.engines.local.warm_up import warm_up
for text in warm_up():
    pass
"""


def test_after_the_warm_up_first_queries_compile_nothing() -> None:
    warm = loops_used_by(WARM_UP)  # found or compiled: an earlier run may have left others, too

    assert loops_used_by(FIRST_QUERIES) - warm == set()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loops")
    made = compiled_by(PACKAGE.parent, MARKS, NUMBA_CACHE_DIR=str(folder))
    assert made == ["_mark", "marks_of", "mixed"]
    return folder


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_a_changed_constant_compiles_what_reads_it(tmp_path: Path, kept: Path) -> None:
    source = copy_of_package(tmp_path)
    change(source / "penstock/state/probing.py", "_SEED = np.uint64(0x2", "_SEED = np.uint64(0x3")

    assert compiled_by(source, MARKS, NUMBA_CACHE_DIR=str(kept)) == ["_mark", "marks_of"]


def test_a_changed_function_compiles_its_callers_in_other_files(tmp_path: Path, kept: Path) -> None:
    source = copy_of_package(tmp_path)
    file = source / "penstock/state/hashing.py"
    change(file, "def mixed(", "def mixed(  # noqa\n")
    assert compiled_by(source, MARKS, NUMBA_CACHE_DIR=str(kept)) == []

    tree = ast.parse(file.read_text("utf-8"))
    [mixed] = [node for node in tree.body if getattr(node, "name", "") == "mixed"]
    assert isinstance(mixed, ast.FunctionDef)
    mixed.body[1:1] = ast.parse("state = state + word").body
    file.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
    assert compiled_by(source, MARKS, NUMBA_CACHE_DIR=str(kept)) == ["_mark", "marks_of", "mixed"]


def test_a_broken_file_is_compiled_again(tmp_path: Path, kept: Path) -> None:
    copy = shutil.copytree(kept, tmp_path / "loops")
    for broken in copy.glob("*marks_of-*"):
        broken.write_bytes(broken.read_bytes()[:1000])

    assert compiled_by(PACKAGE.parent, MARKS, NUMBA_CACHE_DIR=str(copy)) == ["marks_of"]
    assert compiled_by(PACKAGE.parent, MARKS, NUMBA_CACHE_DIR=str(copy)) == []


def test_without_a_folder_to_write_to_loops_are_compiled(tmp_path: Path) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("in the way")

    assert compiled_by(PACKAGE.parent, MARKS, NUMBA_CACHE_DIR=str(nowhere / "loops"))


def test_the_content_of_every_loop_can_be_told() -> None:
    loops = {
        python_function(thing)
        for module in pkgutil.walk_packages([str(PACKAGE)], "penstock.")
        if ".operators." in module.name or ".state." in module.name
        for thing in vars(importlib.import_module(module.name)).values()
        if isinstance(thing, Dispatcher)
    }
    assert len(loops) > 100
    assert len({digest(loop) for loop in loops}) == len(loops)

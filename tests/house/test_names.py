"""Names in src: one for each idea, and none of the words that the glossary has replaced."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from house.checkout import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "penstock"

STAGES = {
    "arithmetic": "functions: declared, by definition, over blocks",
    "calendar": "dates: by definition, over arrays",
    "casts": "functions: declared, by definition, over blocks",
    "explain": "EXPLAIN: the command, and what it prints",
    "expressions": "expressions: bound, defined, computed by definition, and asked by rules",
    "intervals": "INTERVALS clauses: bound, by definition",
    "logic": "functions: declared, by definition, over blocks",
    "numbers": "functions: declared, by definition, over blocks",
    "queries": "whole queries: parsed, bound",
    "shedding": "shedding: by definition, over blocks",
    "sources": "sources: bound, read by Spark, put in order by operators",
    "statements": "statements: parsed, performed",
    "status": "the status: found, printed",
    "strings": "functions: declared, by definition, over blocks",
    "time_format": "DATE_FORMAT: by definition, over blocks",
    "times": "functions: declared, by definition, over blocks",
    "types": "types: declared, bound",
    "windows": "windows: parsed, bound, specified, by definition",
}
"""File names that stand in several folders: one idea at several stages, and which."""

REPLACED = {
    "aside": "rejected",
    "brought": "inserted",
    "forever": "endless",
    "gate": "prefilter",
    "keeper": "lane host",
    "keeping": "state estimate, lane host",
    "lasting": "elements from an instant on",
    "looking": "sampling, search",
    "meeting": "matching, merging",
    "ours": "inserted",
    "piping": "script run",
    "relaning": "rescaling",
    "twins": "withdrawals",
    "whereabouts": "row placements",
    "settle": "expire, assign, wait, tell",
    "wish": "output options",
    "wishes": "engine options",
}
"""Words that need their author beside them, and what is said in their place."""

REPLACED_FILES = {"asking", "forgetting", "met", "sending", "serving", "stepping_back", "ways"}
"""They are verbs of functions in places, but say nothing of what is in a file."""


INTERROGATIVES = {"What", "Which", "How", "Where", "Whether", "When", "Who"}
"""A docstring begins with the thing that it describes, not with a question about it."""


def classes() -> dict[str, list[Path]]:
    found = defaultdict(list)
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(SOURCE))
    return found


@cache
def modules() -> dict[Path, ast.Module]:
    """The files of src, read when the first test asks for them."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def definitions() -> list[tuple[Path, str]]:
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [
        (path.relative_to(SOURCE), node.name)
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, kinds)
    ]


def words(name: str) -> set[str]:
    return {one.lower() for one in re.findall(r"[A-Z]?[a-z]+", name)}


def test_a_class_name_stands_for_one_idea() -> None:
    assert {name: paths for name, paths in classes().items() if len(paths) > 1} == {}


def test_a_file_name_stands_for_one_idea_or_its_stages() -> None:
    found = defaultdict(list)
    for path in modules():
        if PACKAGE in path.parents and not path.stem.startswith("__"):
            found[path.stem].append(path)
    twice = {name for name, paths in found.items() if len(paths) > 1}
    assert twice == set(STAGES)


def test_no_name_has_a_word_that_was_replaced() -> None:
    names = definitions() + [(path.relative_to(SOURCE), path.stem) for path in modules()]
    guilty = [(str(path), name) for path, name in names if words(name) & set(REPLACED)]
    assert guilty == []


def test_no_file_of_the_package_is_called_by_a_verb_that_was_replaced() -> None:
    guilty = [
        str(path) for path in modules() if PACKAGE in path.parents and path.stem in REPLACED_FILES
    ]
    assert guilty == []


def test_a_docstring_begins_with_the_thing() -> None:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    guilty = [
        f"{path.relative_to(SOURCE)}: {text.splitlines()[0]}"
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, kinds) and (text := ast.get_docstring(node))
        if text.split()[0].strip(",.:") in INTERROGATIVES
    ]
    assert guilty == []

"""Finding the test files under some paths, and the cases in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import DataError
from penstock.testing.format import StreamTest, load_test
from penstock.testing.jsonl import JsonCase, load_json_cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from penstock.testing.format import StreamCase

SUFFIXES = (".stream", ".jsonl")


@dataclass(frozen=True)
class TestFile:
    """A file with its cases, those of a filter only."""

    __test__ = False  # not a class of tests, whatever pytest reads into the name

    path: Path
    stream_test: StreamTest | None
    cases: Sequence[StreamCase | JsonCase]


def collect(paths: Iterable[Path], wanted: str = "") -> list[TestFile]:
    """Read all test files at or below some paths, folders in the order of their names.

    Args:
        paths: Files, whatever they are called, and folders, searched for `*.stream`, `*.jsonl`.
        wanted: Keep only the cases with this text in their title or their file's path.

    Raises:
        DataError: A path does not exist, a file cannot be read, or there is no case at all.
    """
    files = [_load(file, wanted) for path in paths for file in _files(path)]
    if not any(file.cases for file in files):
        msg = f'no case has "{wanted}" in its title' if wanted else "no tests found"
        hint = "The text is looked for in titles and paths." if wanted else _EXPECTED
        raise DataError(msg, hint=hint)
    return files


_EXPECTED = f"Tests are files called {' or '.join(f'*{suffix}' for suffix in SUFFIXES)}."


def _files(path: Path) -> list[Path]:
    if not path.exists():
        msg = f"there is no file or folder called {path}"
        raise DataError(msg)
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)


def _load(path: Path, wanted: str) -> TestFile:
    test = None if path.suffix == ".jsonl" else load_test(path)
    cases: Sequence[StreamCase | JsonCase] = test.cases if test else load_json_cases(path)
    folded = wanted.lower()
    in_path = folded in str(path).lower()
    return TestFile(path, test, [one for one in cases if in_path or folded in one.title.lower()])

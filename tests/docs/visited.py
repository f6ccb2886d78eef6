"""The files of the package in which functions are called while something runs.

As a program, `python visited.py run s.cql` runs the command line and ends with these files, one
on each line. A process of its own has nothing of what an earlier run in it left in caches.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ROOT = Path(__file__).parents[2]
HEADING = "Files:"


@contextmanager
def visited() -> Iterator[list[str]]:
    """The files, in the order of the first call."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Python calls the bodies of modules and classes too, when they are imported.
        function = event == "call" and code.co_flags & inspect.CO_OPTIMIZED
        if function and code.co_filename.startswith(str(ROOT / "src")):
            found[str(Path(code.co_filename).relative_to(ROOT))] = None

    order: list[str] = []
    sys.setprofile(note)
    try:
        yield order
    finally:
        sys.setprofile(None)
        order += found


def files_of_a_command(*arguments: str | Path) -> list[str]:
    """The files that the command line visits in a process of its own."""
    program = [sys.executable, "-P", __file__, *map(str, arguments)]
    answer = subprocess.run(program, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    _, _, files = answer.stdout.rpartition(f"{HEADING}\n")
    return files.split()


if __name__ == "__main__":
    with visited() as order:
        app(prog_name="penstock", standalone_mode=False)
    print(HEADING, *order, sep="\n")

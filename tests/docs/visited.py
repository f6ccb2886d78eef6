"""The functions of the package that are called while something runs, each with its file.

As a program, `python visited.py run s.cql` runs the command line and ends with these functions, one
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
HEADING = "Functions:"


@contextmanager
def visited() -> Iterator[list[str]]:
    """The functions, `file function`, in the order of the first call."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Python calls the bodies of modules and classes too, when they are imported.
        function = event == "call" and code.co_flags & inspect.CO_OPTIMIZED
        if function and code.co_filename.startswith(str(ROOT / "src")):
            found[f"{Path(code.co_filename).relative_to(ROOT)} {code.co_qualname}"] = None

    order: list[str] = []
    sys.setprofile(note)
    try:
        yield order
    finally:
        sys.setprofile(None)
        order += found


def functions_of_a_command(*arguments: str | Path) -> list[str]:
    """The functions that the command line calls in a process of its own."""
    program = [sys.executable, "-P", __file__, *map(str, arguments)]
    answer = subprocess.run(program, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    _, _, functions = answer.stdout.rpartition(f"{HEADING}\n")
    return functions.splitlines()


if __name__ == "__main__":
    with visited() as order:
        app(prog_name="penstock", standalone_mode=False)
    print(HEADING, *order, sep="\n")

"""Commands shown in the documentation print what is shown."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field

import pytest

from docs.pages import ROOT, Fence, fences_of, settle


def runs(fence: Fence) -> bool:
    return any(line.startswith("$ ") for line in fence.lines)


FENCES = list(filter(runs, fences_of("console", "sh")))
ENVIRONMENT = {
    **os.environ,
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "TERM": "dumb",
    # How many lines there are depends on how busy the machine is.
    "PENSTOCK_PROGRESS": "0",
}


@dataclass
class Command:
    """The lines of a command as shown, and those of its output."""

    lines: list[str]
    output: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The command without its prompts."""
        return "\n".join(line[2:] for line in self.lines)


def commands(fence: Fence) -> list[Command]:
    found: list[Command] = []
    for line in fence.lines:
        if line.startswith("$ "):
            found.append(Command([line]))
        elif line.startswith("> ") and not found[-1].output:
            found[-1].lines.append(line)
        else:
            found[-1].output.append(line)
    return found


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder that stands for /tmp: whoever else runs the same pages has another."""
    return str(tmp_path_factory.mktemp("pages"))


def run(command: str, own: str) -> list[str]:
    done = subprocess.run(
        ["sh", "-c", command.replace("/tmp/", f"{own}/")],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    output = done.stdout.replace(f"{own}/", "/tmp/")
    return [line.rstrip() for line in output.rstrip("\n").split("\n")] if output else []


@pytest.mark.parametrize("fence", FENCES, ids=str)
def test_commands_print_what_is_shown(fence: Fence, own: str) -> None:
    real = [line for one in commands(fence) for line in (*one.lines, *run(one.text, own))]
    settle(fence.page, {fence.place: fence.lines}, {fence.place: real})


def test_no_console_is_shown_that_does_not_run() -> None:
    silent = [str(fence) for fence in fences_of("console") if not runs(fence)]
    assert silent == []

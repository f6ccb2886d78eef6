from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from penstock.cli.app import app
from penstock.cli.test import run_tests, screen
from penstock.errors import DataError, PenstockError, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

TEXT = """\
# A stream of two rows.
CREATE STREAM s (ts BIGINT, a DOUBLE, WATERMARK FOR ts AS ts);

rows s
ts | a
 1 | 10
 2 | 19.7666

case right

query
SELECT a FROM s [RANGE 10];

changes
@1   + 10
@2   + 20~
@11  - 10
@12  - 20~

# This one is wrong in both blocks.
case wrong

query
SELECT a FROM s [RANGE 10];

snapshots
# the second has come
@2  10
    19.8~
@1  12
@12  (empty)

changes
"""

UPDATED = """\
snapshots
# the second has come
@2      10
     19.8~
@1      10
@12  (empty)

changes
@1   +    10.0
@2   + 19.7666
@11  -    10.0
@12  - 19.7666
"""


def call(*arguments: str | Path) -> Result:
    command = typer.Typer()
    command.command()(run_tests)
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file of two cases, one of them wrong."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.stream").write_text(TEXT)
    (tmp_path / "notes.txt").write_text("no test")
    return tmp_path


def test_failures_are_shown_with_place_and_difference(folder: Path) -> None:
    result = call(folder)
    file = folder / "sub" / "x.stream"
    assert result.exit_code == 1
    assert result.output == (
        f"FAILED {file}:21: wrong\n"
        "  line 26, snapshots: the first difference is at 1:\n"
        "    missing     12\n"
        "    unexpected  10.0\n"
        "  line 33, changes: the first difference is at 1:\n"
        "    unexpected  + 10.0\n"
        "  3 more instants differ: 2, 11, 12\n"
        "\n"
        f"{file}: 2 cases, 1 failed\n"
        "1 passed, 1 failed; 2 cases ran on oracle\n"
    )


def test_the_filter_picks_cases_by_title_or_path(folder: Path) -> None:
    assert "1 passed, 0 failed; 1 case ran" in call(folder, "--filter", "RIGHT").output
    assert "1 passed, 1 failed; 2 cases ran" in call(folder, "--filter", "x.stream").output


def test_update_rewrites_what_differs_and_nothing_else(folder: Path) -> None:
    file = folder / "sub" / "x.stream"
    result = call(folder, "--update")
    assert result.exit_code == 0
    assert result.output == (
        f"{file}:26: snapshots rewritten in: wrong\n"
        f"{file}:33: changes rewritten in: wrong\n"
        f"{file}: 2 cases\n"
        "1 passed, 0 failed, 1 updated; 2 cases ran on oracle\n"
    )
    assert file.read_text() == TEXT[: TEXT.index("snapshots")] + UPDATED
    assert "2 passed, 0 failed; 2 cases" in call(folder).output


def test_update_leaves_a_right_file_untouched(folder: Path) -> None:
    call(folder, "--update")
    file = folder / "sub" / "x.stream"
    file.chmod(0o444)
    before = file.stat()
    assert call(folder, "--update").exit_code == 0
    after = file.stat()
    # Not when it was last read: that may change.
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_update_cannot_turn_an_answer_into_an_error(tmp_path: Path) -> None:
    file = tmp_path / "x.stream"
    text = TEXT.replace("SELECT a FROM s [RANGE 10];\n\nsnap", "SELECT b FROM s;\n\nsnap")
    file.write_text(text)
    result = call(file, "--update")
    assert result.exit_code == 1
    assert "an error was not expected" in result.output
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["nowhere"], DataError, "there is no file or folder called nowhere"),
        (["."], DataError, "no tests found\n  Tests are files called *.stream or *.jsonl."),
        (
            [".", "--engine", "orakel"],
            UnknownName,
            'there is no engine called "orakel"\n  Did you mean "oracle"?',
        ),
    ],
)
def test_mistakes_in_the_command_are_errors_for_the_user(
    arguments: list[str],
    error: type[PenstockError],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert isinstance(result.exception, error)
    assert str(result.exception) == message


def test_a_file_that_is_no_text_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "x.stream").write_bytes(b"\xff\xfe")
    result = call(tmp_path)
    assert isinstance(result.exception, DataError)
    assert str(result.exception).startswith(f"cannot read {tmp_path / 'x.stream'}: ")


def test_on_a_terminal_a_bar_moves_and_lines_are_not_reflowed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    long = "[not markup] " * 20
    with screen(2) as shown:
        shown.say(long)
        shown.advance()
    assert not shown.lines_for_files
    assert long.strip() in capsys.readouterr().out


def test_the_command_line_knows_the_command(tmp_path: Path) -> None:
    file = tmp_path / "x.stream"
    file.write_text(TEXT)
    result = CliRunner().invoke(app, ["test", str(file), "--filter", "right"])
    assert (result.exit_code, result.output.split("\n")[1]) == (
        0,
        "1 passed, 0 failed; 1 case ran on oracle",
    )

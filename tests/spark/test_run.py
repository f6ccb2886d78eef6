"""`penstock run` on Spark, as processes: to the end of the input, until Ctrl-C, and again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 240
"""Seconds; Spark takes ten to start, and many times that on a machine that is busy."""
PRINTED = """
CREATE STREAM cars (lane INT, speed DOUBLE, at BIGINT, WATERMARK FOR at AS at)
USING csv OPTIONS (path '{folder}/cars', time_unit 's');
CREATE QUERY fast AS SELECT lane, speed FROM cars [RANGE 100 SECONDS] WHERE speed > 20;
CREATE QUERY over AS SELECT lane FROM cars [RANGE 10 SECONDS] EMIT FINAL;
"""
SCRIPT = (
    PRINTED
    + """
CREATE QUERY lanes AS SELECT COUNT(*) AS n FROM cars [RANGE 10 SECONDS];
CREATE SINK lanes_files FROM lanes USING parquet OPTIONS (path '{folder}/lanes');
REPLAN fast;
"""
)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-P", "-m", "penstock", "run", *map(str, arguments)]


def bring(folder: Path, name: str, *rows: str) -> None:
    """A file of cars that appears whole."""
    draft = folder / f".{name}"
    draft.write_text("\n".join(["lane,speed,at", *rows, ""]), encoding="utf-8")
    (folder / "cars").mkdir(exist_ok=True)
    draft.rename(folder / "cars" / name)


def refuse_noise(errors: str) -> None:
    for word in ("Traceback", "java.", "py4j", "\tat "):
        assert word not in errors


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "cars.cql"
    path.write_text(SCRIPT.format(folder=tmp_path), encoding="utf-8")
    return path


def until(is_so: object, process: subprocess.Popen[str]) -> None:
    assert callable(is_so)
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)


def printed(text: str) -> dict[str, list[str]]:
    """The lines of each answer, without what puts them into columns."""
    found: dict[str, list[str]] = {}
    for paragraph in text.strip().split("\n\n"):
        head, *lines = paragraph.split("\n")
        found.setdefault(head, []).extend(re.sub(" +", " ", line) for line in lines)
    return found


ANSWERS = """\
fast: lane | speed
@92   + 2 | 21.33
@136  + 4 |  30.5
@140  + 1 |  25.0
@192  - 2 | 21.33
@236  - 4 |  30.5
@240  - 1 |  25.0

over: lane
@8    + 5
@18   - 5
@92   + 2
@102  - 2
@136  + 4
@140  + 1
@146  - 4
@150  - 1
"""
"""The answers over all three files."""


def stopped(folder: Path, arguments: tuple[object, ...]) -> tuple[str, str]:
    """What a run says that goes on while a second file comes, until Ctrl-C; and its errors."""
    home, said = folder / "home", folder / "said"
    with said.open("w") as output:
        process = subprocess.Popen(
            command(*arguments, "--trigger", "continuous"),
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            # As a terminal does: the processes that Spark started get the signal, too.
            start_new_session=True,
        )
        try:
            until(lambda: len(list((home / "records").glob("*.json"))) > 2, process)
            bring(folder, "2.csv", "4,30.5,136")
            # Lanes without rows hear of the watermark one batch later: any order of the two.
            until(lambda: all(one in said.read_text() for one in ("- 2", "21.33")), process)
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130, errors
    refuse_noise(errors)
    return said.read_text(), errors


def test_a_run_is_stopped_by_ctrl_c_and_goes_on(script: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    bring(tmp_path, "1.csv", "5,18.28,8", "2,21.33,92")
    arguments = (script, "--home", home, "--lanes", 2, "--progress", 1)
    went_on, errors = stopped(tmp_path, arguments)
    assert "stopped." in errors
    assert "REPLAN fast: nothing has been measured yet: planned anew when it has\n" in errors
    # A line a second: the rows may have come since the last one.
    assert "rows in" in errors or "waiting for the first rows" in errors
    assert printed(went_on) == {
        "fast: lane | speed": ["@92 + 2 | 21.33"],
        "over: lane": ["@8 + 5", "@18 - 5", "@92 + 2", "@102 - 2"],
    }
    assert not (home / "sinks" / "run_3a__20_fast.json").exists()

    bring(tmp_path, "3.csv", "1,25.0,140")
    done = finished(*arguments)
    assert (done.returncode, done.stdout) == (0, ANSWERS), done.stderr
    refuse_noise(done.stderr)
    for query, lines in printed(went_on).items():
        assert printed(done.stdout)[query][: len(lines)] == lines
    inline = finished("-e", PRINTED.format(folder=tmp_path), "--engine", "inline")
    assert inline.stdout == ANSWERS, inline.stderr
    # The sink has seen every change of all three files once.
    rows = [row for path in sorted((tmp_path / "lanes").iterdir()) for row in read(path)]
    assert [(row["_at"], row["n"]) for row in rows if row["_sign"] == "+"] == [
        (None, 0), (8, 1), (18, 0), (92, 1), (102, 0), (136, 1), (140, 2), (146, 1), (150, 0),
    ]  # fmt: skip


def finished(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A run to the end of the input."""
    whole = command(*arguments)
    return subprocess.run(
        whole, capture_output=True, text=True, check=False, cwd=ROOT, timeout=PATIENCE
    )


def read(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pq.read_table(path).to_pylist()
    return found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-e", "SELECT"], "line 1, column 1: "),
        (["-e", "CREATE SINK s FROM nowhere USING console"], 'there is no query called "nowhere"'),
        (["-e", "REPLAN nowhere"], 'there is no query called "nowhere"'),
        (["--set", "spark.x", "-e", "SHOW STREAMS"], "has no value"),
        (["--trigger", "continuous", "--at", "3", "-e", "SHOW STREAMS"], "complete"),
        (
            ["-e", "CREATE STREAM s (a INT, WATERMARK FOR a AS a); SELECT a FROM s"],
            "no format",
        ),
    ],
)
def test_a_mistake_is_a_sentence_before_spark_starts(arguments: list[str], said: str) -> None:
    # With this master, Spark would say something else.
    started = command(*arguments, "--master", "nowhere")
    done = subprocess.run(started, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    refuse_noise(done.stderr)

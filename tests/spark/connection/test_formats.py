"""Streams from sources that only Spark can read: ORC files, a socket, Spark's own clockwork."""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc as orc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.connection.connection import Connection

PATIENCE = 60.0
LINES = [f"line {number % 3}" for number in range(30)]


def wait_for_rows(db: Connection, stream: str, rows: int) -> None:
    """Wait until so many rows of a stream have been taken in."""
    deadline = time.monotonic() + PATIENCE
    while db.progress()["streams"][stream]["rows"] < rows:
        assert time.monotonic() < deadline, f"{stream} brought too few rows"
        time.sleep(0.05)


@contextmanager
def lines_on_a_port() -> Iterator[int]:
    """A server that tells whoever calls a few lines, and hangs up at the end."""
    over = threading.Event()

    def serve() -> None:
        caller, _ = server.accept()
        with caller:
            caller.sendall("".join(f"{line}\n" for line in LINES).encode())
            over.wait(PATIENCE)

    with socket.create_server(("127.0.0.1", 0)) as server:
        serving = threading.Thread(target=serve)
        serving.start()
        yield server.getsockname()[1]
        over.set()
        serving.join()


def test_orc_files(db: Connection, tmp_path: Path) -> None:
    table = pa.table({"ts": pa.array([1, 2, 30], pa.int64()), "k": ["a", "b", "a"]})
    orc.write_table(table, tmp_path / "1.orc")
    db.execute(f"""
        CREATE STREAM files (ts BIGINT, k STRING, WATERMARK FOR ts AS ts)
        USING orc OPTIONS (path '{tmp_path}');
        CREATE QUERY counted AS SELECT k, COUNT(*) AS n FROM files [RANGE 100] GROUP BY k;
    """)
    db.wait_idle()
    found = db["counted"].snapshot().to_pylist()
    assert sorted(map(repr, found)) == ["{'k': 'a', 'n': 1}", "{'k': 'b', 'n': 1}"]


def test_rows_of_spark_s_own(db: Connection) -> None:
    db.execute("""
        CREATE STREAM beats (timestamp TIMESTAMP, value BIGINT,
            WATERMARK FOR timestamp AS timestamp)
        USING rate OPTIONS (rowsPerSecond '100');
        CREATE QUERY odd AS ISTREAM(SELECT value FROM beats [NOW] WHERE value % 2 = 1);
    """)
    wait_for_rows(db, "beats", 200)
    db.finish()
    values = [row["value"] for table in db["odd"].emissions() for row in table.to_pylist()]
    rows = db.progress()["streams"]["beats"]["rows"]
    assert sorted(values) == list(range(1, rows, 2))


def test_lines_from_a_socket(db: Connection) -> None:
    with lines_on_a_port() as port:
        db.execute(f"""
            CREATE STREAM lines (value STRING, timestamp TIMESTAMP,
                WATERMARK FOR timestamp AS timestamp)
            USING socket OPTIONS (host '127.0.0.1', port '{port}', includeTimestamp 'true');
            CREATE QUERY told AS ISTREAM(SELECT value FROM lines [NOW]);
        """)
        wait_for_rows(db, "lines", len(LINES))
        db.finish()
    told = [row["value"] for table in db["told"].emissions() for row in table.to_pylist()]
    assert sorted(told) == sorted(LINES)


def put_backlogs(folder: Path) -> dict[str, tuple[str, str]]:
    """The format and options of some streams, whose files lie in no order of any kind."""
    draw = random.Random(7)
    times = draw.sample(range(1000), 8)
    for kind in ("orc", "json"):
        (folder / kind).mkdir()
    for age, start in enumerate(draw.sample(times, len(times))):
        rows = pa.table({"ts": pa.array(range(start, start + 5), pa.int64())})
        orc.write_table(rows, folder / "orc" / f"{start:x}.orc")
        lines = "".join(f'{{"ts": {one.as_py()}}}\n' for one in rows["ts"])
        (folder / "json" / f"{start:x}.json").write_text(lines)
        for path in (folder / "orc" / f"{start:x}.orc", folder / "json" / f"{start:x}.json"):
            os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))
    return {
        "of_orc": ("orc", f"path '{folder}/orc'"),
        "of_json": ("json", f"path '{folder}/json', reader 'spark'"),
        "one_by_one": ("orc", f"path '{folder}/orc', maxFilesPerTrigger 1"),
    }


def test_what_is_there_at_the_start_is_not_late_whoever_reads_it(
    db: Connection, tmp_path: Path
) -> None:
    # Spark takes all files that it finds into one micro-batch, unless it is told to take fewer.
    for name, (kind, options) in put_backlogs(tmp_path).items():
        db.execute(f"""
            CREATE STREAM {name} (ts BIGINT, WATERMARK FOR ts AS ts)
            USING {kind} OPTIONS ({options});
            CREATE QUERY in_{name} AS SELECT COUNT(*) AS n FROM {name} [RANGE 5];
        """)
        db.wait_idle()
        facts = db.progress()["streams"][name]
        assert facts["rows"] == 40, name
        assert bool(facts["late"]) == (name == "one_by_one"), name

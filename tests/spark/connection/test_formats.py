"""Streams from sources that only Spark can read: ORC files, a socket, Spark's own clockwork."""

from __future__ import annotations

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

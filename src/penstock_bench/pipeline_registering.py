"""Registering one more query, beside others that run and take in rows.

`python -m penstock_bench.pipeline_registering 100` prints seconds of CPU of the driver's process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

import penstock
from penstock.errors import InternalError

ROUNDS = 3
KEYS = 50
STREAM = "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)"
QUERY = "CREATE QUERY {} AS SELECT k, SUM(v) AS total FROM s [RANGE {}] WHERE v > {} GROUP BY k"


def registering(running: int) -> float:
    """Seconds of CPU for one more query, the least of some rounds, in a new process.

    Raises:
        InternalError: It failed.
    """
    command = [sys.executable, "-P", "-m", "penstock_bench.pipeline_registering", str(running)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"measuring the registration failed: {done.stderr[-2000:]}"
        raise InternalError(msg)
    return float(done.stdout.splitlines()[-1])


def measured(running: int, home: str) -> float:
    """The same in this process; rows come before each round, so that all lanes have state."""
    with penstock.connect("local[2]", home, lanes=2) as db:
        db.execute(STREAM)
        for number in range(running):
            db.execute(QUERY.format(f"q{number}", 100 + number, number))
        found = []
        for number in range(ROUNDS):
            db.insert("s", [(10 * number, key, key) for key in range(KEYS)])
            db.wait_idle()
            began = time.process_time()
            db.execute(QUERY.format(f"more{number}", 1000 + number, number))
            found.append(time.process_time() - began)
            db.execute(f"DROP QUERY more{number}")
        return min(found)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        sys.stdout.write(f"{measured(int(sys.argv[1]), f'{folder}/home')}\n")

"""Times are the same on both engines, whatever zone the machine and Spark's session have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

ZONE = "America/New_York"
"""It has clocks that go back and forth, and is behind UTC."""

PROGRAM = """
import json, sys
from datetime import datetime, timedelta, timezone
import penstock

engine, folder = sys.argv[1:]
def shown(table):
    schema = table.to_arrow().schema.to_string()
    return [table.to_pylist(), str(table), schema, table._repr_html_()]
if engine == "spark":
    zone = {"spark.sql.session.timeZone": "America/New_York"}
    db = penstock.connect("local[1]", settings=zone)
else:
    db = penstock.connect_inline()
db.execute(f'''
    CREATE STREAM s (at TIMESTAMP, k INT, WATERMARK FOR at AS at);
    CREATE RELATION r (k INT, since TIMESTAMP);
    CREATE QUERY q AS SELECT s.k, at, since, CAST(at AS STRING) AS text, CAST(at AS DATE) AS day,
        HOUR(at) AS hour, CAST('2024-03-10 02:30:00' AS TIMESTAMP) AS skipped
        FROM s [RANGE 1 HOUR], r WHERE s.k = r.k;
    CREATE QUERY w AS SELECT window_start, COUNT(*) AS n FROM TABLE(
        TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '1' DAY)) GROUP BY window_start;
    CREATE QUERY e AS SELECT ISTREAM(at, k) FROM s [NOW];
''')
eastern = timezone(timedelta(hours=-5))
half_past = datetime(2024, 3, 10, 2, 30, tzinfo=eastern)
db.update("r", insert=[(1, "2024-03-10 01:00:00"), (2, half_past)])
db.insert("s", [
    ("2024-03-10 01:30:00", 1), ("2024-03-10 02:30:00", 2), ("2024-03-10T03:30:00Z", 1),
    ("2024-03-10 00:15:00-05:00", 2), (datetime(2024, 3, 10, 7, 15, tzinfo=timezone.utc), 1),
])
db.wait_idle()
db.insert("s", [("2024-03-10 06:00:00", 1), ("2024-11-03 01:30:00", 2)])
db.wait_idle()
KEYS = ("watermark", "latest", "late", "late_by", "clock")
def clocks(facts):
    every = [*facts["streams"].items(), *facts["queries"].items()]
    return [(name, key, str(one[key])) for name, one in every for key in KEYS if key in one]
# Where a row stands among those that were inserted is known in this process only.
late = [{**row, "_position": None} for row in db.late("s").to_pylist()]
found = {"progress": clocks(db.progress()), "late": late}
found["at"] = shown(db["q"].snapshot(at="2024-03-10 03:45:00"))
found["headline"] = repr(db["q"]).splitlines()[0]
db.finish()
found["q"] = shown(db["q"].changes())
for name in ("w", "e"):
    found[name] = shown(db[name].emissions())
found["elements"] = shown(db["q"].elements())
found["pandas"] = db["q"].changes().to_pandas().to_string()
db.close()
print(json.dumps(found, default=str))
"""


def answers(engine: str, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, engine, str(folder)],
        env={**os.environ, "TZ": ZONE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_connection_shows_the_same_times_on_both_engines(tmp_path: Path) -> None:
    inline, spark = answers("inline", tmp_path), answers("spark", tmp_path)
    for what, wanted in inline.items():
        assert spark[what] == wanted, what
    assert inline["late"][0]["at"] == "2024-03-10 06:00:00"
    assert "clock 2024-11-03 01:30:00" in inline["headline"]

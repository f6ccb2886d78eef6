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


SCRIPT = """
CREATE STREAM s (at TIMESTAMP, k INT, WATERMARK FOR at AS at)
USING csv OPTIONS (path 's');
CREATE STREAM t (at TIMESTAMP, k INT, WATERMARK FOR at AS at)
USING csv OPTIONS (path 's', {reader});
CREATE QUERY q AS SELECT k, at, HOUR(at) AS hour, CAST(at AS STRING) AS t FROM s [RANGE 1 HOUR];
CREATE SINK c FROM q USING csv OPTIONS (path '{out}/csv');
CREATE SINK p FROM q USING parquet OPTIONS (path '{out}/parquet');
CREATE SINK j FROM q USING json OPTIONS (path '{out}/json');
SELECT k, at, HOUR(at) AS hour FROM t [RANGE 1 HOUR];
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(at), INTERVAL '1' DAY))
GROUP BY window_start;
"""
LINES = """at,k
2024-03-10 01:30:00,1
2024-03-10 02:30:00,2
2024-03-10T03:30:00Z,1
2024-11-03 01:30:00,2
"""


def ran(folder: Path, name: str, *arguments: str, reader: str = "header 'true'") -> tuple[str, Any]:
    """What a script prints, and the rows that its sinks have written."""
    import pyarrow as pa
    import pyarrow.csv as pcsv
    import pyarrow.json as pj
    import pyarrow.parquet as pq

    script = folder / f"{name}.cql"
    script.write_text(SCRIPT.format(out=name, reader=reader))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "penstock", "run", str(script), *arguments],
        env={**os.environ, "TZ": ZONE, "PENSTOCK_PROGRESS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    tables = {}
    for kind, read in (("csv", pcsv.read_csv), ("json", pj.read_json), ("parquet", pq.read_table)):
        files = sorted((folder / name / kind).iterdir())
        tables[kind] = pa.concat_tables([read(str(one)) for one in files]).to_pylist()
    return done.stdout, tables


def test_a_script_prints_and_writes_the_same_times_on_both_engines(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "1.csv").write_text(LINES)
    inline = ran(tmp_path, "inline", "--engine", "inline")
    zone = f"spark.sql.session.timeZone={ZONE}"
    by_spark = "reader 'spark'"
    spark = ran(tmp_path, "spark", "--engine", "spark", "--set", zone, reader=by_spark)
    assert spark == inline
    assert len(inline[1]["parquet"]) == 8
    assert "@2024-11-03 01:30:00" in inline[0]

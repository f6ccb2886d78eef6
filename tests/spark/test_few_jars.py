"""All formats that come with Spark, read by a Spark that was started with few jars."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [(1_000, "a"), (2_000, "b"), (3_000, "a")]
SOURCES = {
    "orc": ("orc", ""),
    "parquet": ("parquet", ", reader 'spark'"),
    "csv": ("csv", ", reader 'spark'"),
    "json": ("json", ", reader 'spark', multiLine 'true'"),
    "xml": ("xml", ", rowTag 'row'"),
}


def put(folder: Path) -> None:
    """The rows as files of all formats."""
    table = pa.table({"ts": [ts for ts, _ in ROWS], "k": [k for _, k in ROWS]})
    for name in SOURCES:
        (folder / name).mkdir()
    orc.write_table(table, folder / "orc" / "rows.orc", compression="zstd")
    pq.write_table(table, folder / "parquet" / "rows.parquet", compression="zstd")
    lines = "".join(f"{ts},{k}\n" for ts, k in ROWS)
    (folder / "csv" / "rows.csv").write_text(f"ts,k\n{lines}")
    objects = ",\n".join(f'{{"ts": {ts}, "k": "{k}"}}' for ts, k in ROWS)
    (folder / "json" / "rows.json").write_text(f"[{objects}]")
    elements = "".join(f"<row><ts>{ts}</ts><k>{k}</k></row>" for ts, k in ROWS)
    (folder / "xml" / "rows.xml").write_text(f"<rows>{elements}</rows>")
    orc.write_table(pa.table({"k": ["a"], "name": ["Ash"]}), folder / "names.orc")


def script(folder: Path) -> str:
    """A query over each format, one with a relation."""
    parts = [
        f"CREATE STREAM of_{name} (ts BIGINT, k STRING, WATERMARK FOR ts AS ts)"
        f" USING {kind} OPTIONS (path '{folder}/{name}'{options});"
        f"CREATE QUERY in_{name} AS SELECT k, COUNT(*) AS n FROM of_{name} [RANGE 5000] GROUP BY k;"
        for name, (kind, options) in SOURCES.items()
    ]
    relation = (
        "CREATE RELATION names (k STRING, name STRING)"
        f" USING orc OPTIONS (path '{folder}/names.orc');"
        "CREATE QUERY named AS SELECT o.ts, name FROM of_orc [RANGE 5] o JOIN names n ON o.k = n.k;"
    )
    return "\n".join((*parts, relation))


def test_formats_need_no_other_jars(tmp_path: Path) -> None:
    put(tmp_path)
    text = script(tmp_path)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "penstock", "run", "-e", text, "--master", "local[2]"],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    answers = done.stdout.split("\n\n")
    assert len(answers) == len(SOURCES) + 1
    changes = answers[0].split("\n", 1)[1].rstrip()
    assert changes.splitlines()[0] == "@1000  + a | 1"
    for name, answer in zip(SOURCES, answers, strict=False):
        title, rest = answer.split("\n", 1)
        assert (title, rest.rstrip()) == (f"in_{name}: k | n", changes)
    assert [line for line in answers[-1].splitlines() if "+" in line] == [
        "@1000  + 1000 | Ash",
        "@3000  + 3000 | Ash",
    ]

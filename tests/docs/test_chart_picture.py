"""The picture of a progress chart in the pages is what the command draws."""

from __future__ import annotations

import subprocess
import sys

from docs.pages import HOW_TO_UPDATE, ROOT, UPDATE

PICTURE = ROOT / "docs" / "users" / "progress_chart.svg"
SCRIPT = ROOT / "examples" / "scheduling" / "speeding.cql"


def test_the_picture_of_a_chart_is_what_is_drawn() -> None:
    explain = ["penstock", "explain", str(SCRIPT), "--charts", "--format", "svg"]
    whole = [sys.executable, "-P", "-m", *explain]
    drawn = subprocess.run(whole, capture_output=True, text=True, check=True).stdout
    if UPDATE:
        PICTURE.write_text(drawn, "utf-8")
    assert drawn == PICTURE.read_text("utf-8"), HOW_TO_UPDATE

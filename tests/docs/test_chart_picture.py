"""The picture of a progress chart in the pages is what the command draws."""

from __future__ import annotations

from typer.testing import CliRunner

from docs.pages import HOW_TO_UPDATE, ROOT, UPDATE
from penstock.cli.app import app

PICTURE = ROOT / "docs" / "users" / "progress_chart.svg"
SCRIPT = ROOT / "examples" / "scheduling" / "speeding.cql"


def test_the_picture_of_a_chart_is_what_is_drawn() -> None:
    drawn = CliRunner().invoke(app, ["explain", str(SCRIPT), "--charts", "--format", "svg"])
    if UPDATE:
        PICTURE.write_text(drawn.output, "utf-8")
    assert drawn.output == PICTURE.read_text("utf-8"), HOW_TO_UPDATE

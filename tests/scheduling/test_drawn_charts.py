"""Charts for people: lines of text, and a picture."""

from __future__ import annotations

from xml.etree import ElementTree

from penstock.scheduling.chart import Chart
from penstock.scheduling.chart_svg import charts_svg
from penstock.scheduling.chart_text import chart_lines
from penstock.scheduling.paths import Path

HIDDEN = Chart.of((0, 1), (2e-3, 0.9), (6e-3, 0.88), (7e-3, 0.1), (12e-3, 0))
PATH = Path("cars", "slow", (0, 1, 3, 4), HIDDEN)
LABELS = ["Window [NOW]", "Join a < b & c", "another", "Filter", "Aggregate"]
SVG = "{http://www.w3.org/2000/svg}"


def test_lines_of_a_chart_name_chains_with_their_priorities_and_operators() -> None:
    assert chart_lines(PATH, LABELS) == [
        "Progress of a block from cars: 12 ms",
        "  chain 1, priority 129 blocks/s",
        "       2 ms, leaves 90 %: Window [NOW]",
        "       4 ms, leaves 88 %: Join a < b & c",
        "       1 ms, leaves 10 %: Filter",
        "  chain 2, priority 20 blocks/s",
        "       5 ms, leaves 0 %: Aggregate",
    ]


def test_a_picture_has_the_steps_and_the_chains_of_each_path() -> None:
    grows = Path("bids", "high", (0, 4), Chart.of((0, 1), (1, 3), (2, 0)))
    picture = ElementTree.fromstring(charts_svg([(PATH, LABELS), (grows, LABELS)]))
    lines = [one.get("points", "").split() for one in picture.iter(f"{SVG}polyline")]
    # Two corners for each operator and the start, and a line for each chain.
    assert [len(line) for line in lines] == [9, 2, 2, 5, 2]
    texts = [one.text for one in picture.iter(f"{SVG}text")]
    assert "chain 2: priority 20 blocks/s" in texts
    assert "  2. Join a < b & c" in texts
    tall = float(picture.get("height", "0"))
    places = [float(corner.split(",")[1]) for line in lines for corner in line]
    assert 0 < min(places) < max(places) < tall
    # The second chart grows: its highest corner is above where a block enters.
    heights = [float(corner.split(",")[1]) for corner in lines[3]]
    assert min(heights) < heights[0]

"""The stream of the highway, and what is asked of it."""

from __future__ import annotations

STREAM = """
CREATE STREAM vehicles (
    passed TIMESTAMP, station INT, lane INT, vehicle INT, speed DOUBLE, length DOUBLE,
    WATERMARK FOR passed AS passed - INTERVAL 6 SECONDS
)"""

QUERIES = {
    # At which stations has the average speed been below 15 m/s over the last 15 minutes?
    "congested": """
SELECT station FROM vehicles [RANGE 15 MINUTES]
GROUP BY station HAVING AVG(speed) < 15""",
    # How fast has the traffic been in the last two minutes?
    "speeds": """
SELECT station, AVG(speed) AS speed FROM vehicles [RANGE 2 MINUTES SLIDE 2 MINUTES]
GROUP BY station""",
    # Which detectors have seen a vehicle crawl lately?
    "crawling": """
SELECT DISTINCT station, lane FROM vehicles [RANGE 5 MINUTES]
WHERE speed < 8""",
    # How long does it take from station 7 to station 13? One row per vehicle as it arrives.
    "trips": """
ISTREAM(
    SELECT b.vehicle, (UNIX_MILLIS(b.passed) - UNIX_MILLIS(a.passed)) / 1000 AS seconds
    FROM vehicles [RANGE 1 HOUR] AS a, vehicles [RANGE 1 MINUTE] AS b
    WHERE a.vehicle = b.vehicle AND a.station = 7 AND b.station = 13)""",
}
"""The queries by name."""

THRESHOLD = 15.0
"""Below this average, in metres per second, `congested` calls a station congested."""
CELL_SECONDS = 120.0
"""The window of `speeds`."""
TRIP = (7, 13)
"""The stations of `trips`."""


def script() -> str:
    """All statements."""
    queries = [f"CREATE QUERY {name} AS{text}" for name, text in QUERIES.items()]
    return ";\n".join([STREAM.strip(), *queries])

"""Window functions of other systems, and what to write here in their place."""

from __future__ import annotations

TOP = "ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) <= 3"
_NEIGHBOUR = "To compare a row with the one before it join [PARTITION BY k ROWS 2] with itself."
_ALIKE = f"Rows that are alike are numbered one after the other: QUALIFY {TOP}."
_PLACE = f"For the row at a place of its group write QUALIFY {TOP.replace('<=', '=')}."
_ONLY = f"To keep the first rows of each group write QUALIFY {TOP}."
INSTEAD = {
    "row_number": _ONLY,
    "lag": _NEIGHBOUR,
    "lead": _NEIGHBOUR,
    "rank": _ALIKE,
    "dense_rank": _ALIKE,
    "first_value": _PLACE,
    "last_value": "For the latest row of each group write [PARTITION BY k ROWS 1].",
    "nth_value": _PLACE,
    "ntile": "Write QUANTILE(v, 0.25) per group.",
    "percent_rank": _ONLY,
    "cume_dist": _ONLY,
}
WINDOW_CALLS = frozenset(
    f"{kind}{end}"
    for kind in ("tumble", "hop", "session")
    for end in ("", "_start", "_end", "_rowtime", "_proctime")
)
"""Functions of Flink that are, or speak of, windows in GROUP BY."""
WINDOW_INSTEAD = (
    "Windows [start, end) are FROM s [TUMBLE 1 HOUR] and [HOP 1 HOUR BY 5 MINUTES], with columns"
    " window_start and window_end; GROUP BY takes one TUMBLE(...) or HOP(...), too."
)


def is_window_function(name: str) -> bool:
    """A function that has a meaning with OVER only, in other systems."""
    return name.lower() in INSTEAD


def refused_as(name: str) -> tuple[str, str]:
    """A message about a window function that is not there, and a hint."""
    if name.lower() == "row_number":
        return "ROW_NUMBER() OVER (...) is a column of its own, which QUALIFY or WHERE compares", (
            INSTEAD["row_number"]
        )
    msg = f"{name.upper()} is a window function; of these only ROW_NUMBER is there"
    return msg, INSTEAD[name.lower()]

"""Layouts of dates and times in files: patterns such as `dd.MM.yyyy HH:mm`."""

from __future__ import annotations

import re
from datetime import datetime

_FIELDS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_PARTS = re.compile(r"([A-Za-z])\1*|'([^']*)'|[^A-Za-z']+")

COMMON = tuple(
    day + time
    for day in (
        *("MM/dd/yyyy", "dd/MM/yyyy", "dd.MM.yyyy", "yyyy/MM/dd", "yyyyMMdd", "dd-MM-yyyy"),
        "yyyy-MM-dd",
    )
    for time in (" HH:mm:ss", " HH:mm", "'T'HH:mm:ss", "HHmmss", "")
)
"""Layouts that are proposed for a text that they read; the first one wins, or two of them."""


def strptime_layout(pattern: str) -> str | None:
    """A pattern as `strptime` takes it; None if there is more in it than we understand.

    >>> strptime_layout("dd.MM.yyyy HH:mm"), strptime_layout("EEE, d MMM")
    ('%d.%m.%Y %H:%M', None)
    """
    made = []
    for part in _PARTS.finditer(pattern):
        text = part[0]
        if part[1] is not None and text not in _FIELDS:
            return None
        plain = text if part[2] is None else part[2] or "'"
        made.append(_FIELDS.get(text) or plain.replace("%", "%%"))
    return "".join(made) or None


def layouts_that_read(text: str) -> list[str]:
    """The first of the usual layouts that a text is written in, and the one of day and month.

    >>> layouts_that_read("31.12.2025 23:59"), layouts_that_read("soon")
    (['dd.MM.yyyy HH:mm'], [])
    >>> layouts_that_read("01/07/2014"), layouts_that_read("31/07/2014")
    (['MM/dd/yyyy', 'dd/MM/yyyy'], ['dd/MM/yyyy'])
    """
    found = [one for one in COMMON if _reads(one, text)]
    return [one for one in found if one in (found[0], found[0].replace("MM/dd", "dd/MM"))]


def _reads(pattern: str, text: str) -> bool:
    layout = strptime_layout(pattern)
    assert layout is not None
    try:
        found = datetime.strptime(text, layout)  # noqa: DTZ007  # only whether it is one counts
    except ValueError:
        return False
    return found.strftime(layout) == text

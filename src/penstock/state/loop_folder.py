"""The folder of compiled loops; apart from the cache, because asking for it needs no numba."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path


@cache
def folder() -> Path | None:
    """The first folder of those we may write to."""
    return next(filter(_is_writable, _candidates()), None)


def is_empty() -> bool:
    """Nothing has been compiled yet, as after an installation by pip."""
    kept = folder()
    return kept is None or not any(kept.iterdir())


def _candidates() -> list[Path]:
    """The folder asked for, one for all checkouts of this user, one in this checkout."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(chosen)]
    places = [Path(__file__).parents[1] / "__pycache__"]
    with suppress(RuntimeError):  # a user without a home
        places.insert(0, Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"))
    return [place / "penstock" / "loops" for place in places]


def _is_writable(place: Path) -> bool:
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
    return os.access(place, os.W_OK | os.X_OK)

"""Commands that only a checkout has, and what an installed package says instead."""

from __future__ import annotations

from importlib.util import find_spec

from penstock.errors import PenstockError


def require_checkout(package: str, command: str) -> None:
    """Refuse a command whose package is not beside ours.

    Raises:
        PenstockError: It is not there.
    """
    if find_spec(package) is None:
        msg = f"`penstock {command}` is part of a checkout, and not of what pip installs"
        raise PenstockError(msg, hint=f"Clone the repository and run `./penstock {command}` there.")

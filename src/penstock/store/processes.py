"""Processes of this machine, by number."""

from __future__ import annotations

import os


def is_alive(process: int) -> bool:
    """There is such a process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True

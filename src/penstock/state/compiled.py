"""Loops compiled to machine code by numba, with types that the checker understands."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from numba import config, njit

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


WEEK = 7 * 24 * 3600


def _keep_code_apart() -> None:
    """Keep machine code in a folder of its own for each state of the sources.

    numba looks only at the file of a loop itself, and would go on using code in which an older
    version of a loop from another file is built in.
    """
    package = Path(__file__).parents[1]
    sources = sorted(
        path for stage in ("operators", "state") for path in (package / stage).rglob("*.py")
    )
    stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in sources]
    name = f"loops-{hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]}"
    for parent in (package / "__pycache__", Path.home() / ".cache" / "penstock"):
        try:
            (parent / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(parent / name, os.W_OK):
            _forget_old(parent, name)
            vars(config)["CACHE_DIR"] = str(parent / name)
            return


def _forget_old(parent: Path, name: str) -> None:
    """Remove what no process has used for a week."""
    (parent / name).touch()
    for other in parent.glob("loops-*"):
        if time.time() - other.stat().st_mtime > WEEK:
            shutil.rmtree(other, ignore_errors=True)


if not vars(config)["CACHE_DIR"]:
    _keep_code_apart()


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a loop over arrays at its first call; the machine code is kept on disk.

    The global interpreter lock is released while it runs.
    """
    made: Callable[Arguments, Result] = njit(cache=True, nogil=True)(function)
    return made


def compiled_borrowing(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a loop that makes no arrays of its own, only works on those it is given.

    It then counts no references, which otherwise costs more than the work itself where a loop
    calls smaller ones with many arrays (by `_nrt`, an option that numba uses but does not
    describe). Functions that it calls have to be compiled in the same way.
    """
    options: dict[str, Any] = {"_nrt": False}
    made: Callable[Arguments, Result] = njit(cache=True, nogil=True, **options)(function)
    return made


def compiled_within(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a part of a loop into the loops that call it, which borrow their arrays.

    Arrays in tuples of tuples are handed over word by word: a call would cost more than the part.
    Python cannot call it; that halves the time to compile it.
    """
    options: dict[str, Any] = {
        "_nrt": False,
        "forceinline": True,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }
    made: Callable[Arguments, Result] = njit(cache=True, nogil=True, **options)(function)
    return made

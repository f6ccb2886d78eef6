"""Loops compiled to machine code by numba, with types that the checker understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


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

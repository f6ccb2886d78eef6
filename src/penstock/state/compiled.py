"""Loops compiled to machine code by numba, with types that the checker understands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from numba import njit

from penstock.state.loop_cache import LoopCache

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _made(function: Callable[Arguments, Result], **options: Any) -> Callable[Arguments, Result]:
    """A loop that numba compiles at its first call, unless its machine code is kept on disk."""
    dispatcher = njit(nogil=True, **options)(function)
    dispatcher._cache = LoopCache(dispatcher)
    made: Callable[Arguments, Result] = dispatcher
    return made


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a loop over arrays at its first call; the machine code is kept on disk.

    The global interpreter lock is released while it runs.
    """
    return _made(function)


def compiled_borrowing(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a loop that makes no arrays of its own, only works on those it is given.

    It then counts no references, which otherwise costs more than the work itself where a loop
    calls smaller ones with many arrays (by `_nrt`, an option that numba uses but does not
    describe). Functions that it calls have to be compiled in the same way.
    """
    return _made(function, _nrt=False)


def compiled_within(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a part of a loop into the loops that call it, which borrow their arrays.

    Arrays in tuples of tuples are handed over word by word: a call would cost more than the part.
    Python cannot call it; that halves the time to compile it.
    """
    return _made(
        function, _nrt=False, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )

"""A fuse: what failed halfway does not go on as if nothing had happened."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.errors import InternalError, PenstockError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Fuse:
    """Guards changes of state: the first that fails is remembered, and there is none after it.

    >>> fuse = Fuse()
    >>> with fuse.guarding():
    ...     raise ValueError("spilt")
    Traceback (most recent call last):
    ValueError: spilt
    >>> fuse.check()
    Traceback (most recent call last):
    penstock.errors.InternalError: this lane failed before and cannot go on: ValueError: spilt
      Go on from state that was saved before.
    """

    def __init__(self) -> None:
        self._cause: BaseException | None = None

    def check(self) -> None:
        """Refuse to go on after a failure.

        Raises:
            InternalError: Something failed before; says what.
        """
        if self._cause is None:
            return
        cause = self._cause
        said = cause.message if isinstance(cause, PenstockError) else str(cause)
        msg = f"this lane failed before and cannot go on: {type(cause).__name__}: {said}"
        raise InternalError(msg, hint="Go on from state that was saved before.") from cause

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Do what leaves the state half changed if it fails."""
        self.check()
        try:
            yield
        except BaseException as fault:
            self._cause = fault
            raise

"""The cache of machine code: one folder for all checkouts of a user, one file for each loop.

A file is named by the content of its loop (`loop_content`), the types it was compiled for, the
versions that compiled it and the processor. So a file never changes, nobody has to agree on an
index, and processes that compile the same loop at once write the same file, each in one move.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
import time
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numba.core import serialize, sigutils
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult

from penstock.state import loop_content
from penstock.state.loop_folder import folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from numba.core import types
    from numba.core.dispatcher import Dispatcher

DAY = 24 * 3600
MONTH = 30 * DAY
ENDING = ".loop"

# numba tells no types of these.
_arguments: Callable[[Any], tuple[tuple[types.Type, ...], Any]] = sigutils.normalize_signature
_pickled: Callable[[Any], bytes] = serialize.dumps
_rebuilt: Callable[..., Any] = CompileResult._rebuild


class LoopCache(_Cache):
    """The machine code of one loop; where numba asks before it compiles."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    @property
    def cache_path(self) -> str | None:
        """The folder, for numba's statistics."""
        return str(folder()) if folder() else None

    @cached_property
    def _content(self) -> str:
        """Told at the first call: while a module is imported its functions do not all exist."""
        told = loop_content.digest(loop_content.python_function(self._dispatcher))
        return f"{told} {loop_content.options(self._dispatcher)} {loop_content.versions()}"

    def _file(self, signature: Any, codegen: Any) -> Path | None:
        arguments, _ = _arguments(signature)
        made_for = loop_content.signature(arguments)
        key = repr((self._content, made_for, codegen.magic_tuple()))
        function = loop_content.python_function(self._dispatcher)
        name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        place = folder()
        return place and place / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}{ENDING}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature, or None if it has to be compiled."""
        target_context.refresh()
        file = self._file(sig, target_context.codegen())
        payload = _read(file) if file else None
        return payload and _rebuilt(target_context, *payload)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code; a disk that is full or read-only costs time, not the query."""
        file = self._file(sig, data.codegen)
        if file and _can_be_kept(data):
            with suppress(OSError):
                _write(file, _pickled(data._reduce()))
                _forget_old(file.parent)

    def enable(self) -> None:
        """Always on: numba asks for it, nobody calls it."""

    def disable(self) -> None:
        """As `enable`."""

    def flush(self) -> None:
        """As `enable`: what is kept stays true."""


def _can_be_kept(made: Any) -> bool:
    """Addresses of this process may be in the code of a loop that reads a large global array."""
    return not made.lifted and not made.library.has_dynamic_globals


def _read(file: Path) -> tuple[Any, ...] | None:
    """The content of a file; None if there is none, or none that can be read."""
    try:
        content: tuple[Any, ...] = pickle.loads(file.read_bytes())
        if time.time() - file.stat().st_mtime > DAY:
            file.touch()  # it is in use, and will not be forgotten
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    return content


def _write(file: Path, content: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        try:
            part.write(content)
        except BaseException:
            Path(part.name).unlink()
            raise
    os.replace(part.name, file)


@cache
def _forget_old(place: Path) -> None:
    """Remove what no process has used for a month; once in a process, when the folder grows."""
    for file in place.iterdir():
        with suppress(OSError):  # somebody else was faster
            if time.time() - file.stat().st_mtime > MONTH:
                file.unlink()

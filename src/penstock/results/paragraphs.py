"""Texts on one console: answers and what statements say, with empty lines between them.

Several answers may go on at once, from several threads: where another goes on than the last, its
columns are named again.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.results.answer_text import AnswerText


def print_line(text: str) -> None:
    """Print lines, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Paragraphs:
    """Texts with an empty line between those that do not belong together.

    Args:
        show: Prints lines.
    """

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show
        self._lock = threading.Lock()
        self._is_first = True
        self._last: AnswerText | None = None

    def say(self, texts: Iterable[str]) -> bool:
        """Print texts that belong to each other, and to nothing else; whether there was any."""
        with self._lock:
            self._last = None
            return self._print(texts, is_new=True)

    def go_on(self, answer: AnswerText, texts: Iterable[str]) -> bool:
        """Print the next texts of an answer.

        Args:
            answer: What makes the texts.
            texts: The texts, as they are made.

        Returns:
            Whether there was any.
        """
        with self._lock:
            is_new = self._last is not answer
            if is_new:
                answer.name_columns()
            found = self._print(texts, is_new=is_new)
            self._last = answer if found else self._last
            return found

    def _print(self, texts: Iterable[str], *, is_new: bool) -> bool:
        found = False
        for text in texts:
            is_apart = is_new and not found and not self._is_first
            self._show(f"\n{text}" if is_apart else text)
            found, self._is_first = True, False
        return found

"""Functions of texts. Positions count code points from one, as in Spark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.reference.failure import Exact, Failure

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 2**24
"""Characters of the longest text that REPEAT, LPAD and RPAD make; a longer one is a Failure."""


def _substring(text: str, position: int, length: int | None = None) -> str:
    """From a position counted from one, or from the end if negative; 0 is the start as well.

    A negative position before the start still uses up the length: SUBSTRING('abc', -5, 3) = 'a'.
    """
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    end = len(text) if length is None else start + length
    return text[max(start, 0) : max(end, 0)]


def _position(sub: str, text: str, start: int = 1) -> int:
    if start < 1:
        return 0
    return 1 if sub == "" else text.find(sub, max(start - 1, 0)) + 1


def _pad(text: str, length: int, fill: str) -> str:
    """The filling that brings the text to a length."""
    _check_length(length)
    missing = max(length - len(text), 0)
    return (fill * missing)[:missing]


def _repeat(text: str, times: int) -> str:
    _check_length(len(text) * times)
    return text * times


def _check_length(length: int) -> None:
    if length > LONGEST:
        msg = f"a text of {length} characters is too long"
        raise Failure(msg)


def _split_part(text: str, separator: str, number: int) -> str:
    if number == 0:
        msg = "parts are counted from 1, or from -1 at the end"
        raise Failure(msg)
    parts = text.split(separator) if separator else [text]
    index = number - 1 if number > 0 else len(parts) + number
    return parts[index] if 0 <= index < len(parts) else ""


def concat_ws(separator: str | None, *values: str | None) -> str | None:
    """The values that are not NULL with the separator between them; NULL without a separator."""
    if separator is None:
        return None
    return separator.join(value for value in values if value is not None)


def _regular(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as fault:
        raise Failure(str(fault)) from fault


def _regexp_extract(text: str, pattern: str, group: int = 1) -> str:
    regular = _regular(pattern)
    if not 0 <= group <= regular.groups:
        msg = f"{pattern!r} has no group {group}"
        raise Failure(msg)
    found = regular.search(text)
    return "" if found is None else found[group] or ""


def _regexp_replace(text: str, pattern: str, replacement: str) -> str:
    regular = _regular(pattern)
    parts = [_replacement_part(part, regular) for part in _PARTS.findall(replacement)]
    return regular.sub(lambda found: "".join(part(found) for part in parts), text)


_PARTS = re.compile(r"\$\d|\\.|[^$\\]+|[$\\]", re.DOTALL)
"""A group's number, an escaped character, plain text, or a sign that stands for nothing."""


def _replacement_part(part: str, regular: re.Pattern[str]) -> Callable[[re.Match[str]], str]:
    if part in ("$", "\\"):
        msg = f"{part} in a replacement is followed by nothing it could mean"
        raise Failure(msg)
    if part[0] == "$":
        group = int(part[1:])
        if group > regular.groups:
            msg = f"the regular expression has no group {group}"
            raise Failure(msg)
        return lambda found: found[group] or ""
    plain = part[1:] if part[0] == "\\" else part
    return lambda _: plain


def _initcap(text: str) -> str:
    return " ".join(word[:1].title() + word[1:] for word in text.lower().split(" "))


def _translate(text: str, old: str, new: str) -> str:
    """The first place of a character counts; those beyond the end of `new` are removed."""
    table: dict[str, str | int | None] = {}
    for index, char in enumerate(old):
        table.setdefault(char, new[index : index + 1])
    return text.translate(str.maketrans(table))


def _chr(code: int) -> str:
    return "" if code < 0 else chr(code % 256)


STRINGS: dict[str, Callable[..., Exact]] = {
    "upper": str.upper,
    "lower": str.lower,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "reverse": lambda text: text[::-1],
    "initcap": _initcap,
    "length": len,
    "substring": _substring,
    "left": lambda text, count: text[: max(count, 0)],
    "right": lambda text, count: text[max(len(text) - count, 0) :] if count > 0 else "",
    "replace": lambda text, old, new="": text.replace(old, new) if old else text,
    "translate": _translate,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": lambda text, sub: sub in text,
    "instr": lambda text, sub: _position(sub, text),
    "position": _position,
    "lpad": lambda text, n, fill=" ": _pad(text, n, fill) + text[: max(n, 0)],
    "rpad": lambda text, n, fill=" ": (text + _pad(text, n, fill))[: max(n, 0)],
    "repeat": _repeat,
    "||": lambda a, b: a + b,
    "concat": lambda *values: "".join(values),
    "split_part": _split_part,
    "ascii": lambda text: ord(text[0]) if text else 0,
    "chr": _chr,
    "rlike": lambda text, pattern: _regular(pattern).search(text) is not None,
    "regexp_extract": _regexp_extract,
    "regexp_replace": _regexp_replace,
}

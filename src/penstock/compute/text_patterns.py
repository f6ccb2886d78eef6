"""LIKE and regular expressions: RE2 for what it and Python agree on, else Python's `re`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.compute.kernels import Failed, constant, constants
from penstock.compute.python_functions import in_python

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.expressions import Call
    from penstock.compute.datum import Datum
    from penstock.compute.kernels import Kernel, Maker

ANY_TEXT, ANY_CHARACTER = 0, 1
"""The places of `%` and `_` in a pattern taken apart; plain text stands for itself."""

SAFE = re.compile(
    r"\^?(?:[A-Za-z0-9 _,:;=@#%&!<>~\"'/-]|\\[dw.]|\((?!\?)|[.*+?|)]"
    r"|\[\^?(?:[A-Za-z0-9_](?:-[A-Za-z0-9_])?)+\])*"
)
"""Regular expressions that mean the same to RE2 and to Python: a part of the common syntax."""


# LIKE


@lru_cache(maxsize=1024)
def _taken_apart(pattern: str, escape: str) -> tuple[str | int, ...]:
    """Texts and wildcards in order; fails where the escape stands before anything else."""
    parts: list[str | int] = []
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            character = next(characters, "")
            if character not in ("%", "_", escape) or not character:
                raise Failed
            parts.append(character)
        else:
            parts.append({"%": ANY_TEXT, "_": ANY_CHARACTER}.get(character, character))
    return tuple(parts)


@lru_cache(maxsize=1024)
def _like_regular(pattern: str, escape: str) -> re.Pattern[str]:
    spelled = {ANY_TEXT: ".*", ANY_CHARACTER: "."}
    parts = (
        re.escape(part) if isinstance(part, str) else spelled[part]
        for part in _taken_apart(pattern, escape)
    )
    return re.compile("".join(parts), re.DOTALL)


def _like(text: str, pattern: str, escape: str = "\\") -> bool:
    return _like_regular(pattern, escape).fullmatch(text) is not None


def _like_maker(call: Call) -> Kernel:
    known = constants(call)
    chosen = None if known is None else _like_of(*map(str, known))
    if chosen is None:
        return in_python(_like)(call)
    return lambda args, _: chosen(args[0])


def _like_of(pattern: str, escape: str = "\\") -> Callable[[Datum], pa.Array] | None:
    """Arrow's kernel for a constant pattern; None: the pattern fails, or RE2 cannot hold it."""
    try:
        parts = _taken_apart(pattern, escape)
    except Failed:
        return None
    wild = [place for place, part in enumerate(parts) if not isinstance(part, str)]
    text = "".join(part for part in parts if isinstance(part, str))
    if not wild:
        return lambda array: pc.equal(array, text)
    if all(parts[place] == ANY_TEXT for place in wild):
        last = len(parts) - 1
        if wild == [last]:
            return lambda array: pc.starts_with(array, pattern=text)
        if wild == [0]:
            return lambda array: pc.ends_with(array, pattern=text)
        if wild == [0, last]:
            return lambda array: pc.match_substring(array, pattern=text)
    return _re2(_like_in_re2(parts))


def _like_in_re2(parts: tuple[str | int, ...]) -> str:
    spelled = {ANY_TEXT: ".*", ANY_CHARACTER: "."}
    codes = (f"\\x{{{ord(part):x}}}" if isinstance(part, str) else spelled[part] for part in parts)
    return rf"(?s)\A{''.join(codes)}\z"


def _re2(pattern: str) -> Callable[[Datum], pa.Array] | None:
    """The search with RE2, None if it refuses the pattern (as too large, say)."""
    try:
        pc.match_substring_regex(pa.array([""]), pattern=pattern)
    except pa.ArrowInvalid:
        return None
    return lambda array: pc.match_substring_regex(array, pattern=pattern)


# Regular expressions


@lru_cache(maxsize=1024)
def _regular(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as fault:
        raise Failed from fault


def _rlike(text: str, pattern: str) -> bool:
    return _regular(pattern).search(text) is not None


def _rlike_maker(call: Call) -> Kernel:
    pattern = constant(call.args[1])
    chosen = _re2(pattern) if isinstance(pattern, str) and SAFE.fullmatch(pattern) else None
    if chosen is None:
        return in_python(_rlike)(call)
    return lambda args, _: chosen(args[0])


def _regexp_extract(text: str, pattern: str, group: int = 1) -> str:
    regular = _regular(pattern)
    if not 0 <= group <= regular.groups:
        raise Failed
    found = regular.search(text)
    return "" if found is None else found[group] or ""


def _regexp_replace(text: str, pattern: str, replacement: str) -> str:
    parts = _replacement(pattern, replacement)

    def replaced(found: re.Match[str]) -> str:
        return "".join(part if isinstance(part, str) else found[part] or "" for part in parts)

    return _regular(pattern).sub(replaced, text)


_PARTS = re.compile(r"\$(?P<group>\d)|\\(?P<escaped>.)|(?P<plain>[^$\\]+)|.", re.DOTALL)


@lru_cache(maxsize=1024)
def _replacement(pattern: str, replacement: str) -> tuple[str | int, ...]:
    """Texts and the numbers of groups; fails at a sign that stands for nothing."""
    groups = _regular(pattern).groups
    parts: list[str | int] = []
    for found in _PARTS.finditer(replacement):
        if found["group"] is not None and int(found["group"]) <= groups:
            parts.append(int(found["group"]))
        elif found["escaped"] or found["plain"]:
            parts.append(found["escaped"] or found["plain"])
        else:
            raise Failed
    return tuple(parts)


PATTERNS: dict[str, Maker] = {
    "like": _like_maker,
    "rlike": _rlike_maker,
    "regexp_extract": in_python(_regexp_extract),
    "regexp_replace": in_python(_regexp_replace),
}

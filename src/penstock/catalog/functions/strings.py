"""Functions of texts. Positions count characters (code points) from one."""

from __future__ import annotations

import re

from penstock.algebra.expressions import Expression, Literal
from penstock.algebra.types import BOOLEAN, INT, STRING
from penstock.catalog.functions.kinds import (
    AS_TEXT,
    INT32,
    INT64,
    TEXT,
    Args,
    Function,
    function,
)
from penstock.errors import TypeMismatch


def _with_checked_pattern(plain: Function) -> Function:
    """The function, refusing a constant regular expression that is not one."""

    def resolve(called: str, args: Args) -> Expression:
        call = plain.resolve(called, args)
        pattern = call.children[1]
        if isinstance(pattern, Literal) and isinstance(pattern.value, str):
            try:
                re.compile(pattern.value, re.ASCII)
            except re.error as fault:
                msg = f"{pattern} is not a regular expression: {fault}"
                raise TypeMismatch(msg) from fault
        return call

    return Function(plain.name, plain.arity, plain.summary, resolve, plain.aliases)


TRANSFORMED = {
    "upper": ("The text in upper case.", ("ucase",)),
    "lower": ("The text in lower case.", ("lcase",)),
    "trim": ("The text without the spaces at both ends.", ()),
    "ltrim": ("The text without the spaces at its start.", ()),
    "rtrim": ("The text without the spaces at its end.", ()),
    "reverse": ("The text backwards.", ()),
    "initcap": ("Every word after a space with a capital, the rest in lower case.", ()),
}

SEARCHED = {
    "startswith": ("Whether the first text starts with the second.", ("starts_with",)),
    "endswith": ("Whether the first text ends with the second.", ("ends_with",)),
    "contains": ("Whether the first text contains the second.", ()),
}

REGULAR_EXPRESSIONS = (
    function(
        "rlike", (TEXT, TEXT), BOOLEAN,
        "Whether a regular expression (Python's, ASCII classes) matches anywhere in the text.",
        aliases=("regexp_like", "regexp"),
    ),
    function(
        "regexp_replace", (TEXT, TEXT, TEXT), STRING,
        "Every match replaced; $1 stands for the first group.",
    ),
    function(
        "regexp_extract", (TEXT, TEXT, INT32), STRING,
        "The first match's group, by default the first group; '' without a match.", optional=1,
    ),
)  # fmt: skip

STRINGS = (
    *(
        function(name, (TEXT,), STRING, summary, aliases=aliases)
        for name, (summary, aliases) in TRANSFORMED.items()
    ),
    *(
        function(name, (TEXT, TEXT), BOOLEAN, summary, aliases=aliases)
        for name, (summary, aliases) in SEARCHED.items()
    ),
    *map(_with_checked_pattern, REGULAR_EXPRESSIONS),
    function(
        "length", (TEXT,), INT, "How many characters the text has.",
        aliases=("len", "char_length", "character_length"),
    ),
    function(
        "substring", (TEXT, INT32, INT32), STRING,
        "The characters from a position on, at most so many; negative counts from the end.",
        aliases=("substr", "mid"), optional=1,
    ),
    function("left", (TEXT, INT32), STRING, "The first characters, at most so many."),
    function("right", (TEXT, INT32), STRING, "The last characters, at most so many."),
    function(
        "replace", (TEXT, TEXT, TEXT), STRING,
        "Every occurrence of the second text replaced by the third (by default removed).",
        optional=1,
    ),
    function(
        "translate", (TEXT, TEXT, TEXT), STRING,
        "Each character of the second text as the one in its place in the third, else removed.",
    ),
    function(
        "instr", (TEXT, TEXT), INT,
        "The position of the first occurrence of the second text in the first; 0: none.",
    ),
    function(
        "position", (TEXT, TEXT, INT32), INT,
        "POSITION(sub, text[, start]): the first occurrence at or after start; 0: none.",
        aliases=("locate",), optional=1,
    ),
    function(
        "lpad", (TEXT, INT32, TEXT), STRING,
        "Filled on the left to a length with a text (spaces), or cut to it.", optional=1,
    ),
    function(
        "rpad", (TEXT, INT32, TEXT), STRING,
        "Filled on the right to a length with a text (spaces), or cut to it.", optional=1,
    ),
    function("repeat", (TEXT, INT32), STRING, "The text so many times."),
    function("||", (AS_TEXT, AS_TEXT), STRING, "Both values as one text."),
    function(
        "concat", (AS_TEXT,), STRING, "All values as one text; NULL if one is NULL.", variadic=True
    ),
    function(
        "concat_ws", (TEXT, AS_TEXT), STRING,
        "The values as one text with the first between them; NULL values are skipped.",
        variadic=True, optional=1,
    ),
    function(
        "split_part", (TEXT, TEXT, INT32), STRING,
        "The n-th part of a text cut at a separator, from the end if negative; '' past the ends.",
    ),
    function("ascii", (TEXT,), INT, "The code point of the first character; 0 of ''."),
    function(
        "chr", (INT64,), STRING, "The character with this code modulo 256; '' below zero.",
        aliases=("char",),
    ),
)  # fmt: skip

"""Functions of texts: Arrow's kernels where their meaning is ours, else Python's own methods.

Positions count code points from one. Arrow counts bytes in some places and changes the case of
single code points only (ß to ẞ), so that those kernels serve ASCII texts alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.compute.datum import Datum, Truths, made, mended, numbers, truths, valid_in_all
from penstock.compute.kernels import Failed, constant, constants
from penstock.compute.python_functions import in_python

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Call, Value
    from penstock.algebra.failures import Failures
    from penstock.compute.kernels import Kernel, Maker

LONGEST = 2**24
"""Characters of the longest text that REPEAT, LPAD and RPAD make; a longer one fails."""


# The same function in Arrow


def _direct(function: Callable[..., pa.Array]) -> Maker:
    return lambda _: lambda args, __: function(*args)


def _with_constants(
    choose: Callable[..., Callable[[Datum], pa.Array] | None], define: Callable[..., Value]
) -> Maker:
    """Arrow's kernel for the constant arguments behind the first, if there is one; else Python."""

    def make(call: Call) -> Kernel:
        known = constants(call)
        chosen = None if known is None else choose(*known)
        if chosen is None:
            return in_python(define)(call)
        return lambda args, _: chosen(args[0])

    return make


def _for_ascii(
    function: Callable[..., pa.Array], define: Callable[..., Value], *, text: int = 0
) -> Callable[[Call], Kernel]:
    """Arrow's kernel for the rows whose text is ASCII, Python for the rest."""

    def make(call: Call) -> Kernel:
        slow = in_python(define)(call)

        def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
            array = args[text]
            return mended(function(array), ~is_ascii(array), lambda x: slow(x, failures), *args)

        return kernel

    return make


def is_ascii(array: pa.Array) -> Truths:
    """The places where a text is NULL or ASCII."""
    return truths(pc.fill_null(pc.string_is_ascii(array), True))


# Pieces of a text


def _slice(start: int, stop: int | None) -> Callable[[Datum], pa.Array]:
    return lambda text: pc.utf8_slice_codeunits(text, start, stop)


def _substring_of(position: int, length: int | None = None) -> Callable[[Datum], pa.Array]:
    """Arrow's slices count from the end as Python's do."""
    start = position - 1 if position > 0 else position
    if length is None:
        return _slice(start, None)
    stop = start + max(length, 0)
    # From the end, a stop that is not before it is no stop.
    return _slice(start, None if start < 0 <= stop else stop)


def _substring(text: str, position: int, length: int | None = None) -> str:
    """From a position counted from one, or from the end if negative; 0 is the start as well.

    A negative position before the start still uses up the length: SUBSTRING('abc', -5, 3) = 'a'.
    """
    start = len(text) + position if position < 0 else max(position - 1, 0)
    stop = len(text) if length is None else max(start + length, 0)
    return text[max(start, 0) : stop]


def _right_of(count: int) -> Callable[[Datum], pa.Array]:
    return _slice(-count, None) if count > 0 else _slice(0, 0)


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else ""


def _split_part(text: str, separator: str, number: int) -> str:
    if number == 0:
        raise Failed
    parts = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if 0 <= place < len(parts) else ""


# Other texts


def _replace_of(old: str, new: str = "") -> Callable[[Datum], pa.Array]:
    if not old:
        return lambda text: text
    return lambda text: pc.replace_substring(text, pattern=old, replacement=new)


def _replace(text: str, old: str, new: str = "") -> str:
    return text.replace(old, new) if old else text


def _translate(text: str, old: str, new: str) -> str:
    """The first place of a character counts; those beyond the end of `new` are removed."""
    table = {char: new[place : place + 1] for place, char in reversed(list(enumerate(old)))}
    return "".join(table.get(char, char) for char in text)


def _initcap(text: str) -> str:
    return " ".join(word[:1].title() + word[1:] for word in text.lower().split(" "))


def _padded(
    function: Callable[..., pa.Array],
) -> Callable[..., Callable[[Datum], pa.Array] | None]:
    """Arrow fills with a single character, and does not cut."""

    def choose(length: int, fill: str = " ") -> Callable[[Datum], pa.Array] | None:
        if length > LONGEST or len(fill) != 1:
            return None
        cut = _slice(0, max(length, 0))
        return lambda text: function(cut(text), width=max(length, 0), padding=fill)

    return choose


def _filling(text: str, length: int, fill: str) -> str:
    if length > LONGEST:
        raise Failed
    missing = max(length - len(text), 0)
    times = -(-missing // len(fill)) if fill else 0
    return (fill * times)[:missing]


def _lpad(text: str, length: int, fill: str = " ") -> str:
    return _filling(text, length, fill) + text[: max(length, 0)]


def _rpad(text: str, length: int, fill: str = " ") -> str:
    return text[: max(length, 0)] + _filling(text, length, fill)


def _repeat(text: str, times: int) -> str:
    if len(text) * times > LONGEST:
        raise Failed
    return text * times


_CHARACTERS = pa.array([*map(chr, range(256)), ""])


def _chr(args: Sequence[Datum], _: Failures) -> pa.Array:
    codes = numbers(args[0])
    places = codes % 256
    places[codes < 0] = 256
    return _CHARACTERS.take(made(pa.int64(), places, valid_in_all(args)))


# Searches


def _position(sub: str, text: str, start: int = 1) -> int:
    if start < 1:
        return 0
    return 1 if sub == "" else text.find(sub, start - 1) + 1


def _searched(text: int, sub: int) -> Maker:
    """INSTR and POSITION: Arrow finds a constant from the start, but counts bytes."""

    def define(*args: Any) -> int:
        return _position(args[sub], args[text], *args[2:])

    def make(call: Call) -> Kernel:
        wanted = constant(call.args[sub])
        if not isinstance(wanted, str) or len(call.args) > 2:
            return in_python(define)(call)

        def find(array: pa.Array) -> pa.Array:
            return pc.add(pc.find_substring(array, pattern=wanted), pa.scalar(1, pa.int32()))

        return _for_ascii(find, define, text=text)(call)

    return make


def _found(function: Callable[..., pa.Array], define: Callable[..., bool]) -> Maker:
    return _with_constants(lambda sub: lambda text: function(text, pattern=sub), define)


# Joined texts


def _concat(args: Sequence[Datum], _: Failures) -> pa.Array:
    return pc.binary_join_element_wise(*args, "")


def _concat_ws(args: Sequence[Datum], _: Failures) -> pa.Array:
    """The values that are not NULL with the first between them; NULL without it."""
    separator, *values = args
    if not values:
        return pc.if_else(pc.is_valid(separator), "", pa.scalar(None, pa.string()))
    # Arrow loses the rows that have nothing to join (seen in 26.0), so those join an empty text.
    values[0] = pc.if_else(pc.is_null(pc.coalesce(*values)), "", values[0])
    return pc.binary_join_element_wise(*values, separator, null_handling="skip")


_first_code = in_python(lambda text: ord(text[0]) if text else 0)


def _ascii(call: Call) -> Kernel:
    of_first = _first_code(call)
    return lambda args, failures: of_first([_slice(0, 1)(args[0])], failures)


STRINGS: dict[str, Maker] = {
    "upper": _for_ascii(pc.ascii_upper, str.upper),
    "lower": _for_ascii(pc.ascii_lower, str.lower),
    "trim": _direct(lambda text: pc.ascii_trim(text, characters=" ")),
    "ltrim": _direct(lambda text: pc.ascii_ltrim(text, characters=" ")),
    "rtrim": _direct(lambda text: pc.ascii_rtrim(text, characters=" ")),
    "reverse": _direct(pc.utf8_reverse),
    "initcap": in_python(_initcap),
    "length": _direct(pc.utf8_length),
    "substring": _with_constants(_substring_of, _substring),
    "left": _with_constants(
        lambda count: _slice(0, max(count, 0)), lambda text, count: text[: max(count, 0)]
    ),
    "right": _with_constants(_right_of, _right),
    "replace": _with_constants(_replace_of, _replace),
    "translate": in_python(_translate),
    "startswith": _found(pc.starts_with, str.startswith),
    "endswith": _found(pc.ends_with, str.endswith),
    "contains": _found(pc.match_substring, lambda text, sub: sub in text),
    "instr": _searched(text=0, sub=1),
    "position": _searched(text=1, sub=0),
    "lpad": _with_constants(_padded(pc.utf8_lpad), _lpad),
    "rpad": _with_constants(_padded(pc.utf8_rpad), _rpad),
    "repeat": in_python(_repeat),
    "||": lambda _: _concat,
    "concat": lambda _: _concat,
    "split_part": in_python(_split_part),
    "ascii": _ascii,
    "chr": lambda _: _chr,
}

STRINGS_WITH_NULLS: dict[str, Maker] = {"concat_ws": lambda _: _concat_ws}

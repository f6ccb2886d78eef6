"""The content of a compiled loop: all that its machine code is made from.

That is the code of the loop, the constants it reads, and the same of every function that it calls,
wherever they stand. Paths, dates, line numbers, comments and docstrings are no part of it.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

PACKAGE = __name__.partition(".")[0]
"""The beginning of names of modules of ours: functions of others change with their version."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))

Followed = list[FunctionType]


def digest(loop: FunctionType) -> str:
    """A number that changes with the loop and with all that is compiled into it."""
    found = {id(loop)}
    functions = [loop]
    descriptions = []
    for function in functions:  # grows while we walk
        description, called = _described(function)
        descriptions.append(description)
        functions.extend(one for one in called if id(one) not in found)
        found.update(map(id, called))
    return hashlib.sha256("\n".join(sorted(descriptions)).encode()).hexdigest()


@cache
def _described(function: FunctionType) -> tuple[str, Followed]:
    """A function's own content, and the functions that it names."""
    called: Followed = []
    names = _names(function.__code__)
    reads = {name: function.__globals__[name] for name in names if name in function.__globals__}
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = [
        _name(function),
        _code(function.__code__, function.__doc__),
        *(f"{name}={_value(value, names, called)}" for name, value in sorted(reads.items())),
        *(_value(value, names, called) for value in closure),
        _value(function.__defaults__, names, called),
    ]
    return repr(parts), called


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _names(code: CodeType) -> list[str]:
    """All names in a function and in the functions within it, each once."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return sorted({*code.co_names, *inner})


def _code(code: CodeType, docstring: str | None = None) -> str:
    """The instructions of a function, and what they refer to by number."""
    constants = list(code.co_consts)
    if docstring is not None and constants[0] == docstring:
        constants[0] = None
    told = [_code(part) if isinstance(part, CodeType) else _plain(part) for part in constants]
    shape = (code.co_argcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return repr((code.co_code, code.co_exceptiontable, shape, names, told))


def _value(value: Any, names: list[str], called: Followed) -> str:
    """Something that a function reads: a constant by its value, our functions by their content."""
    if isinstance(value, Dispatcher):
        called.append(python_function(value))
        return f"{_name(called[-1])} {options(value)}"
    if isinstance(value, _Intrinsic):
        called.append(vars(value)["_defn"])
        return _name(called[-1])
    if isinstance(value, FunctionType):
        if _is_followed(value.__module__):
            called.append(value)
        return _name(value)
    if isinstance(value, ModuleType):
        return _module(value, names, called)
    return _plain(value)


def _module(module: ModuleType, names: list[str], called: Followed) -> str:
    """Of a module of ours the things that may be read from it."""
    if not _is_followed(module.__name__):
        return module.__name__
    read = {name: getattr(module, name) for name in names if hasattr(module, name)}
    told = [f"{name}={_value(value, names, called)}" for name, value in sorted(read.items())]
    return repr((module.__name__, told))


def _is_followed(module: str) -> bool:
    return module.startswith(PACKAGE)


def _plain(value: Any) -> str:
    """A constant, with its type: numba compiles 1, 1.0 and True to different code."""
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({', '.join(map(_plain, value))})"
    if isinstance(value, frozenset):
        return f"frozenset({', '.join(sorted(map(_plain, value)))})"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype.str} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, np.generic):
        return f"{value.dtype.str} {value!r}"
    if isinstance(value, type):
        return f"{_name(value)} {getattr(value, '_fields', ())}"
    if isinstance(value, BuiltinFunctionType | np.ufunc):
        return value.__name__
    if isinstance(value, np.dtype | types.Type):
        return str(value)
    if callable(value) and hasattr(value, "__qualname__"):  # NumPy's own
        return _name(value)
    message = (
        f"a compiled loop reads {value!r}; loop_content does not know how such a thing is told"
    )
    raise TypeError(message)


def python_function(dispatcher: Dispatcher) -> FunctionType:
    """The loop as it was written."""
    function = dispatcher.py_func
    assert isinstance(function, FunctionType)
    return function


def options(dispatcher: Dispatcher) -> str:
    """The way in which a loop is compiled."""
    return repr(sorted(dispatcher.targetoptions.items()))


def signature(arguments: tuple[types.Type, ...]) -> str:
    """The types that machine code is made for; numba's names leave out the fields of tuples."""
    return ", ".join(map(_type, arguments))


def _type(kind: types.Type) -> str:
    if isinstance(kind, types.NamedTuple):
        return f"{_plain(kind.instance_class)}({signature(kind.types)})"
    if isinstance(kind, types.Tuple):
        return f"({signature(kind.types)})"
    return str(kind)


def versions() -> str:
    """The versions of what compiles: machine code of another version is not used."""
    packages = (numba.__version__, llvmlite.__version__, np.__version__)
    return repr((packages, sys.implementation.cache_tag, sys.version_info[:3]))

"""Frozen values as JSON: specs, expressions, types, windows, and whatever else plans are made of.

A dataclass becomes an object with its name under "$" and those of its fields that are not as they
are by default. What comes back is equal: tuples are tuples, numbers of a kind stay of that kind.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterable

KIND = "$"
STORED = "stored"
"""Of a field that is not written down, its metadata say so."""
Json = Any


class Codec:
    """Writes values down, and reads those of known classes."""

    def __init__(self, classes: Iterable[type]) -> None:
        self._classes = {one.__name__: one for one in classes}

    def encoded(self, value: object) -> Json:
        """A value as JSON.

        Raises:
            InternalError: It is of a class that could not be read again.
        """
        return _encoded(value, self._classes)

    def decoded(self, value: Json) -> Any:
        """The value that was written down.

        Raises:
            KeyError: A class is not known.
        """
        if isinstance(value, list):
            return tuple(map(self.decoded, value))
        if not isinstance(value, dict):
            return value
        kind = value[KIND]
        match kind:
            case "float":
                return math.nan if value["of"] == "nan" else float(value["of"])
            case "decimal":
                return Decimal(value["of"])
            case "dict":
                return {self.decoded(key): self.decoded(one) for key, one in value["of"]}
        made = self._classes[kind]
        if issubclass(made, Enum):
            return made[value["of"]]
        return made(**{name: self.decoded(one) for name, one in value.items() if name != KIND})


def content_hash(value: object, inputs: Iterable[str] = ()) -> str:
    """Equal for equal values over equal inputs; fields that are not compared play no part."""
    text = json.dumps([_encoded(value, None), *inputs], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _encoded(value: object, known: Mapping[str, type] | None) -> Json:
    """A value as JSON; without known classes, what is compared of it."""
    if isinstance(value, Enum):
        _require(type(value), known)
        return {KIND: type(value).__name__, "of": value.name}
    if isinstance(value, float) and not math.isfinite(value):
        return {KIND: "float", "of": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Decimal):
        return {KIND: "decimal", "of": str(value)}
    if isinstance(value, tuple | list):
        return [_encoded(one, known) for one in value]
    if isinstance(value, Mapping):
        pairs = [[_encoded(key, known), _encoded(one, known)] for key, one in value.items()]
        return {KIND: "dict", "of": pairs}
    _require(type(value), known)
    kind: type[Any] = type(value)
    made: dict[str, Any] = {KIND: kind.__name__}
    for name, default, is_compared in _fields(kind):
        if is_compared or known is not None:
            own = getattr(value, name)
            if own is not default and own != default:
                made[name] = _encoded(own, known)
    return made


def _require(kind: type, known: Mapping[str, type] | None) -> None:
    is_data = issubclass(kind, Enum) or is_dataclass(kind)
    if not is_data or (known is not None and known.get(kind.__name__) is not kind):
        msg = f"a {kind.__name__} cannot be written down"
        raise InternalError(msg)


_FIELDS: dict[type, list[tuple[str, object, bool]]] = {}


def _fields(kind: type[Any]) -> list[tuple[str, object, bool]]:
    """The fields that make a value: name, default, whether they are compared."""
    if kind not in _FIELDS:
        stored = [one for one in fields(kind) if one.init and one.metadata.get(STORED, True)]
        made = [(one.name, _default(one), one.compare) for one in stored]
        _FIELDS[kind] = made
    return _FIELDS[kind]


def _default(one: Field[Any]) -> object:
    if one.default is not MISSING:
        return one.default
    return one.default_factory() if one.default_factory is not MISSING else MISSING

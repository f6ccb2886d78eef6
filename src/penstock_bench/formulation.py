"""The form of every baseline: another engine's way to the complete result in one batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from penstock_bench.data import Tables

Answer = Callable[[], pa.Table]
"""Computes the result: the columns of the query, then `ts` and `te` of each row."""


@dataclass(frozen=True)
class Formulation:
    """A way to ask an engine; `prepare` loads the input, which is not measured.

    `easier` says why it does not count for the bound: it computes less, or relies on something
    that the query does not promise.
    """

    engine: str
    name: str
    prepare: Callable[[Tables], Answer]
    easier: str = ""
    complete: bool = True

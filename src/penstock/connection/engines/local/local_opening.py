"""Opening a connection: anew, or from what was saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

from penstock.algebra.patterns import Strategy
from penstock.connection.connection import Connection
from penstock.connection.engines.local.batch import Options
from penstock.connection.engines.local.local_engine import LocalEngine
from penstock.connection.engines.local.saved_folder import read_folder
from penstock.connection.engines.local.saving import restore_into
from penstock.errors import QueryError, did_you_mean
from penstock.planner.physical.building import Choices

if TYPE_CHECKING:
    from os import PathLike


def open_connection(
    lanes: int,
    strategy: Strategy,
    partitions: int,
    keep: int,
    restore: str | PathLike[str] | None,
) -> Connection:
    """The connection that `penstock.connect_inline` returns."""
    if restore is not None:
        page, tables = read_folder(Path(restore))
        _check_strategy(page["strategy"])
        choices = Choices(page["strategy"], page["partitions"])
        engine = LocalEngine(Options(page["lanes"], choices, page["keep"]))
        restore_into(engine, page, tables)
        return Connection(engine)
    for name, number in (("lanes", lanes), ("partitions", partitions), ("keep", keep)):
        if not isinstance(number, int) or number < 1:
            msg = f"{name} is {number!r}, but must be a whole number above zero"
            raise QueryError(msg)
    _check_strategy(strategy)
    return Connection(LocalEngine(Options(lanes, Choices(strategy, partitions), keep)))


def _check_strategy(strategy: str) -> None:
    known = get_args(Strategy)
    if strategy not in known:
        msg = f'there is no strategy called "{strategy}"'
        hint = did_you_mean(str(strategy), known, otherwise=f"Strategies: {', '.join(known)}.")
        raise QueryError(msg, hint=hint)

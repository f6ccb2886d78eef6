"""The shares of a stream that tasks read: parts of its files, or of rows that they make up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connectors.generate import is_generated
from penstock.pipeline.file_cuts import FileCuts, file_cuts
from penstock.pipeline.generated_cuts import GeneratedCuts

if TYPE_CHECKING:
    from penstock.catalog.definitions import StreamDefinition
    from penstock.pipeline.ledger import Ledger

Cuts = FileCuts | GeneratedCuts
"""The shares of one stream."""


def cuts_of(ledger: Ledger, stream: StreamDefinition, tasks: int, *, finite: bool) -> Cuts:
    """The shares that a ledger has not got yet.

    Args:
        ledger: What has been read.
        stream: The stream.
        tasks: How many tasks read it.
        finite: Whether all is there at once, and has to have an end.
    """
    if is_generated(stream):
        return GeneratedCuts(stream, ledger.known_files(stream.name), finite=finite)
    return file_cuts(ledger, stream, tasks)

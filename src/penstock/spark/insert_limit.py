"""Rows that were brought from Python and wait on disk: no more than so many bytes of a stream."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.files.folders import folder_of
from penstock.store.inserted_rows import bring

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.spark.pipeline_runner import PipelineRunner
    from penstock.store.layout import Home

LOOKS = 16
"""What waits is measured when the limit may have been reached: so often on the way to it."""
REST_SECONDS = 0.02


class InsertLimit:
    """Writes rows down for the pipeline; who brings too many waits until it has taken some in.

    Args:
        home: Where they go.
        running: Takes them in.
    """

    def __init__(self, home: Home, running: PipelineRunner) -> None:
        self._home = home
        self._running = running
        self._bringing = threading.Lock()
        self._since: dict[str, int] = {}

    def bring(self, stream: str, rows: pa.Table, *, may_wait: bool) -> None:
        """Write rows of a stream down.

        Args:
            stream: The stream.
            rows: Its rows.
            may_wait: Whether the pipeline goes on without who calls.
        """
        with self._bringing:
            path = bring(self._home, stream, rows)
            # It may have been taken in, and removed, by now.
            with suppress(FileNotFoundError):
                self._since[stream] = self._since.get(stream, 0) + path.stat().st_size
        limit = self._running.pipeline.ledger.plan.session.settings.work.incoming_limit
        if limit is None or not may_wait or self._since.get(stream, 0) * LOOKS < limit:
            return
        self._since[stream] = 0
        while self._is_taken_in(stream) and self._waiting_bytes(stream) > limit:
            time.sleep(REST_SECONDS)

    def _waiting_bytes(self, stream: str) -> int:
        """The bytes of a stream's rows that are not in any batch yet."""
        pipeline = self._running.pipeline
        with pipeline.lock:
            known = pipeline.ledger.known_files(stream)
            found = [one for one in pipeline.ledger.plan.streams if one.name == stream]
            folders = [folder_of(self._home, one) for one in found]
            return sum(one.size for folder in folders for one in folder.new_files(known))

    def _is_taken_in(self, stream: str) -> bool:
        """Rows of a stream become fewer, sooner or later."""
        pipeline = self._running.pipeline
        is_read = any(one.name == stream for one in pipeline.ledger.plan.streams)
        return is_read and pipeline.is_running and self._running.failure is None

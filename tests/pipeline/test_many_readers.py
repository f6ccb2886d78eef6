"""Fifty readers at once while rows come: no wrong answer, and nothing of them is left."""

from __future__ import annotations

from penstock_bench.retained_readers import ReadersEffort, measure
from tiers import only_long


@only_long
def test_readers_in_other_processes_beside_batches_get_right_answers_and_leave_nothing() -> None:
    found = measure(ReadersEffort(readers=50, batches=60, pause=2.0), print)
    assert found.answers > 50
    assert (found.wrong, found.refused) == (0, 0)
    assert found.pins == 0
    # Two million rows are retained; a pass of sealing has some 300,000.
    assert found.files < 20
    assert found.reader_bytes < 1 << 30

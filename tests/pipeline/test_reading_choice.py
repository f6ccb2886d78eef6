"""Who reads files is chosen by how many tasks there are, where they run, and what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.algebra.time import TimeUnit
from penstock.algebra.types import BIGINT, Field, Schema
from penstock.catalog.definitions import StreamDefinition
from penstock.errors import QueryError
from penstock.files.folders import Folder
from penstock.pipeline.file_cuts import FilesShare
from penstock.pipeline.reading_choice import JOB_BYTES, begun_reading, chosen_way, wanted_way

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.pipeline.reading import Way

STREAM = StreamDefinition(
    "s", Schema((Field("ts", BIGINT),)), "ts", TimeUnit.TICK, format="parquet"
)


@pytest.mark.parametrize(
    ("cost", "tasks", "is_local", "way"),
    [
        (1, 1, True, "whole"),
        (1, 2, True, "divided"),
        (1, 2, False, "whole"),
        (JOB_BYTES + 1, 2, False, "job"),
        (JOB_BYTES + 1, 1, False, "whole"),
    ],
)
def test_the_way_that_takes_least(cost: int, tasks: int, is_local: bool, way: Way) -> None:
    found, why = chosen_way(cost, tasks, is_local=is_local)
    assert found == way
    assert why


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ("auto", "divided, each by one task, as all run on this machine and find what others read"),
        ("WHOLE", 'whole, as spark.penstock.reading is "whole"'),
        ("job", 'job, as spark.penstock.reading is "job"'),
    ],
)
def test_a_setting_is_stronger(tmp_path: Path, wanted: str, shown: str) -> None:
    files = {"s": FilesShare(Folder("s", tmp_path), ("a.parquet", "b.parquet"))}
    reading, why = begun_reading(
        1, files, {"s": STREAM}, 2, is_local=True, wanted=wanted_way(wanted)
    )
    assert why == shown
    assert [name for one in reading.pieces for name in one.names] == ["a.parquet", "b.parquet"]


def test_a_setting_that_means_nothing_is_refused() -> None:
    with pytest.raises(QueryError, match=r'spark\.penstock\.reading is "hole"') as refused:
        wanted_way("hole")
    assert refused.value.hint == 'Did you mean "whole"?'
    with pytest.raises(QueryError) as refused:
        wanted_way("by magic")
    assert refused.value.hint == "One of auto, whole, divided, job."

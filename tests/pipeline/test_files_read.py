"""What is known of files that have been read is what records and segments say."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.pipeline.files_read import MOST_RECENT, KnownFiles
from penstock.store.layout import Home
from penstock.store.records import FilesRead

MOST_SEGMENTS = 8


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 3 * MOST_RECENT), max_size=20))
def test_files_are_known_again_after_a_restart(batches: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        home.open()
        known = KnownFiles(home, FilesRead())
        number = 0
        for record, count in enumerate(batches):
            names = [f"{number + one}.parquet" for one in range(count)]
            assert not any(name in known for name in names)
            read = known.after(record, names)
            # A record that could not be published leaves nothing behind.
            assert known.after(record, names).recent == read.recent
            known.note(read, names)
            number += count
            assert len(read.recent) <= MOST_RECENT
            assert len(read.listed) <= MOST_SEGMENTS
        again = KnownFiles(home, known.read)
        assert again.read.count == number
        assert all(f"{one}.parquet" in again for one in range(number))
        home.close()


def test_removed_files_are_forgotten(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.open()
    known = KnownFiles(home, FilesRead())
    known.note(known.after(1, ["a", "b"]), ["a", "b"])
    known.forget(["a"])
    assert "a" not in known
    assert known.after(2, ["c"]) == FilesRead((), ("b", "c"), 3)
    home.close()

"""A disk that is full or read-only is told with the folder, and what to do."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.errors import DataError
from penstock.store.bundles import write_bundle
from penstock.store.inserted_rows import bring
from penstock.store.layout import Home
from penstock.store.whole_files import publish, replace_file, writing_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MUCH = pa.table({"n": list(range(100_000))})


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for some files, none of them large."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.mark.parametrize(
    "write",
    [
        lambda disk: publish(disk / "record", b"x" * 100_000),
        lambda disk: replace_file(disk / "record", b"x" * 100_000),
        lambda disk: write_bundle(disk / "bundle", {"much": MUCH}),
        lambda disk: bring(Home(disk), "s", MUCH),
    ],
    ids=["publish", "replace", "bundle", "bring"],
)
def test_a_full_disk_is_told_with_the_folder(
    small_disk: Path, write: Callable[[Path], object]
) -> None:
    with pytest.raises(DataError) as refusal:
        write(small_disk)
    text = refusal.value.message
    assert f"the disk with {small_disk}" in text
    assert "is full (No space left on device): make space there" in text
    # One that is not whole must not be taken for a file.
    assert not (small_disk / "record").exists()


def test_a_read_only_disk_is_told_with_the_folder(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(DataError) as refusal:
        publish(small_disk / "record", b"x")
    said = f"the disk with {small_disk} cannot be written (Read-only file system): mount it"
    assert said in refusal.value.message


def test_a_name_that_was_given_by_a_call_that_failed_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As over NFS, where the server's first answer is lost and the second says: it is there."""
    link = os.link

    def link_twice(source: Path, target: Path) -> None:
        link(source, target)
        link(source, target)

    monkeypatch.setattr(os, "link", link_twice)
    publish(tmp_path / "record", b"x")
    assert (tmp_path / "record").read_bytes() == b"x"
    with pytest.raises(FileExistsError):
        publish(tmp_path / "record", b"y")
    assert [one.name for one in tmp_path.iterdir()] == ["record"]


def test_other_faults_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), writing_to(tmp_path):
        (tmp_path / "gone" / "file").write_text("")


def test_a_file_takes_the_place_of_another(tmp_path: Path) -> None:
    replace_file(tmp_path / "file", b"one")
    replace_file(tmp_path / "file", b"two")
    assert (tmp_path / "file").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

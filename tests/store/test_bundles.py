"""Bundles give back what was written, or say that they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.errors import DataError
from penstock.store.bundles import Bundle, bundle_writer, write_bundle

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = pa.table({"n": [1, 2, None], "text": ["a", None, "ü" * 1000]})
NOTHING = pa.table({"n": pa.array([], pa.int64())})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "some.bundle"
    write_bundle(found, {"numbers": NUMBERS, "nothing": NOTHING}, {"clock": 7}, durable=True)
    return found


def test_tables_and_words_come_back(path: Path) -> None:
    bundle = Bundle(path)
    assert bundle.names == ["numbers", "nothing"]
    assert bundle.about == {"clock": 7}
    assert bundle.table("numbers").equals(NUMBERS)
    assert bundle.table("nothing").equals(NOTHING)


def test_a_part_may_come_batch_by_batch(tmp_path: Path) -> None:
    with bundle_writer(tmp_path / "b") as writer:
        assert writer.add("parts", NUMBERS.schema, NUMBERS.to_batches() * 3) == 9
    assert Bundle(tmp_path / "b").table("parts").equals(pa.concat_tables([NUMBERS] * 3))


def is_noticed(path: Path) -> bool:
    """Whether a bundle is refused; if not, it must be what was written."""
    try:
        bundle = Bundle(path)
        found = [bundle.table(name) for name in ("numbers", "nothing")]
    except DataError:
        return True
    assert found[0].equals(NUMBERS)
    assert found[1].equals(NOTHING)
    return False


def test_no_changed_byte_goes_unnoticed(path: Path) -> None:
    content = path.read_bytes()
    unnoticed = 0
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        unnoticed += not is_noticed(path)
    # Only what fills up between two parts may change.
    assert unnoticed < 64 / 7


@pytest.mark.parametrize("kept", [0, 5, 100, -1, -9])
def test_a_torn_file_is_refused_by_name(path: Path, kept: int) -> None:
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match=r"some\.bundle cannot be read"):
        Bundle(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="gone cannot be read"):
        Bundle(tmp_path / "gone")

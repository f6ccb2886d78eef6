"""Bundles: several Arrow tables and a few words about them, in one immutable file.

The tables follow each other as Arrow streams; the last bytes say where each begins, and its check
sum. A bundle is read through a memory map: what is not looked at is not read.
"""

from __future__ import annotations

import json
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.errors import DataError
from penstock.store.whole_files import sync_file, writing_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_MAGIC = b"PENSTOCK"
_ALIGNMENT = 64
# Threads would take the cores of other lanes.
_PACKED = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_PLAIN = pa.ipc.IpcWriteOptions()


class BundleWriter:
    """Writes a bundle part by part; `bundle_writer` makes one."""

    def __init__(
        self, path: Path, file: pa.NativeFile, about: Mapping[str, Any], *, packed: bool
    ) -> None:
        self._path = path
        self._options = _PACKED if packed else _PLAIN
        self._file = file
        self.about = dict(about)
        self._parts: dict[str, tuple[int, int]] = {}

    def add(self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
        """Append a table, batch by batch; how many rows it has."""
        self._file.write(b"\0" * (-self._file.tell() % _ALIGNMENT))
        start = self._file.tell()
        rows = 0
        with pa.ipc.new_stream(self._file, schema, options=self._options) as writer:
            for batch in batches:
                writer.write_batch(batch)
                rows += batch.num_rows
        self._parts[name] = (start, self._file.tell() - start)
        return rows

    def add_table(self, name: str, table: pa.Table) -> None:
        """Append a table."""
        self.add(name, table.schema, table.to_batches())

    def close(self) -> None:
        """Write what the parts are."""
        with pa.memory_map(str(self._path), "r") as written:
            parts = {
                name: (start, length, _check_sum(written, start, length))
                for name, (start, length) in self._parts.items()
            }
        end = json.dumps({"about": self.about, "parts": parts}).encode()
        self._file.write(end)
        tail = len(end).to_bytes(8, "little") + zlib.crc32(end).to_bytes(4, "little")
        self._file.write(tail + _MAGIC)


@contextmanager
def bundle_writer(
    path: Path, about: Mapping[str, Any] | None = None, *, packed: bool = False
) -> Iterator[BundleWriter]:
    """Write a bundle; without its last bytes it is no bundle, so a torn one is noticed.

    A packed one is smaller; of one that is not, readers see the file itself, not a copy.

    Raises:
        DataError: The disk is full.
    """
    with writing_to(path.parent), pa.OSFile(str(path), "wb") as file:
        writer = BundleWriter(path, file, about or {}, packed=packed)
        yield writer
        writer.close()


def write_bundle(
    path: Path,
    tables: Mapping[str, pa.Table],
    about: Mapping[str, Any] | None = None,
    *,
    durable: bool = False,
) -> None:
    """Write a bundle of tables; a durable one is packed, and on disk when this returns."""
    # What is to stay waits for the disk, which takes longer than packing.
    with bundle_writer(path, about, packed=durable) as writer:
        for name, table in tables.items():
            writer.add_table(name, table)
    if durable:
        sync_file(path)


def _check_sum(file: pa.MemoryMappedFile, start: int, length: int) -> int:
    file.seek(start)
    return zlib.crc32(file.read_buffer(length))


class Bundle:
    """A bundle that is being read.

    Raises:
        DataError: The file is missing, torn, or no bundle.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._map = pa.memory_map(str(path), "r")
            end = self._end()
            self._map.seek(0)
            self._whole = self._map.read_buffer(self._map.size())
        except (OSError, ValueError, pa.ArrowException) as fault:
            msg = f"{path} cannot be read: {fault}"
            hint = "It is part of the state of a pipeline. Restore the folder from a backup."
            raise DataError(msg, hint=hint) from fault
        self.about: dict[str, Any] = end["about"]
        self._parts: dict[str, tuple[int, int, int]] = end["parts"]

    @property
    def names(self) -> list[str]:
        """The names of the tables."""
        return list(self._parts)

    def table(self, name: str) -> pa.Table:
        """A table; its columns point into the file, unless it is packed.

        Raises:
            DataError: The file is not what was written.
        """
        start, length, wanted = self._parts[name]
        # Not by a position in the file: several threads may read it.
        part = self._whole.slice(start, length)
        if zlib.crc32(part) != wanted:
            msg = f'{self.path} is damaged: its part "{name}" is not what was written'
            raise DataError(msg, hint="Restore the folder from a backup.")
        return pa.ipc.open_stream(part).read_all()

    def _end(self) -> dict[str, Any]:
        size = self._map.size()
        tail = len(_MAGIC) + 12
        if size < tail:
            msg = "it is cut off"
            raise ValueError(msg)
        self._map.seek(size - tail)
        last = self._map.read(tail)
        if last[12:] != _MAGIC:
            msg = "it is cut off, or no bundle"
            raise ValueError(msg)
        length = int.from_bytes(last[:8], "little")
        self._map.seek(size - tail - length)
        end = self._map.read(length)
        if zlib.crc32(end) != int.from_bytes(last[8:12], "little"):
            msg = "its end is not what was written"
            raise ValueError(msg)
        found: dict[str, Any] = json.loads(end)
        return found

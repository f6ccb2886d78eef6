"""A saved connection on disk: a folder of Arrow files, and a page that says what they are."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VERSION = 4
"""Of the layout of the folder and of what is in it."""
PAGE = "connection.json"


def write_folder(path: Path, about: Mapping[str, object], tables: Mapping[str, pa.Table]) -> None:
    """Write a folder, in place of what was saved there before; whole, or not at all.

    Raises:
        DataError: There is something else at the path.
    """
    if path.exists() and not (path / PAGE).is_file():
        msg = f"{path} exists, and is no saved connection"
        raise DataError(msg, hint="Choose a folder that does not exist yet.")
    draft = path.with_name(f".{path.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    for number, table in enumerate(tables.values()):
        with pa.ipc.new_file(str(draft / f"{number}.arrow"), table.schema) as writer:
            writer.write_table(table)
    page = {"version": VERSION, **about, "tables": list(tables)}
    (draft / PAGE).write_text(json.dumps(page, indent=1), "utf-8")
    shutil.rmtree(path, ignore_errors=True)
    draft.rename(path)


def read_folder(path: Path) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """The content of a saved folder: the page, and the tables by name.

    Raises:
        DataError: There is no saved connection, or another version saved it.
    """
    if not (path / PAGE).is_file():
        msg = f"there is no saved connection at {path}"
        raise DataError(msg, hint="db.save(path) writes one.")
    page = json.loads((path / PAGE).read_text("utf-8"))
    if page.get("version") != VERSION:
        msg = f"{path} was saved by another version of Penstock"
        raise DataError(msg, hint="Run the statements again, and feed the rows again.")
    tables = {}
    for number, name in enumerate(page["tables"]):
        # Copied out of the file, so that the folder can be written anew while the state is used.
        with pa.OSFile(str(path / f"{number}.arrow"), "rb") as file:
            tables[name] = pa.ipc.open_file(file).read_all()
    return page, tables

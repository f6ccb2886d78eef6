"""Checks of a script that can be made before anything runs: sources, sinks, and the home."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from penstock.connectors.connector_list import CONNECTORS, source_format
from penstock.connectors.folder_sink import require_writable
from penstock.connectors.generate import is_generated
from penstock.connectors.generate_options import generate_options
from penstock.files.folders import declared_folder, is_folder, local_path, missing_path
from penstock.store.layout import Home

if TYPE_CHECKING:
    from penstock.catalog.definitions import RelationDefinition, SinkDefinition, StreamDefinition
    from penstock.spark.script import Script

SOME_FILES = 20
"""Of so many files of a source it is seen whether they have the declared columns."""


def check_sources(script: Script) -> None:
    """See that the sources of a script are there, and have the columns that are declared.

    Raises:
        DataError: One is not as declared.
        QueryError: The options of one that is generated have no meaning.
    """
    for one in script.sources():
        check_source(one)


def check_source(source: StreamDefinition | RelationDefinition) -> None:
    """See that a source is there, and that its first files have the declared columns.

    Raises:
        DataError: It is not so.
    """
    if is_generated(source):
        generate_options(source)
        return
    known, name = source_format(source.format), f'{source.kind} "{source.name}"'
    if not is_folder(source):
        path = local_path(source.options.get("path", "*")) if known.is_files else None
        if path is not None and not path.exists():
            raise missing_path(name, path)
        return
    folder = declared_folder(source) if source.format else None
    if folder is None or known.check is None:
        return
    for file in folder.new_files(())[:SOME_FILES]:
        known.check(name, folder.path_of(file.name), source.schema, source.options)


def check_sinks(script: Script) -> None:
    """See that new sinks can write where they are to write.

    Raises:
        DataError: A folder has files of others, or cannot be written.
    """
    for one in script.new_sinks:
        check_sink(one)


def check_sink(sink: SinkDefinition) -> None:
    """See that a new sink can write where it is to write.

    Raises:
        DataError: Its folder has files of others, or cannot be written.
    """
    found = CONNECTORS[sink.format.lower()].sink if sink.format.lower() in CONNECTORS else None
    if found is not None and found.written == "files":
        require_writable(Path(sink.options["path"]))


def check_home(home: Path | None) -> None:
    """See that nobody else uses a home, and that it can be written.

    Raises:
        DataError: It is in use, or cannot be written.
    """
    if home is None:
        return
    if home.exists():
        folder = Home(home)
        folder.open()
        folder.close()
    else:
        require_writable(home)

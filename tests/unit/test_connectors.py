"""Every connector: in the list, with a file of its own or of its family, and what it says fits."""

from __future__ import annotations

import importlib
import pkgutil

from penstock import connectors
from penstock.connectors.connector import Connector, SourceFormat
from penstock.connectors.connector_list import CONNECTORS, SINKS, SOURCES, source_format


def test_the_list_has_every_connector() -> None:
    found = {}
    for module in pkgutil.iter_modules(connectors.__path__, f"{connectors.__name__}."):
        for one in vars(importlib.import_module(module.name)).values():
            if isinstance(one, Connector):
                found[one.name] = one
    assert found == CONNECTORS


def test_a_connector_reads_or_writes() -> None:
    assert {*SOURCES, *SINKS} == {*CONNECTORS}


def test_sinks_that_write_files_can() -> None:
    for one in CONNECTORS.values():
        if one.sink is not None:
            assert (one.sink.written == "files") == (one.sink.write is not None)
            assert (one.sink.written == "spark") == bool(one.sink.package)
            assert one.sink.options is None or {*one.sink.needed} <= one.sink.options


def test_of_formats_that_were_allowed_nothing_is_known() -> None:
    assert source_format("jdbc") == SourceFormat()

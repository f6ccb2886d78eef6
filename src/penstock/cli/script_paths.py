"""Paths in a script: they are seen from the folder that the script is in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from penstock.cql import syntax
from penstock.cql.dialect import parse_script
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from collections.abc import Iterator


def with_whole_paths(text: str, folder: Path) -> str:
    """Statements in which the paths of sources and sinks are whole ones.

    What is no script stays as it is: whoever runs it says why.

    >>> with_whole_paths("CREATE SINK s FROM q USING csv OPTIONS (path 'out')", Path("/data"))
    "CREATE SINK s FROM q USING csv OPTIONS (path '/data/out')"
    """
    try:
        statements = parse_script(text)
    except PenstockError:
        return text
    for path in reversed([path for one in statements for path in _relative_paths(one)]):
        whole = str(folder / path.text).replace("'", "''")
        text = f"{text[: path.span.start]}'{whole}'{text[path.span.end :]}"
    return text


def _relative_paths(statement: syntax.Statement) -> Iterator[syntax.Name]:
    if isinstance(statement, syntax.CreateSource | syntax.CreateSink):
        for key, value in statement.options.items():
            is_elsewhere = urlsplit(value.text).scheme or Path(value.text).is_absolute()
            if key.lower() == "path" and not is_elsewhere:
                yield value

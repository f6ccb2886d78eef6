"""The options of the data source `penstock`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import QueryError, did_you_mean
from penstock.spark.published_query import PublishedQuery
from penstock.store.layout import Home

if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS = ("home", "query", "at", "results", "since", "end_of_input", "partitions")
CHOICES = {
    "results": ("content", "changes"),
    "since": ("beginning", "now"),
    "end_of_input": ("false", "true"),
}
"""The values of options that have few; the first of them holds unless another one is given."""


@dataclass(frozen=True)
class SourceOptions:
    """The options of one reading.

    Attributes:
        home: The folder of the pipeline.
        query: The query.
        at: The instant whose content is read; None: the last that is final.
        results: Of a batch, `content` or all the `changes` that are kept.
        since: Of a stream, where it begins: with all that is kept, or with what comes next.
        to_the_end: Whether a stream also takes the results of the end of the input.
        partitions: Into how many shares of the rows a reading is divided.
    """

    home: str
    query: str
    at: str | None
    results: str
    since: str
    to_the_end: bool
    partitions: int

    @staticmethod
    def of(given: Mapping[str, str]) -> SourceOptions:
        """The options of a reading.

        Raises:
            QueryError: One is missing, is none, or has a value without meaning.
        """
        known = {key.lower(): value for key, value in given.items()}
        if "path" in known:
            known.setdefault("home", known.pop("path"))
        for key in known:
            if key not in OPTIONS:
                msg = f'the format penstock has no option "{key}"'
                hint = did_you_mean(key, OPTIONS, otherwise=f"Options: {', '.join(OPTIONS)}.")
                raise QueryError(msg, hint=hint)
        for key in ("home", "query"):
            if key not in known:
                msg = f"the format penstock needs to know the {key}"
                raise QueryError(msg, hint=f'Add .option("{key}", "...").')
        chosen = {key: _chosen(key, known.get(key, one[0])) for key, one in CHOICES.items()}
        return SourceOptions(
            known["home"],
            known["query"],
            known.get("at"),
            chosen["results"],
            chosen["since"],
            chosen["end_of_input"] == "true",
            _partitions(known.get("partitions", "1")),
        )

    def opened(self) -> PublishedQuery:
        """The query, as it runs now.

        Raises:
            DataError: There is no home.
            QueryError: The query does not run in it.
        """
        return PublishedQuery(Home(Path(self.home.removeprefix("file://"))), self.query)


def _chosen(key: str, value: str) -> str:
    known = CHOICES[key]
    if value.lower() not in known:
        msg = f'{key} is "{value}": there is no such {key}'
        hint = did_you_mean(value, known, otherwise=f"One of {', '.join(known)}.")
        raise QueryError(msg, hint=hint)
    return value.lower()


def _partitions(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 10_000):
        msg = f'partitions is "{text}", not a number from 1 to 10000'
        raise QueryError(msg)
    return int(text)

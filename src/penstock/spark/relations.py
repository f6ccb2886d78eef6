"""The relations of a pipeline as they are: a row that is not there cannot leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connection.relation_content import RelationContent
from penstock.lane_host.logs import CHANGES
from penstock.operators.block import from_table
from penstock.store.bundles import Bundle
from penstock.store.records import RelationProgress

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.catalog.definitions import RelationDefinition
    from penstock.pipeline.ledger import Ledger


class Relations:
    """The content of relations, made from the changes that a home has written down."""

    def __init__(self) -> None:
        # With the files that each is made of, so that a change by others is noticed.
        self._known: dict[str, tuple[tuple[str, ...], RelationContent]] = {}

    def update(self, ledger: Ledger, relation: RelationDefinition, table: pa.Table) -> None:
        """Write down changes of a relation.

        Raises:
            DataError: Values are at fault, or a row would leave that is not there.
        """
        progress = ledger.record.relations.get(relation.name, RelationProgress())
        content = self._content(ledger, relation, progress)
        content.take_in(ledger.dated(relation, table), ledger.passed)
        # If this fails, the content is made anew: its files are not those of the record.
        del self._known[relation.name]
        ledger.change_relation(relation.name, table)
        files = ledger.record.relations[relation.name].changes
        self._known[relation.name] = (files, content)

    def _content(
        self, ledger: Ledger, relation: RelationDefinition, progress: RelationProgress
    ) -> RelationContent:
        files, content = self._known.get(relation.name, (None, None))
        if content is None or files != progress.changes or content.schema != relation.schema:
            content = RelationContent(relation.name, relation.schema)
            for file in progress.changes:
                block = from_table(Bundle(ledger.home.segments / file).table(CHANGES))
                content.take_in(block, ledger.passed)
            self._known[relation.name] = (progress.changes, content)
        return content

"""Kafka: topics, whose rows have a partition and an offset."""

from __future__ import annotations

from penstock.connectors.connector import Connector, SinkFormat, SourceFormat

KAFKA = Connector(
    "kafka",
    SourceFormat(place="offset"),
    SinkFormat(
        "spark",
        ("kafka.bootstrap.servers", "topic"),
        None,
        package="org.apache.spark:spark-sql-kafka-0-10",
        as_messages=True,
    ),
)

"""Penstock: continuous queries over data streams, on Apache Spark."""

__version__ = "0.1.0"

"""Names that queries may use: streams, relations, views, queries, sinks, settings, functions."""

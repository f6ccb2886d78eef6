"""What a query may name: streams, relations, views, queries, sinks, settings, functions."""

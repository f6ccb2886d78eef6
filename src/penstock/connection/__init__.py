"""The connection: statements and rows in, answers out, over any engine."""

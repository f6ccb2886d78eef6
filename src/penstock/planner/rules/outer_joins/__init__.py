"""Rules for outer joins, which are kept in one piece."""

"""Joins of two inputs: pairs, outer joins, anti-joins, reads of relations on arrival."""

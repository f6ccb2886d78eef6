"""Operators on copies of rows: DISTINCT and set operations."""

"""Rewrite rules: other plans with the same snapshots, hoped to be cheaper."""

"""Connectors: a file for each format that streams come from and results go to, and their list."""

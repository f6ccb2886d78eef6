"""Joins of many inputs in one operator."""

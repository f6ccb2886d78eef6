"""Incremental aggregates: `accumulator_for` makes the one that computes a call."""

"""Aggregation: groups, their members, partial forms; accumulators compute the calls."""

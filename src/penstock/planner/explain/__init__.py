"""EXPLAIN: what a plan means, how it runs, and by which rules."""

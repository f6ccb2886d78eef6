"""The logical algebra: what a query means, as an immutable tree of operators."""

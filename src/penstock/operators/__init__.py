"""Block operators: the ones that compute, incrementally, and own their state."""

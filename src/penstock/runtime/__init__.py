"""The runtime: the lane, an operator graph with a clock."""

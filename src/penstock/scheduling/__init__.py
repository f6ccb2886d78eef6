"""The order of work: which operator runs next, and what that costs in memory and latency.

Pure: it knows numbers of operators, charts and marks of blocks, and nothing of rows or lanes.
"""

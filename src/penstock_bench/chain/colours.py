"""The colour of each scheduler in pictures."""

from __future__ import annotations

COLOURS = {
    "fifo": "tab:blue",
    "round_robin": "tab:orange",
    "greedy": "tab:green",
    "mixed": "tab:purple",
    "chain_flush": "tab:brown",
    "chain": "tab:red",
    "exact": "black",
}

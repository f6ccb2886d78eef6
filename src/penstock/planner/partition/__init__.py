"""Partitioning: keys that divide a plan among lanes, fragments and phases where there is none."""

"""Benchmarks, run by `./penstock bench NAME`: how fast, how flat, how much memory.

They measure and never judge: no test asserts a time. What they compute is compared with what
DuckDB and Polars compute over the same rows.
"""

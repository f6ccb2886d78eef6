"""Expressions computed for whole blocks: pyarrow.compute and NumPy, Python on distinct values."""

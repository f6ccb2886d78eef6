"""Window transactions: reads of a window, sub-window by sub-window, while it slides."""

"""Rules that bring filters down to where few rows are."""

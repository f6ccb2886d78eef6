"""Rules for copies of rows: DISTINCT where it is needed, as early as it pays."""

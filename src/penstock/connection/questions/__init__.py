"""Questions: queries that are asked once, of the rows that streams retain."""

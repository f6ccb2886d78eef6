"""Stage 1: CQL text to syntax tree, with a place for every word."""

"""Less input when lanes have too much to do: fewer rows at once, and rows that are left out."""

"""Rules for the order of joins."""

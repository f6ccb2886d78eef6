"""Stores of rows for operators: rows by slot, indexes by key, queues by expiry."""

"""Where operators keep rows: stores, indexes by key, and queues by expiry."""

"""Statistics: facts about rows that were measured or assumed, and the names they are found by."""

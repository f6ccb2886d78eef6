"""Results on their way out: EMIT FINAL, RSTREAM, order and limit, RESTORE, cuts of intervals."""

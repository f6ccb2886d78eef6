"""Windows: they give rows their intervals; numbers and attachments of rows that need them."""

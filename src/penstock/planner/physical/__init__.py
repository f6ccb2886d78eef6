"""Physical plans: the block operators that run a logical plan, chosen by patterns and costs."""

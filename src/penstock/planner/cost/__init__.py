"""Costs: rows and state that a plan is estimated to have, the time it takes, orders of joins."""
